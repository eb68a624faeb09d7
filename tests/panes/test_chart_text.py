"""The chart of a metric as text, for sharing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from rltui.panes.charts.step_window import window_for
from rltui.panes.render.chart_text import chart_text
from rltui.panes.rows.row import rows_of
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.runs.deliveries import delivery

LOGS = Path(__file__).parents[1] / "logs"


def chart(values: np.ndarray, width: int = 80) -> str:
    """The chart of one metric."""
    session = Session()
    session.apply(
        (delivery([("a/score", step, float(value)) for step, value in enumerate(values)], wall=0.0),)
    )
    view = session.runs["run"]
    (row,) = rows_of(view, ["a/score"], merge=False)
    return chart_text(row, view.shown_name, window_for(view), width)


def test_a_chart_says_what_it_shows_and_fits() -> None:
    """Run, title, tag and last value stand above it; ticks are round; no line is wider than asked for."""
    text = chart(np.linspace(0, 1, 100))
    assert "run: Score (a/score), last 1.00" in text.splitlines()[0]
    assert "0.4" in text and "step" in text.splitlines()[-1]
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_a_long_title_is_cut_and_a_negated_key_says_its_direction() -> None:
    """A title is never left out, whatever the width."""
    log, key = LOGS / "sb3-ppo-resume", "train/entropy_loss"
    titles = [
        rltui("snapshot", log, "--chart", key, "--width", width).out.splitlines()[0] for width in (60, 120)
    ]
    assert "Minus entropy" in titles[0] and titles[0].endswith("…")
    assert titles[1].endswith(", falls as entropy rises")


def test_a_gap_of_a_chart_stays_empty() -> None:
    """No line leads over values that are not finite; huge values draw as others do."""
    values = np.full(100, 1e308)
    values[::2] = -1e308
    values[30:70] = math.nan
    middle = [row[35:50] for row in chart(values).splitlines()[2:-3]]
    assert set("".join(middle)) == {" "}
    assert chart(np.full(100, math.nan)).endswith("no finite points\n")


def test_a_chart_is_asked_for_by_tag_or_id() -> None:
    """Both name the same curve; an unknown metric ends the command with 1."""
    one = rltui("snapshot", LOGS / "sb3-sac", "--chart", "rollout/ep_rew_mean")
    two = rltui("snapshot", LOGS / "sb3-sac", "--chart", "reward.episode_return.mean")
    assert one.out == two.out and "⠤" in one.out
    missing = rltui("snapshot", LOGS / "sb3-sac", "--chart", "nonesuch")
    assert missing.code == 1 and "nonesuch" in missing.err
