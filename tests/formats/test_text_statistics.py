"""What rltui computes of the texts of samples: known answers, bounds, and the way to a finding."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.records.sample_statistics import SampledStep
from rltui.logs.records.text_statistics import (
    CLIP,
    SELECTED,
    ResponseTexts,
    other_script,
    refuses,
    repetition,
    unclosed,
)
from tests.support.commands.in_process import rltui

_SENTENCE = "the sum of two odd numbers is even because each leaves one when it is halved so that both pair"
WORDS = _SENTENCE.split()


def statistics(answers: list[tuple[str, str]]) -> dict[str, float]:
    """Of prompts and answers."""
    texts = ResponseTexts()
    for prompt, answer in answers:
        texts.add(prompt, answer)
    return dict(texts.statistics())


def test_repetition_is_the_share_of_repeated_four_grams() -> None:
    """Nothing repeats in plain text, all but four in one word said over and over; short texts say nothing."""
    assert repetition(" ".join(WORDS)) == 0
    assert repetition("again " * 103) == pytest.approx(0.99)
    assert repetition("again " * 10) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I’m sorry, but no.", True),
        ("<think>how rude</think>\nI cannot assist with this.", True),
        ("We cannot divide by zero, so x = 3.", False),
        ("Since I cannot use induction here, try cases.", False),
        ("", False),
    ],
)
def test_a_refusal_is_known_by_its_beginning(text: str, wanted: bool) -> None:
    """Not by words in the middle of an answer."""
    assert refuses(text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<think>a</think><answer>3</answer>", False),
        ("a</think><answer>3</answer>", False),  # the prompt opened it
        ("<think>a", True),
        ("```python\nx = 1", True),
        ("```python\nx = 1\n```", False),
        ("a < b > c", False),
    ],
)
def test_what_is_opened_is_to_be_closed(text: str, wanted: bool) -> None:
    """Tags of templates, and blocks of code."""
    assert unclosed(text) is wanted


@pytest.mark.parametrize(
    ("answer", "prompt", "wanted"),
    [
        ("The answer is 4", "What is 2 + 2?", False),
        ("答案是四", "What is 2 + 2?", True),
        ("答案是四", "二加二等于几", False),
        ("Let α be the angle", "What is the angle?", False),
        ("Ответ: 4 is right as one can see in a long English sentence that goes on", "What?", False),
        ("答案是四", "", None),
        ("42", "What?", None),
    ],
)
def test_another_script_is_one_that_the_prompt_has_none_of(
    answer: str, prompt: str, wanted: bool | None
) -> None:
    """A tenth of the letters at least; formulas and single words are no change of language."""
    assert other_script(answer, prompt) is wanted


def test_empty_and_identical_answers_are_counted_over_all() -> None:
    """Identical to another answer of the same prompt; the same answer to another prompt is another answer."""
    found = statistics([("p", "a"), ("p", "a"), ("p", "b"), ("q", "a"), ("q", " "), ("q", "")])
    assert found["responses/count"] == 6
    assert found["responses/empty_pct"] == pytest.approx(100 / 3)
    assert found["responses/identical_pct"] == 25


@given(
    st.lists(
        st.tuples(st.sampled_from("pq"), st.sampled_from(["a", "b", "I cannot", "```", "答", ""])),
        max_size=90,
    ),
    st.randoms(),
)
def test_the_order_of_answers_makes_no_difference(
    answers: list[tuple[str, str]], shuffle: random.Random
) -> None:
    """The selection goes by content, also where it is smaller than what there is."""
    mixed = list(answers)
    shuffle.shuffle(mixed)
    assert statistics(mixed) == pytest.approx(statistics(answers))


def test_texts_are_read_of_a_bounded_selection() -> None:
    """So many answers, so many characters of each; the numbers say of how many."""
    texts = ResponseTexts()
    for number in range(500):
        texts.add("p", f"{number} " * 10_000)
    found = dict(texts.statistics())
    assert (found["responses/selected"], found["responses/count"]) == (SELECTED, 500)
    assert sum(len(answer) for _, _, _, answer in texts._selected) <= SELECTED * (2 * CLIP + 200)


def test_a_tag_left_open_in_the_middle_of_a_long_text_is_noticed() -> None:
    """The middle is not kept, but what it leaves open is."""
    filler = "word " * 5_000
    assert statistics([("p", f"{filler}<think>{filler}")])["responses/unclosed_pct"] == 100
    assert statistics([("p", f"<think>{filler}</think>{filler}")])["responses/unclosed_pct"] == 0
    assert statistics([("p", f"<think>{filler}")])["responses/unclosed_pct"] == 100


def test_the_correlation_of_reward_and_length_needs_samples_that_vary() -> None:
    """16 samples at least; none for a constant."""
    step, few, same = SampledStep(), SampledStep(), SampledStep()
    for number in range(20):
        step.add({"reward": 0.1 * number, "length": 10 * number + number % 3})
        same.add({"reward": 1.0, "length": number})
    for number in range(10):
        few.add({"reward": number, "length": number})
    assert dict(step.aggregates())["responses/reward_length_correlation"] > 0.99
    assert "responses/reward_length_correlation" not in dict(few.aggregates())
    assert "responses/reward_length_correlation" not in dict(same.aggregates())


def test_a_policy_that_repeats_itself_is_told_by_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From dumped texts alone, with the step; plain answers are no finding."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    random.seed(5)
    for name, onset in (("sick", 31), ("well", 999)):
        folder = tmp_path / "runs" / name / "rollouts"
        folder.mkdir(parents=True)
        for step in range(1, 61):
            lines = []
            for sample in range(16):
                text = " ".join(random.sample(WORDS, len(WORDS)))
                if step >= onset:
                    text += " and so on" * 60
                lines.append(json.dumps({"input": f"question {sample % 4}", "output": text,
                                         "score": random.random(), "step": step}))  # fmt: skip
            (folder / f"{step}.jsonl").write_text("\n".join(lines) + "\n")
    runs = {run["run"]: run for run in rltui("check", tmp_path / "runs", "--json").json()["runs"]}
    (found,) = [each for each in runs["sick"]["findings"] if each["id"] == "responses-repeat"]
    assert 31 <= found["since_step"] <= 34
    assert not [each for each in runs["well"]["findings"] if each["id"].startswith("responses-")]
