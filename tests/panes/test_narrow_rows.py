"""What rows, run lines and hints say where there is little room or nothing to say."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.draw.numbers import format_range
from rltui.panes.pane import pane_view
from rltui.panes.render.card_curve import CardStyle
from rltui.panes.render.lines.pane_lines import pane_lines
from rltui.screen import shown_run
from tests.support.runs.made_run import NOW, MadeRun, believable
from tests.support.screen.screens import opened


def rows(run: MadeRun, pane: str = "reward") -> list[str]:
    """A pane as text."""
    return [line.text for line in pane_lines(pane_view(run, pane, NOW), 80)]


def test_names_come_before_ranges() -> None:
    """On a narrow screen whole names take the room of the range; where most fit it stays."""
    long, short = MadeRun(), MadeRun()
    for at in range(6):
        long.add(f"val-core/tiny/words/reward/best@{at}/mean", np.arange(9.0))
        short.add(
            f"a{at}", np.arange(9.0), pane="validation", title=f"Reward {at}" + " of a long name" * (at == 5)
        )
    assert (
        "Best of n · tiny/words/reward @3" in rows(long, "validation")[4]
        and "min … max" not in rows(long, "validation")[0]
    )
    assert "min … max" in rows(short, "validation")[0]


def test_a_curve_in_few_cells_ends_where_the_last_point_is() -> None:
    """A return that fell back to a third of its peak in the last cell does not end at the top."""
    run = MadeRun()
    run.add(
        "score", [*np.linspace(0, 300, 95), 250.0, 200.0, 150.0, 120.0, 100.0], pane="reward", title="Score"
    )
    line = next(
        text
        for text in (one.text for one in pane_lines(pane_view(run, "reward", NOW), 40))
        if "Score" in text
    )
    assert line.rstrip().endswith("▇▃")


def test_ranges_say_what_they_are() -> None:
    """A distribution has its ends now, a constant is always the same, one point alone is neither."""
    run = MadeRun()
    for key, level in (("mean", 6.0), ("min", 4.0), ("max", 15.0)):
        run.add(f"r/{key}", np.full(9, level), pane="reward", title=f"Length {key}", group="r", statistic=key)
    run.add("rate", np.full(9, 5e-4), pane="reward", title="Rate", unit="rate")
    run.add("once", [3.5], pane="reward", title="Once")
    run.add("slow", np.linspace(3e-4, 2.9999e-4, 9), pane="reward", title="Slow", unit="rate")
    shown = {line.split()[0]: line for line in rows(run)}
    assert shown["Length"].rstrip().endswith("now 4.00…15.0")
    assert "always 5.0e-4" in shown["Rate"]
    assert "about 3.0e-4" in shown["Slow"]  # not from 3.0e-4 to 3.0e-4
    assert "always" not in shown["Once"]


def test_throughput_and_its_range_are_written_alike() -> None:
    """Thousands have their letter at both places."""
    assert format_range(2252, 4346, "tokens/s") == ("2.25k", "4.35k")
    assert format_range(692, 1442, "tokens/s/gpu") == ("692", "1.44k")


@pytest.mark.parametrize(("width", "whole"), [(140, True), (100, False)])
def test_run_lines_use_the_room_there_is(width: int, whole: bool) -> None:
    """The key metric of another run is cut only where its name does not fit."""
    other = MadeRun(name="other", modified=NOW - 100)
    title = "Accuracy · tiny/words of the hard half @16"
    other.add("val-core/tiny/words of the hard half/acc/mean@16", np.arange(9.0) / 10)
    screen = opened(believable(), other)
    screen.choose_run("verl-grpo-a")
    line = next(one for one in screen.text(width, 45).splitlines() if one.startswith(" ● other"))
    assert (title in line) is whole and line.rstrip().endswith("0.800")


def test_no_hints_for_settings_that_are_not_there() -> None:
    """Without settings there is no whole value to look at, and nothing to copy."""
    screen = opened(believable())
    screen.state.threads.hparams.logdirs = ()
    screen.press("c")
    foot = screen.text(140, 45).splitlines()[-1]
    assert "whole value" not in foot and "? help" in foot


def test_a_run_in_deep_folders_goes_by_its_short_name() -> None:
    """In the header and in the names of files."""
    from rltui.screen.save_snapshot import file_name

    deep = believable(name="verl-ppo-b/tensorboard_log/verl_tiny/verl-ppo-b")
    screen = opened(deep)
    first = screen.frame(140, 45).lines[0].text
    assert first.startswith(" verl-ppo-b/verl_tiny   ")
    assert (
        file_name(shown_run.short_name(screen.state, deep.name), "reward", 150)
        == "rltui-verl-ppo-b-verl_tiny-reward-step150.txt"
    )


@pytest.mark.parametrize(
    ("width", "words"), [(60, "min–max 4.00…15.0"), (40, "now 4.00…15.0"), (34, "  4.00…15.0")]
)
def test_a_card_says_what_stands_behind_its_name(width: int, words: str) -> None:
    """The ends of a distribution are those of now; the word goes first where there is no room."""
    from rltui.panes.render.cards import card_lines

    run = MadeRun()
    for key, level in (("mean", 6.0), ("min", 4.0), ("max", 15.0)):
        run.add(f"r/{key}", np.full(9, level), pane="reward", title=f"Length {key}", group="r", statistic=key)
    made = pane_view(run, "reward", NOW)
    card = card_lines(made.metrics[0], width, 6, made.window, CardStyle())
    assert words in card[0].text


def test_the_first_step_over_short_curves_is_a_number() -> None:
    """Where `step 1,024` has no room over the curves it is the number alone: half of it says nothing."""
    run = MadeRun()
    run.add("score", np.arange(9.0), np.arange(1, 10) * 1024, pane="reward", title="Score")
    head = pane_lines(pane_view(run, "reward", NOW), 40)[0].text
    assert "1,024" in head and "…" not in head
