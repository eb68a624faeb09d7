"""The samples pane and the reading view by their keys; live reading; hostile text; a stuck file system."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rltui.logs.sample_layouts.sample import Sample
from rltui.panes.render.sample_view import beside_view, sample_view, wrapped
from rltui.run_context.samples.sample_index import SampleIndex
from rltui.screen.input.key_table import Bind, bindings, shown
from rltui.screen.shown_run import tabs
from rltui.screen.state import ChartOverlay, SampleOverlay
from tests.support.commands.in_process import rltui
from tests.support.runs.made_run import believable, finding
from tests.support.screen.rollouts import SECONDS, attach, press, read_and_draw, rollout, write_step
from tests.support.screen.screens import Screen, opened, screen_of

OWN = [(bind, key) for bind in bindings() if bind.where == "samples" for key in bind.keys]


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    """A run with samples at steps 100, 200 and 300."""
    for step in (100, 200, 300):
        write_step(tmp_path / "verl-grpo-a", step)
    run = believable()
    run.found = [finding(since_step=230)]
    return attach(opened(run), tmp_path)


def selected(screen: Screen) -> str:
    """The line of the selected sample."""
    return next((one for one in screen.text().splitlines() if one.startswith("▸")), "")


def sample(screen: Screen) -> SampleOverlay:
    """The sample that is read."""
    top = screen.overlays[-1]
    assert isinstance(top, SampleOverlay)
    return top


CASES: dict[str, tuple[str, Callable[[Screen], bool]]] = {
    "sample-sort": ("T", lambda d: d.state.samples.sort == "reward"),
    "sample-reverse": ("T S", lambda d: "1.000" in selected(d) and d.state.samples.reverse),
    "sample-step-back": ("T", lambda d: "step 200, 2 of 3" in d.text()),
    "sample-step-on": ("T [ [", lambda d: "step 200, 2 of 3" in d.text()),
    "sample-best": ("T down", lambda d: "1.000" in selected(d)),
    "sample-worst": ("T end", lambda d: " 0  " in selected(d)),
    "sample-longest": ("T", lambda d: " 130 " in selected(d)),
    "sample-truncated": ("T", lambda d: " length " in selected(d)),
    "sample-typical": ("T end", lambda d: "typical of 16" in d.message),
    "sample-groups": ("T", lambda d: "with rewards from 0 to 1" in d.message),
    "sample-compare": ("T", lambda d: "+ step 300, reward" in d.text()),
    "sample-fold": ("T enter", lambda d: "The numbers are" in d.text() and "folded" not in d.text()),
    "sample-match-back": ("T enter z / t h e enter", lambda d: sample(d).query == "the"),
}


def test_every_key_of_the_samples_has_a_case() -> None:
    """A binding that is added needs a line here that says what it does."""
    assert {bind.action for bind, _ in OWN} == set(CASES)


@pytest.mark.parametrize(("bind", "key"), OWN, ids=[f"{b.action}-{shown(k)}" for b, k in OWN])
def test_every_key_of_the_samples_does_what_it_says(screen: Screen, bind: Bind, key: str) -> None:
    """Each key has the promised effect in the list or over a sample."""
    before, check = CASES[bind.action]
    press(screen, *before.split(), key)
    assert check(screen)


def test_the_tab_is_there_when_the_run_has_files_of_samples(screen: Screen) -> None:
    """Before files are found, and for a run without, there is no tab."""
    assert "samples" not in [one.id for one in tabs(screen.state)]
    press(screen, "T", "1")
    assert "samples" in [one.id for one in tabs(screen.state)]
    bare = opened(believable())
    assert "samples" not in [one.id for one in tabs(bare.state)]
    bare.press("T")
    # The framework's own option is said, for "when told to" does not say how.
    assert "No samples were found" in read_and_draw(bare) and "trainer.rollout_data_dir" in read_and_draw(
        bare
    )


def test_the_list_shows_rewards_and_answers(screen: Screen) -> None:
    """Columns: reward, length, stop, group, the beginning of the answer; above them the step as a whole."""
    text = press(screen, "T", width=140)
    for word in ("reward", "length", "stop", "group", "The answer is 300."):
        assert word in text
    assert "step 300, 3 of 3 with samples · 16 samples" in text and "4 ended at the limit" in text


def test_parts_of_the_reward_have_columns(tmp_path: Path) -> None:
    """Reward functions are columns of the list, where there is room, and stand among the facts."""
    rows = {"prompt": ["a", "b"], "completion": ["c", "d"], "accuracy": [1.0, 0.0], "brevity": [0.25, 0.5]}
    (tmp_path / "completions.jsonl").write_text(json.dumps({"step": ["3", "3"], **rows}) + "\n")
    run = believable(name=".")
    screen = attach(opened(run), tmp_path)
    text = press(screen, "T")
    assert "accuracy" in text and "brevity" in text and "0.250" in text
    assert "accuracy" not in press(screen, width=40, height=12)
    assert "brevity 0.250" in press(screen, "enter")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("reward<0.5", 8),
        ("stop=length", 4),
        ("stop=length reward>0.5", 2),
        ("/answer is 30[12]/", 4),
        ("know", 8),
    ],
)
def test_filters_of_the_list(screen: Screen, words: str, count: int) -> None:
    """Comparisons, words and regular expressions; the header says how many are left of how many."""
    text = press(screen, "T", "/", *words, "enter")
    assert f"{count} of 16 samples" in text
    screen.press("escape")
    assert "of 16 samples" not in read_and_draw(screen)


def test_the_order_of_the_list_is_said(screen: Screen) -> None:
    """Also by a number without a column; the footer keeps the keys of the pane where there is little room."""
    assert "first" not in press(screen, "T")
    assert "16 samples · last first" in press(screen, "R")
    assert "16 samples · by reward, largest first" in press(screen, "S")
    assert "by reward, smallest first" in press(screen, "R")
    assert "S sort" in read_and_draw(screen, 80, 24)


def test_a_faulty_filter_is_said(screen: Screen) -> None:
    """What is wrong stands above the list; nothing is hidden."""
    assert "no field 'colour'" in press(screen, "T", "/", *"colour=red", "enter")


def test_a_sample_is_read_folded_and_searched(screen: Screen) -> None:
    """Facts, prompt, folded reasoning, answer, metadata; `/` finds, arrows turn, Esc leads back."""
    text = press(screen, "T", "end", "enter")
    assert all(
        word in text for word in ("── prompt ──", "What is 3 + 300?", "folded", "gts: 303", "sample 16 of 16")
    )
    assert "The numbers are" not in text
    text = press(screen, "z", "/", *"NUMBERS", "enter")
    assert "The numbers are 3 and 300" in text and "1 line with NUMBERS" in text
    press(screen, "escape")
    assert "sample 15 of 16" in press(screen, "left")
    press(screen, "escape")
    assert screen.pane == "samples" and not screen.overlays


def test_the_same_prompt_at_other_steps(screen: Screen) -> None:
    """`[` shows the same prompt at the step before side by side; where there is none, that is said."""
    text = press(screen, "T", "enter", "[")
    assert "step 200" in text and "step 300" in text and "│" in text
    assert "step 100" in press(screen, "[")
    press(screen, "[")
    assert "no earlier step has this prompt" in screen.message
    text = press(screen, "escape", "escape", "end", "enter", "[")
    assert "no earlier step has this prompt" in text


def test_from_a_finding_and_from_a_chart_to_samples_and_back(screen: Screen) -> None:
    """The nearest step with samples is shown and said; T leads back, a chart is open again."""
    press(screen, "T", "T")
    text = press(screen, "f", "T")
    assert "step 200 (nearest to 230), 2 of 3" in text
    screen.press("T")
    assert screen.pane == "findings"
    press(screen, "3", "enter", "home")
    text = press(screen, "T")
    assert "step 100 (nearest to" in text and ", 1 of 3 with samples" in text
    screen.press("escape")
    assert screen.pane == "policy" and isinstance(screen.overlays[-1], ChartOverlay)


def test_a_step_from_the_past_has_its_own_samples(screen: Screen) -> None:
    """Shown as of an earlier step, later samples are not the newest ones."""
    screen.state.time.at_step = 250
    assert "step 200, 2 of 3" in press(screen, "T")


def test_hostile_text_is_spelled_out_everywhere(screen: Screen) -> None:
    """No escape, bidirectional or zero-width character of a rollout reaches the terminal."""
    texts = [press(screen, "T", "/", *"group=300-1", "enter", width=200, height=40)]
    texts += [press(screen, key, width=200, height=40) for key in ("enter", "z", "C", "[")]
    for text in texts:
        assert not set(text) & set("\x1b\x07\u202e\u200b\x9b")
    assert "\\x1b]52" in texts[1] and "\\u202eevil\\u200b" in texts[1]


def test_new_samples_appear_by_themselves(screen: Screen, tmp_path: Path) -> None:
    """A step that is written while the pane is shown becomes the newest one without a key."""
    read_and_draw(screen)
    assert "step 300, 3 of 3" in press(screen, "T")
    arrived = threading.Event()
    screen.state.threads.samples.thread.ready = arrived.set
    write_step(tmp_path / "verl-grpo-a", 400)
    while "step 400, 4 of 4" not in screen.text():
        assert arrived.wait(SECONDS)
        arrived.clear()


def test_a_stuck_file_system_stops_no_key(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """While reading hangs, the pane says that it reads, and keys lead elsewhere."""
    release = threading.Event()
    monkeypatch.setattr(SampleIndex, "refresh", lambda *_: release.wait(SECONDS) and True)
    screen.press("T")
    assert "Reading samples" in screen.text()
    screen.press("3")
    assert screen.pane == "policy" and "KL" in screen.text()
    release.set()


def test_an_unforeseen_error_is_told_where_samples_are_shown(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen goes on; the pane names the report instead of reading for ever."""
    monkeypatch.setattr(SampleIndex, "snapshot", lambda *_: 1 // 0)
    monkeypatch.setattr("rltui.common.crash.report", lambda error: f"internal error: {error}")
    assert "division" in press(screen, "T")


def test_the_monitor_can_open_on_samples(tmp_path: Path) -> None:
    """`--pane samples` shows them at once; the newest step is followed."""
    write_step(tmp_path / "verl-grpo-a", 300)
    assert "step 300, 1 of 1" in read_and_draw(attach(opened(believable(), pane="samples"), tmp_path))


def test_reading_ends_with_the_screen(screen: Screen) -> None:
    """After `stop` nothing is read."""
    files = screen.state.threads.samples
    files.thread.stop()
    files.follow({"verl-grpo-a": ()}, "verl-grpo-a")
    assert files.of("verl-grpo-a") is None


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12), (20, 5)])
def test_nothing_is_wider_than_the_screen(screen: Screen, size: tuple[int, int]) -> None:
    """List, reading view and comparisons fit every size."""
    for key in ("T", "enter", "z", "C", "escape", "["):
        press(screen, key, width=size[0], height=size[1])
        page = screen.frame(*size)
        assert len(page.lines) <= size[1] and all(line.width <= size[0] for line in page.lines)


async def test_the_application_reads_samples(tmp_path: Path) -> None:
    """In the running screen a key opens the pane, and what is read arrives without another key."""
    from tests.support.screen.screens import monitor, shown_lines

    write_step(tmp_path / "verl-grpo-a", 300)
    app = monitor(believable())
    arrived = app.state.threads.samples.thread.ready
    attach(screen_of(app), tmp_path).state.threads.samples.thread.ready = arrived
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("T")
        for _ in range(200):
            if "answer is" in shown_lines(app):
                break
            await pilot.pause(0.05)
        assert "step 300, 1 of 1" in shown_lines(app) and "The answer is 300." in shown_lines(app)
        await pilot.press("enter")
        await pilot.press("escape", "escape")


def test_a_copied_sample_is_markdown(screen: Screen) -> None:
    """`y` puts facts and turns on the clipboard."""
    press(screen, "T", "enter")
    screen.press("y")
    kind, text = screen.state.requests[-1]
    assert kind == "copy" and "**prompt**" in text and "| reward |" in text


def test_the_snapshot_of_the_pane(tmp_path: Path) -> None:
    """Text, Markdown and JSON of the newest samples; a folder of pickles says why nothing is opened."""
    write_step(tmp_path, 7)
    (tmp_path / "metrics.jsonl").write_text('{"step": 7, "reward": 0.5}\n')
    done = rltui("snapshot", tmp_path, "--pane", "samples")
    assert "step 7, 1 of 1 with samples · 16 samples" in done.out and "\x1b" not in done.out
    done = rltui("snapshot", tmp_path, "--pane", "samples", "--format", "json")
    found = done.json()
    assert found["samples_of_step"] == 16 and found["samples"][0]["reward"] == 1.0
    done = rltui("snapshot", tmp_path, "--pane", "rollouts", "--format", "markdown")
    assert "| 1.000 |" in done.out


def test_no_run_has_the_samples_of_one_that_was_not_asked_for(tmp_path: Path) -> None:
    """`--run A` reads samples of A alone, in `snapshot` and in the monitor."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text(f'{{"step": 7, "reward": 0.5, "{name}": 1}}\n')
    write_step(tmp_path / "b", 7)
    assert "No samples were found" in rltui("snapshot", tmp_path, "--pane", "samples", "--run", "a").out
    assert "16 samples" in rltui("snapshot", tmp_path, "--pane", "samples", "--run", "b").out
    assert "no samples found of a run 'a'" in rltui("samples", tmp_path, "--run", "a").err
    for others, words in (({}, "16 samples"), ({"b": ("b/metrics.jsonl",)}, "No samples were found")):
        screen = attach(opened(believable(), pane="samples"), tmp_path)
        screen.session.others = others
        assert words in read_and_draw(screen)


def test_wrapping_loses_nothing() -> None:
    """The pieces of a line are the line, whatever its characters; each fits."""
    for text in ("", "a" * 50, "word " * 30, "日本語 " * 20, "e\u0301" * 90, "  indented   text here"):
        pieces = list(wrapped(text, 12))
        assert "".join(piece for _, piece in pieces) == text
        assert [start for start, _ in pieces] == [
            sum(len(p) for _, p in pieces[:n]) for n in range(len(pieces))
        ]


def test_a_search_finds_words_across_wrapped_lines() -> None:
    """What is broken by the width is still found, in both lines."""
    view = sample_view(Sample(step=1, response="one two three four five six"), 18)
    assert len(view.find("three four")) == 2


def test_an_answer_without_text_says_why_beside_another() -> None:
    """A dump of token ids alone gives its note, an empty answer a word, instead of a blank column."""
    ids, nothing = Sample(step=1, note="token ids only"), Sample(step=2)
    text = " ".join(piece.text for piece in beside_view(ids, nothing, 100, ("one", "other")).pieces)
    assert "token ids only" in text and "(empty)" in text


def test_a_huge_answer_is_cut_and_said() -> None:
    """Five million characters are shown as far as anyone reads; the rest is counted."""
    view = sample_view(Sample(step=1, response="word " * 1_000_000), 100)
    assert "4,000,000 more characters" in view.pieces[-1].text + view.pieces[-2].text


def test_rollouts_of_the_support_differ() -> None:
    """The rollouts that these tests read are right, wrong, and cut off."""
    assert {rollout(1, 0, answer)["finish_reason"] for answer in range(4)} == {"stop", "length"}
