"""Series of one quantity that are logged under several keys."""

from __future__ import annotations

import numpy as np

from rltui.panes.pane import pane_view
from rltui.panes.rows.row import Row
from tests.support.runs.made_run import NOW, MadeRun
from tests.support.screen.screens import opened

KEYS = ("train/response_length", "train/rollout/response_length_mean")
LENGTHS = np.random.default_rng(3).normal(100, 5, 60)


def _run(*series: np.ndarray) -> MadeRun:
    run = MadeRun("run", framework="openrlhf")
    for key, values in zip(KEYS, series, strict=True):
        run.add(key, list(values))
    run.add("train/total_length", list(LENGTHS + 20))
    return run


def _rows(run: MadeRun, pane: str = "lengths") -> dict[str, Row]:
    return {row.title: row for row in pane_view(run, pane, NOW).metrics}


def test_equal_series_of_one_quantity_are_one_row_that_says_so() -> None:
    """A trainer that logs a length twice has one row with both keys, also with NaN in it."""
    for values in (LENGTHS, np.where(np.arange(60) == 30, np.nan, LENGTHS)):
        rows = _rows(_run(values, values))
        assert set(rows) == {"Response length · 2 keys", "Total length"}
        assert set(rows["Response length · 2 keys"].tags) == set(KEYS)


def test_series_that_differ_in_one_point_keep_their_rows() -> None:
    """In one of their values, or in their number."""
    other = LENGTHS.copy()
    other[20] += 0.1
    for second in (other, LENGTHS[:-1]):
        titles = set(_rows(_run(LENGTHS, second)))
        assert len(titles) == 3 and not any("keys" in title for title in titles)


def test_all_metrics_lists_every_key() -> None:
    """Where everything is listed, and where each series is asked for, nothing is joined."""
    run = _run(LENGTHS, LENGTHS)
    assert set(KEYS) <= {row.tag for row in pane_view(run, "all", NOW).metrics}
    assert set(KEYS) <= {row.tag for row in pane_view(run, "lengths", NOW, merge=False).metrics}


def test_the_explanation_of_a_joined_row_names_its_keys() -> None:
    """`e` lists them and says that they are equal; the key without a row leads to the row."""
    screen = opened(_run(LENGTHS, LENGTHS))
    screen.go_to_tag(KEYS[1])
    screen.press("e")
    text = screen.text(100, 40)
    assert all(key in text for key in KEYS) and "these keys have equal values" in text
