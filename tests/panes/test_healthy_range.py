"""Healthy bands: stated by a source, drawn where they tell something."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rltui.metrics.glossary_files import glossary
from rltui.panes.charts.curve import Curve, curve
from rltui.panes.charts.healthy_range import healthy_range_of, healthy_rows, healthy_text, within_bounds
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.render.lines.pane_lines import range_text, unhealthy
from rltui.panes.rows.row import Row, rows_of
from rltui.schema.metric import Metric
from tests.support.runs.made_run import MadeRun, finding

WITH_RANGE = [metric for metric in glossary().metrics.values() if metric.healthy_range is not None]


@pytest.mark.parametrize("metric", WITH_RANGE, ids=lambda metric: metric.id)
def test_every_range_is_stated_in_words(metric: Metric) -> None:
    """Each end of a range that is neither zero nor one stands as a number in what the entry calls healthy."""
    numbers = {float(one) for one in re.findall(r"\d+(?:\.\d+)?", metric.healthy)}
    if "%" in metric.healthy:
        numbers |= {one / 100 for one in numbers}
    assert metric.healthy_range is not None
    for end in metric.healthy_range:
        assert math.isinf(end) or abs(end) in numbers | {0.0, 1.0}


def _row(values: Sequence[float] = (0.1, 0.2), severity: str = "", **known: Any) -> Row:
    """The row of a share; known: what is known of its metric."""
    run = MadeRun()
    run.add("share", values, **{"unit": "fraction", **known})
    run.found = [finding("share", severity)] if severity else []
    (row,) = rows_of(run, ["share"])
    return row


def test_a_range_is_on_the_scale_of_the_curve() -> None:
    """Percent and negated values get the range of what they are; deviations get none."""
    share = _row(healthy_range=(0.0, 0.2))
    assert healthy_range_of(share) == (0.0, 0.2)
    assert healthy_range_of(_row(healthy_range=(0.0, 0.2), scale=0.01)) == (0.0, 20.0)
    assert healthy_range_of(_row(healthy_range=(0.8, math.inf), scale=-1.0)) == (-math.inf, -0.8)
    assert share.name is not None
    assert healthy_range_of(replace(share, name=share.name._replace(statistic="std"))) is None
    assert healthy_range_of(_row()) is None


def test_rows_in_the_range_are_told_from_others() -> None:
    """Rows whose middle is healthy are marked; none where all or no rows are."""
    assert healthy_rows((0.0, 0.2), 0.0, 0.4, 4) == {2, 3}
    assert healthy_rows((0.0, 1.0), 0.0, 0.4, 4) == frozenset()
    assert healthy_rows((5.0, 6.0), 0.0, 0.4, 4) == frozenset()
    assert healthy_rows((-math.inf, 0.1), 0.0, 0.4, 4) == {3}
    assert healthy_rows(None, 0.0, 1.0, 4) == frozenset()
    assert healthy_rows((0.0, 1.0), -1e308, 1e308, 2) == frozenset()


def test_ranges_in_words() -> None:
    """Both ends, or the one that there is, written like the values."""
    assert healthy_text((0.0, 0.2)) == "healthy 0…0.20"
    assert healthy_text((-math.inf, 0.05)) == "healthy < 0.050"
    assert healthy_text((0.8, math.inf)) == "healthy > 0.80"


def test_slack_ends_where_a_metric_must() -> None:
    """A share is not drawn on an axis above one; values that break the bounds stay in sight."""
    row = _row(bounds=(0.0, 1.0), unit="nats")
    assert within_bounds(row, (-0.1, 1.13), (0.2, 0.98)) == (0.0, 1.0)
    assert within_bounds(row, (-0.1, 1.5), (0.2, 1.4)) == (0.0, 1.4)
    percent = _row(bounds=(0.0, 1.0), scale=0.01)
    assert within_bounds(percent, (-5.0, 113.0), (20.0, 98.0)) == (0.0, 100.0)
    assert within_bounds(_row(), (-0.1, 1.13), (0.2, 0.98)) == (0.0, 1.0)  # its unit is that of a share
    assert within_bounds(_row(unit="nats"), (-0.1, 1.13), (0.2, 0.98)) == (-0.1, 1.13)


def _marked(values: Sequence[float], severity: str = "", **known: Any) -> dict[int, str]:
    row = _row(values, severity, **known)
    drawn = curve(row, StepWindow(1.0, float(len(values))), len(values))
    assert drawn is not None
    return unhealthy(row, drawn)


def test_cells_beyond_what_is_healthy_stand_out() -> None:
    """A cell gets the colour of the row's finding, a quiet one without; what is healthy gets none."""
    healthy = (0.0, 0.2)
    assert _marked([0.1, 0.3, math.nan, 0.2], healthy_range=healthy) == {1: "info"}
    assert _marked([0.1, 0.3], "warning", healthy_range=healthy) == {1: "warn"}
    assert _marked([-0.1, 0.3], "critical", healthy_range=healthy) == {0: "bad", 1: "bad"}
    assert _marked([9.0, 8.0]) == {}


def test_an_unhealthy_end_is_marked_without_colour() -> None:
    """The range of a row carries a mark at the end that is not healthy, in the same width."""
    row = _row(healthy_range=(0.0, 0.2))

    def text(low: float, high: float) -> str:
        ends = np.array([low]), np.array([high])
        return range_text(row, Curve(*ends, ends[0], np.zeros(1, np.int64), points=1), 17)

    healthy, high, both = (text(low, top) for low, top in ((0.0, 0.1), (0.0, 0.4), (-3.0, 0.4)))
    assert "!" not in healthy and high.count("!") == 1 and both.count("!") == 2
    assert len(healthy) == len(high) == len(both) == 17
    assert text(0.4, 0.4).strip() == "0.40!"
    assert text(-7.3e-6, -1.2e-6).strip() == "-7.3e-6!…-1.2e-6!"  # long ends are not cut
    assert text(math.nan, math.nan).strip() == "–"
