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


@pytest.mark.parametrize("piece", [1, 7, 999])
@pytest.mark.parametrize("measured", [2, 5, 9])
def test_a_restart_before_values_are_known_to_be_repeated_keeps_all_points(measured: int, piece: int) -> None:
    """No superseded point is judged, and no restart makes the result depend on deliveries."""
    values, evaluator = carried(runs=40, rows=10), new_evaluator()
    end, back = measured * 10, measured * 5
    for begin, upto, rewound in ((0, end, None), (back, 400, back)):
        for start in range(begin, upto, piece):
            stop = min(start + piece, upto)
            to = rewound if start == begin else None
            evaluator.feed([fresh(TAG, values[start:stop], range(start, stop), rewound_to=to)])
    ticks = evaluator.series[TAG].ticks
    assert ticks.value[: ticks.n].tolist() == values.tolist()
    assert ticks.first[: ticks.n].tolist() == list(range(400))


@pytest.mark.parametrize(
    ("tag", "early", "late", "told"),
    [
        ("reward.success_rate", np.linspace(0.05, 0.9, 20), 0.0, "reward-crash"),
        ("reward.episode_return.mean", np.linspace(-450, -100, 20), -500.0, "return-crash"),
        (TAG, np.linspace(20, 400, 20), 0.0, "validation-lost"),
    ],
)
@pytest.mark.parametrize("piece", [13, 600])
def test_a_collapse_to_one_value_is_told(tag: str, early: Floats, late: float, told: str, piece: int) -> None:
    """A value that stays is measured again after as many rows as a measurement has."""
    noise = np.random.default_rng(4).normal(size=20) * np.ptp(early) / 50
    values, evaluator = np.append(np.repeat(early + noise, 10), np.full(400, late)), new_evaluator()
    for begin in range(0, len(values), piece):
        part = values[begin : begin + piece]
        evaluator.feed([fresh(tag, part, range(begin, begin + len(part)))])
    assert evaluator.series[tag].ticks.points == 60
    assert told in ids(evaluator, "warning")
