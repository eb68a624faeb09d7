"""Comparison of sister runs: runs of one folder that share their settings but for the seed, or form a sweep.

The level of a run is compared with those of at least three others at the same step: with their median, in
units of their median absolute deviation, corrected for small samples (Croux and Rousseeuw 1992,
Time-efficient algorithms for two highly robust estimators of scale), so that a single outlier has no
influence. The strongest sign that a run learns nothing does not depend on the scale of the reward: its
sisters have gained, and it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, Ints, median, median_of_sorted
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_short, format_step
from rltui.logs.run_names import without_numbers
from rltui.rules.evaluated_series.robust_statistics import NORMAL
from rltui.rules.finding import Evidence, Finding
from rltui.session.outcome_curve import OutcomeCurve

if TYPE_CHECKING:
    from rltui.rules.run_status.run_findings import SisterLimits

FINDING_ID = "below-sisters"
MAX_SISTERS = 64  # that a run is compared with
GRID_STEPS = 24  # evenly spaced steps at which curves are compared
# Factors for the median absolute deviation of 2 to 9 values.
MAD_CORRECTIONS = (1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)


def _limits() -> SisterLimits:
    # Imported here: the table is not needed where runs have no sisters.
    from rltui.rules.run_status.run_findings import run_findings

    return run_findings().sisters


class SisterComparison(NamedTuple):
    """A run against its sisters at the last step that it has in common with three of them.

    `spreads_below`: distance below their median, negative above it. `since_step`: since when it has been an
    outlier without a break; None where it is none. `gained`, `sisters_gained`: since the first common step.
    """

    run: str
    sisters: tuple[str, ...]
    relation: str  # why they are sisters
    metric: str
    tag: str
    step: int
    level: float
    median_level: float
    spread: float
    spreads_below: float
    since_step: int | None
    gained: float
    sisters_gained: float

    @property
    def learns_nothing(self) -> bool:
        """Whether its sisters have gained and it has not."""
        limits = _limits()
        real = self.sisters_gained > limits.gain_in_spreads * self.spread
        return (
            self.since_step is not None
            and self.spreads_below >= limits.failed_spreads_below
            and real
            and (self.gained < limits.share_of_gain * self.sisters_gained)
        )

    @property
    def words(self) -> str:
        """`2.3x their spread below its 4 sisters since step 600`, `level with its 4 sisters`."""
        whose = f"its {len(self.sisters)} sisters"
        if self.since_step is not None:
            since = f"since step {format_step(self.since_step)}"
            return f"{self.spreads_below:.1f}x their spread below {whose} {since}"
        if self.spreads_below <= -_limits().spreads_below:
            return f"{-self.spreads_below:.1f}x their spread above {whose}"
        return f"level with {whose}"

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        return {
            "sisters": list(self.sisters), "kin": self.relation, "canonical": self.metric, "metric": self.tag,
            "step": self.step, "value": self.level, "median": self.median_level, "spread": self.spread,
            "spreads_below": self.spreads_below, "since_step": self.since_step,
        }  # fmt: skip


def sister_comparisons(outcomes: Iterable[OutcomeCurve]) -> dict[str, SisterComparison]:
    """By name, the comparison of each run that has at least three sisters."""
    return {each.run: each for each in iter_comparisons(outcomes) if each is not None}


def iter_comparisons(outcomes: Iterable[OutcomeCurve]) -> Iterator[SisterComparison | None]:
    """The same one by one, and None in between, for callers that must not block."""
    by_metric: dict[tuple[str, str], list[OutcomeCurve]] = {}
    for each in outcomes:
        by_metric.setdefault((each.framework, each.metric), []).append(each)
    for group in by_metric.values():
        if len(group) > _limits().sisters:
            yield from _CurveTable(group).sister_comparisons()


class _SisterGroups:
    """Runs grouped by equal settings, by sweep, and by names that differ in numbers only."""

    def __init__(self, group: Sequence[OutcomeCurve]) -> None:
        self._group_keys = [_group_keys(each) for each in group]
        self._by: dict[tuple[str, ...], list[int]] = {}
        for number, keys in enumerate(self._group_keys):
            for key in keys.values():
                self._by.setdefault(key, []).append(number)
        self._first: dict[tuple[str, ...], tuple[int, ...]] = {}  # of each group

    def of(self, number: int) -> tuple[str, tuple[int, ...]]:
        """The closest relation with enough sisters, and the numbers of at most MAX_SISTERS of them."""
        for why, key in self._group_keys[number].items():
            found = self._by[key]
            if len(found) <= _limits().sisters:
                continue
            first = self._first.get(key)
            if first is None:
                first = self._first[key] = tuple(found[:MAX_SISTERS])
            if number > first[-1]:
                return why, first
            return why, tuple(other for other in found[: MAX_SISTERS + 1] if other != number)
        return "", ()


def _group_keys(each: OutcomeCurve) -> dict[str, tuple[str, ...]]:
    pattern, folder = without_numbers(each.run), each.run.rpartition("/")[0]
    if each.hparams:
        return {
            "share their settings but for the seed": ("equal", each.hparams),
            "form a sweep": ("sweep", each.names, pattern),
            "form a sweep in one folder": ("folder", each.names, folder),
            "are named alike": ("named", pattern),
        }
    return {"are named alike": ("named", pattern)}


class _SisterLevels(NamedTuple):
    """Levels of sister runs at evenly spaced steps."""

    runs: tuple[str, ...]
    grid: Floats  # (GRID,) steps
    median_level: Floats  # (GRID,)
    deviation: Floats  # (GRID,)
    highest: float
    lowest: float
    gained: float


class _CurveTable:
    """The curves of several runs as rows of arrays; shorter ones are filled up with infinite steps."""

    def __init__(self, group: Sequence[OutcomeCurve]) -> None:
        columns = max(len(each.steps) for each in group) + 1
        self._group = group
        self._steps = np.full((len(group), columns), np.inf)
        self._levels = np.full((len(group), columns), np.nan)
        for row, each in enumerate(group):
            self._steps[row, : len(each.steps)] = each.steps
            self._levels[row, : len(each.steps)] = each.levels
        self._first = self._steps[:, 0]
        self._last = np.array([each.steps[-1] for each in group])

    def sister_comparisons(self) -> Iterator[SisterComparison | None]:
        """Each run against its sisters, from the first step of all to its own last step.

        Runs with the same sisters and the same steps, most of a large group, are compared as one array.
        """
        relation, firsts, lasts = _SisterGroups(self._group), self._first.tolist(), self._last.tolist()
        common: dict[tuple[int, ...], tuple[float, float]] = {}
        together: dict[tuple[float, float, str, tuple[int, ...]], list[int]] = {}
        for number in range(len(self._group)):
            why, others = relation.of(number)
            if others:
                if others not in common:
                    common[others] = self._common(np.array(others))
                first, last = common[others]
                begin, end = max(firsts[number], first), min(lasts[number], last)
                if end > begin:
                    together.setdefault((begin, end, why, others), []).append(number)
            yield None
        for (begin, end, why, others), numbers in together.items():
            reached = self._reached(np.array(others), np.linspace(begin, end, GRID_STEPS))
            for at in range(0, len(numbers), MAX_SISTERS):
                yield from self._against(reached, numbers[at : at + MAX_SISTERS], why)

    def _common(self, rows: Ints) -> tuple[float, float]:
        """The first and last step that enough of some runs cover."""
        enough = _limits().sisters
        return float(np.sort(self._first[rows])[enough - 1]), float(np.sort(self._last[rows])[-enough])

    @np.errstate(invalid="ignore", divide="ignore")
    def _against(self, reached: _SisterLevels, numbers: Sequence[int], why: str) -> list[SisterComparison]:
        """The comparisons of runs; none for a run whose curve is that of all others."""
        grid, median_level = reached.grid, reached.median_level
        mine = self._at(np.array(numbers), grid)
        highest, lowest = mine.max(axis=1), mine.min(axis=1)
        limits = _limits()
        heights = np.maximum(highest, reached.highest) - np.minimum(lowest, reached.lowest)
        floor = limits.spread_share * heights
        spread = np.maximum(reached.deviation, floor[:, None])
        spreads_below = (median_level - mine) / spread
        known = np.isfinite(spreads_below).all(axis=1)
        behind = spreads_below >= limits.spreads_below
        lasting = np.where(behind.all(axis=1), GRID_STEPS, behind[:, ::-1].argmin(axis=1))
        gained = mine[:, -1] - mine[:, 0]
        found = []
        for at in np.flatnonzero(known).tolist():
            own, last = self._group[numbers[at]], int(lasting[at])
            found.append(SisterComparison(
                own.run, reached.runs, why, own.metric, own.tag, int(grid[-1]),
                float(mine[at, -1]), float(median_level[-1]), float(spread[at, -1]),
                float(spreads_below[at, -1]),
                int(grid[GRID_STEPS - last]) if last >= limits.share_below * GRID_STEPS else None,
                float(gained[at]), reached.gained,
            ))  # fmt: skip
        return found

    @np.errstate(invalid="ignore", divide="ignore")
    def _reached(self, rows: Ints, grid: Floats) -> _SisterLevels:
        table = self._at(rows, grid)
        gains = table[:, -1] - table[:, 0]
        gains = gains[np.isfinite(gains)]
        return _SisterLevels(
            tuple(self._group[row].run for row in rows.tolist()),
            grid,
            *_median_and_deviation(table),
            float(np.fmax.reduce(table, axis=None)),
            float(np.fmin.reduce(table, axis=None)),
            median(gains) if len(gains) else 0.0,
        )

    def _at(self, rows: Ints, grid: Floats) -> Floats:
        """(rows, GRID_STEPS) levels at steps, as `numpy.interp` has them; NaN where a run has none.

        All rows at once: `numpy.interp` for each of 64 sisters of each of 10,000 runs took seconds.
        """
        steps, count, columns = self._steps[rows], len(rows), self._steps.shape[1]
        line = np.arange(count)[:, None]
        # For each row, how many of its steps are at or before each step of the grid: counts, then their sums.
        reached = grid.searchsorted(steps) + line * (GRID_STEPS + 1)
        counted = np.bincount(reached.ravel(), minlength=count * (GRID_STEPS + 1)).reshape(
            count, GRID_STEPS + 1
        )
        place = counted.cumsum(axis=1)[:, :GRID_STEPS] - 1  # of the point before
        before = np.maximum(place, 0) + line * columns
        levels = self._levels[rows].ravel()
        step, level, flat = steps.take(before), levels.take(before), steps.ravel()
        slope = (levels.take(before + 1) - level) / (flat.take(before + 1) - step)
        found: Floats = np.where(grid == step, level, slope * (grid - step) + level)
        found[place < 0] = np.nan
        return found


def _median_and_deviation(table: Floats) -> tuple[Floats, Floats]:
    """(n,) median and corrected median absolute deviation of the finite values of each column of (m, n)."""
    finite = np.isfinite(table)
    known = np.where(finite, table, np.nan)
    count = finite.sum(axis=0)
    median_level = median_of_sorted(np.sort(known.T, axis=1), count)
    factor = np.array([_mad_correction(each) for each in count.tolist()])
    away = np.sort(np.abs(known - median_level).T, axis=1)
    return median_level, factor * NORMAL * median_of_sorted(away, count)


def _mad_correction(count: int) -> float:
    """The factor for the median absolute deviation of so many values."""
    if count < 2:
        return MAD_CORRECTIONS[0]
    return MAD_CORRECTIONS[count - 2] if count - 2 < len(MAD_CORRECTIONS) else count / (count - 0.8)


def sister_finding(found: SisterComparison, others: Iterable[Finding] = ()) -> Finding | None:
    """The finding of a comparison: a remark for an outlier, a warning for a run that learns nothing.

    others: findings of the run; where one is critical, the cause is known, and a remark is enough.
    """
    if found.since_step is None:
        return None
    from rltui.rules.run_status.run_findings import run_finding  # as in `_limits`

    count, nothing = len(found.sisters), found.learns_nothing
    warned = nothing and not any(one.severity == "critical" for one in others)
    made = run_finding(
        f"{FINDING_ID}-without-gain" if nothing else FINDING_ID,
        found.since_step,
        count=count,
        relation=found.relation,
        level=format_short(found.level),
        median=format_short(found.median_level),
        step=format_step(found.step),
        spreads=f"{found.spreads_below:.1f}",
    )
    return made._replace(
        severity=made.severity if warned else "info",
        metrics=(found.tag,),
        canonical=(found.metric,),
        value=found.level,
        limit=found.median_level - _limits().spreads_below * found.spread,
        evidence=(Evidence(found.tag, found.median_level, found.level, found.since_step, found.metric),),
    )
