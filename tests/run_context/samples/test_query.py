"""Filters, order, groups and notable samples; samples as text are safe."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.sample_layouts.sample import Message, Sample, SampleHead, head_of
from rltui.run_context.samples.sample_query import (
    FilterError,
    groups_of,
    notable,
    parse_filter,
    sorted_heads,
    widest_groups,
)
from rltui.run_context.samples.sample_text import as_json, as_markdown, as_text, differences
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows


def head(
    number: int, reward: float | None, length: int = 10, stop: str = "stop", group: str | None = None
) -> SampleHead:
    """A head with these facts."""
    sample = Sample(step=1, prompt="p", response="r", reward=reward, length=length, stop=stop, group=group)
    return head_of(sample, 0, number, 1, 0)


HEADS = [
    head(0, 1.0, 10, group="a"),
    head(1, 0.0, 99, "length", group="a"),
    head(2, 0.5, 12, group="b"),
    head(3, None),
]


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("reward>0.4", [0, 2]),
        ("reward<=0.5 length<50", [2]),
        ("stop=length", [1]),
        ("-stop=length", [0, 2, 3]),
        ("group:a", [0, 1]),
        ("group!=a", [2]),
    ],
)
def test_terms_about_numbers(expression: str, kept: list[int]) -> None:
    """A sample without the value is left out by a comparison."""
    assert [each.offset for each in HEADS if parse_filter(expression).keeps_head(each)] == kept


@pytest.mark.parametrize(
    ("expression", "kept"),
    [("cat", True), ('"a cat"', True), ("/c.t$/", True), ("-dog", True), ("dog", False), ("-/cat/", False)],
)
def test_terms_about_text(expression: str, kept: bool) -> None:
    """Words, exact texts and regular expressions, and what is not there."""
    assert parse_filter(expression).keeps_text(Sample(step=1, response="it is a cat")) is kept


@pytest.mark.parametrize("expression", ["reward>much", "colour=red", "/(/"])
def test_a_faulty_filter_says_why(expression: str) -> None:
    """One line, no traceback."""
    with pytest.raises(FilterError):
        parse_filter(expression)


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_an_error(text: str) -> None:
    """Nothing else is raised."""
    with contextlib.suppress(FilterError):
        parse_filter(text)


def test_order_groups_and_notable_samples() -> None:
    """Samples without a value come last; the group that differs most first; extremes are found."""
    assert [each.offset for each in sorted_heads(HEADS, "reward", reverse=True)] == [0, 2, 1, 3]
    assert len(groups_of(HEADS)) == 3
    assert [each.offset for each in widest_groups(HEADS)[0]] == [0, 1]
    found = {word: each.offset for word, each in notable(HEADS).items()}
    assert found == {"best": 0, "worst": 1, "longest": 1, "truncated": 1, "typical": 2}


HOSTILE = "\x1b]52;c;aGk=\x07 \u202eevil\u200b ``` [link](http://x) \x9b2J"


@pytest.mark.parametrize("form", [as_text, as_markdown])
def test_texts_of_samples_are_cleaned(form: object) -> None:
    """No escape, bidirectional or zero-width character of a rollout reaches the terminal."""
    sample = Sample(
        step=1, messages=(Message(HOSTILE, HOSTILE),), stop=HOSTILE, metadata={HOSTILE: HOSTILE}, note=HOSTILE
    )
    text = form(sample)
    assert not set(text) & set("\x1b\x07\u202e\u200b\x9b")
    assert "\\x1b" in text


def test_differences_are_by_line() -> None:
    """What both answers say has a blank before it."""
    one, other = Sample(step=1, response="a\nb"), Sample(step=1, response="a\nc")
    assert differences(one, other) == ["  a", "- b", "+ c"]


def test_json_keeps_the_text_as_written() -> None:
    """Programs get every character; JSON's escapes make it safe."""
    assert as_json("r", Sample(step=1, response=HOSTILE))["response"] == HOSTILE


def test_the_command_prints_and_picks(tmp_path: Path) -> None:
    """Sorting, filters, formats, limits and the nearest step."""
    folder = tmp_path / "rollouts"
    folder.mkdir()
    for step in (1, 5):
        rows = [{"input": "2+2?", "output": f"answer {k}", "score": k / 10} for k in range(4)]
        write_rows(folder / f"{step}.jsonl", rows)
    done = rltui(
        "samples",
        tmp_path,
        "--step",
        "last",
        "--sort",
        "reward",
        "--reverse",
        "--limit",
        2,
        "--format",
        "jsonl",
    )
    assert done.code == 0 and [(row["step"], row["reward"]) for row in done.lines()] == [(5, 0.3), (5, 0.2)]
    done = rltui("samples", tmp_path, "--step", 2, "--filter", "/answer 3/", "--format", "markdown")
    assert "### " in done.out and "answer 3" in done.out and "nearest" in done.err
    assert rltui("samples", tmp_path, "--filter", "colour=red").code == 2
    steps = [row["step"] for row in rltui("samples", tmp_path, "--format", "jsonl").lines()]
    assert steps == [5] * 4 + [1] * 4
    named = rltui("samples", tmp_path / "rollouts" / "5.jsonl")
    assert (named.code, "step 5" in named.out) == (0, True)
    assert rltui("samples", folder.parent, "--run", "nothing").code == 2


def test_files_of_no_known_layout_are_found_by_their_name_and_first_record(tmp_path: Path) -> None:
    """Rows with an answer and a reward; a file of metrics that is called alike is none."""
    rows = [{"step": step, "prompt": "2+2?", "completion": f"it is {step}", "reward": 1.0} for step in (3, 7)]
    for name, records in (
        ("eval_generations.jsonl", rows),
        ("rollout_metrics.jsonl", [{"step": 1, "loss": 2.0}]),
    ):
        write_rows(tmp_path / name, records)
    found = rltui("samples", tmp_path, "--format", "jsonl").lines()
    assert [(each["step"], each["split"], each["response"]) for each in found] == [
        (7, "eval", "it is 7"),
        (3, "eval", "it is 3"),
    ]
