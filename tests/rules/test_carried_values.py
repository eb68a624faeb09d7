"""Columns that repeat a measurement until the next one: each counts once."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.common.arrays import Floats
from tests.support.runs.evaluators import evaluator_of, fresh, ids, new_evaluator

TAG = "validation.return.mean"


def carried(seed: int = 3, runs: int = 60, rows: int = 40) -> Floats:
    """Evaluations that rise slowly in large noise, each repeated in all rows until the next one."""
    random = np.random.default_rng(seed)
    return np.repeat(np.linspace(2, 16, runs) + 4 * random.normal(size=runs), rows)


@pytest.mark.parametrize("piece", [1, 7, 40, 999, 2400])
def test_each_measurement_counts_once_however_the_points_arrive(piece: int) -> None:
    """Rules see one tick per evaluation, whatever the size of deliveries."""
    values, evaluator = carried(), new_evaluator()
    for begin in range(0, len(values), piece):
        part = values[begin : begin + piece]
        evaluator.feed([fresh(TAG, part, range(begin, begin + len(part)))])
    ticks = evaluator.series[TAG].ticks
    assert ticks.value[: ticks.n].tolist() == values[::40].tolist()
    assert ticks.first[: ticks.n].tolist() == list(range(0, len(values), 40))
    assert ticks.points == 60


def test_one_poor_evaluation_in_many_rows_is_no_lost_gain() -> None:
    """A fall in two evaluations of sixty is noise, though it lasts for eighty rows."""
    values = carried()
    values[50 * 40 : 52 * 40] = np.repeat([1.0, 5.0], 40)
    assert not ids(evaluator_of({TAG: values}), "warning")


@pytest.mark.parametrize(
    "values",
    [
        np.repeat(np.tile([0.0, 1.0], 60), 6),  # two outcomes of games that stay for some time
        np.where(np.arange(600) % 50 == 0, 1.0, 0.0),  # rare successes
        np.append(np.repeat(np.arange(6.0), 5), np.linspace(0, 1, 300)),  # few repeated values, then none
        np.full(400, -200.0),
    ],
)
def test_points_that_only_happen_to_repeat_all_count(values: Floats) -> None:
    """Only a series each value of which is repeated, and which has many, is taken as carried along."""
    evaluator = evaluator_of({TAG: values})
    ticks = evaluator.series[TAG].ticks
    assert ticks.points == len(values)


def test_a_restart_keeps_what_is_known_of_repeated_values() -> None:
    """After a restart the rows still repeat evaluations, of which the first counts."""
    values, evaluator = carried(), new_evaluator()
    evaluator.feed([fresh(TAG, values, range(len(values)))])
    evaluator.feed([fresh(TAG, values[1200:], range(1200, len(values)), rewound_to=1200)])
    ticks = evaluator.series[TAG].ticks
    assert ticks.first[: ticks.n].tolist() == list(range(0, len(values), 40))
