"""Runs beside their sisters: those of one folder that share their settings but for the seed, or form a sweep.

What a run has reached is compared with what at least three others had reached at the same step. Their
middle is a median; their spread is the median absolute deviation, corrected for so few (Croux and Rousseeuw
1992, Time-efficient algorithms for two highly robust estimators of scale), so that one run that failed, or
won, says nothing about the others. The strongest sign that a run learns nothing needs no scale of the reward
at all: its sisters have gained, it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.common.named_tuple import NamedTuple
from rltui.logs.run_names import without_numbers
from rltui.rules.finding import Evidence, Finding
from rltui.rules.judged_series.robust_statistics import NORMAL

FINDING_ID = "below-sisters"
MIN_SISTERS = 3  # sisters that must have reached a step: fewer have no spread
MAX_SISTERS = 64  # sisters that a run is compared with
GRID_STEPS = 24  # equal steps at which curves are compared
MIN_SPREADS_BELOW = 2.0  # spreads below the middle from which on a run stands out
FAILED_SPREADS_BELOW = 3.0  # spreads, where it has not gained either
MIN_SHARE_BELOW = 0.25  # share of the common way for which it must have been so
MIN_SHARE_OF_GAIN = 0.25  # share of the sisters' gain that a run must have made to have learnt something
MIN_GAIN_IN_SPREADS = 4.0  # spreads that the sisters must have gained
MIN_SPREAD_SHARE = 0.02  # of the range of all levels: curves that lie on each other have no spread
# Correction of the median absolute deviation of 2 to 9 values.
MAD_CORRECTIONS = (1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)

Levels = Floats


class OutcomeCurve(NamedTuple):
    """What a run has reached, as one short curve. Steps rise; `settings` is empty where none are logged."""

    run: str
    metric: str  # canonical id
    tag: str
    framework: str
    settings: str  # digest of all settings but for the seed and names
    names: str  # digest of the settings' names
    steps: tuple[float, ...]
    levels: tuple[float, ...]


class SisterComparison(NamedTuple):
    """Where a run stands beside its sisters at the last step that it has in common with three of them.

    `below`: spreads below their middle, negative above it. `since_step`: since when it has been so without a
    break; None where it does not stand out. `gained` and `others_gained`: since the first common step.
    """

    run: str
    sisters: tuple[str, ...]
    kin: str  # why they are sisters
    metric: str
    tag: str
    step: int
    level: float
    middle: float
    spread: float
    below: float
    since_step: int | None
    gained: float
    others_gained: float

    @property
    def learns_nothing(self) -> bool:
        """Whether its sisters have gained and it has not."""
        real = self.others_gained > MIN_GAIN_IN_SPREADS * self.spread
        return (
            self.since_step is not None
            and self.below >= FAILED_SPREADS_BELOW
            and real
            and (self.gained < MIN_SHARE_OF_GAIN * self.others_gained)
        )

    @property
    def words(self) -> str:
        """`2.3x their spread below its 4 sisters since step 600`, or where it stands otherwise."""
        count = len(self.sisters)
        whose = f"its {count} sisters"
        if self.since_step is not None:
            return f"{self.below:.1f}x their spread below {whose} since step {self.since_step:,}"
        if self.below <= -MIN_SPREADS_BELOW:
            return f"{-self.below:.1f}x their spread above {whose}"
        return f"level with {whose}"

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        return {
            "sisters": list(self.sisters), "kin": self.kin, "canonical": self.metric, "metric": self.tag,
            "step": self.step, "value": self.level, "median": self.middle, "spread": self.spread,
            "spreads_below": self.below, "since_step": self.since_step,
        }  # fmt: skip


def sister_comparisons(outcomes: Iterable[OutcomeCurve]) -> dict[str, SisterComparison]:
    """Where each run stands that has at least three sisters, by name."""
    return {each.run: each for each in iter_comparisons(outcomes) if each is not None}


def iter_comparisons(outcomes: Iterable[OutcomeCurve]) -> Iterator[SisterComparison | None]:
    """The same one by one, and None in between: for who cannot wait for all."""
    by_metric: dict[tuple[str, str], list[OutcomeCurve]] = {}
    for each in outcomes:
        by_metric.setdefault((each.framework, each.metric), []).append(each)
    for group in by_metric.values():
        if len(group) > MIN_SISTERS:
            yield from _CurveTable(group).sister_comparisons()


class _SisterGroups:
    """Runs by what makes them sisters: equal settings, a sweep, or names that differ by numbers alone."""

    def __init__(self, group: Sequence[OutcomeCurve]) -> None:
        self._group_keys = [_group_keys(each) for each in group]
        self._by: dict[tuple[str, ...], list[int]] = {}
        for number, keys in enumerate(self._group_keys):
            for key in keys.values():
                self._by.setdefault(key, []).append(number)
        self._first: dict[tuple[str, ...], tuple[int, ...]] = {}  # of each kind, for all that come after them

    def of(self, number: int) -> tuple[str, tuple[int, ...]]:
        """Why, and which, MOST at most: of the closest kind of which there are enough. Runs by number."""
        for why, key in self._group_keys[number].items():
            found = self._by[key]
            if len(found) <= MIN_SISTERS:
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
    if each.settings:
        return {
            "share their settings but for the seed": ("equal", each.settings),
            "form a sweep": ("sweep", each.names, pattern),
            "form a sweep in one folder": ("folder", each.names, folder),
            "are named alike": ("named", pattern),
        }
    return {"are named alike": ("named", pattern)}


class _SisterLevels(NamedTuple):
    """What others had reached at equal steps."""

    runs: tuple[str, ...]
    grid: Levels  # (GRID,) steps
    middle: Levels  # (GRID,)
    deviation: Levels  # (GRID,)
    highest: float
    lowest: float
    gained: float


class _CurveTable:
    """The curves of several runs, one below the other: short ones end in steps that are never reached."""

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
        """Each run against its sisters at equal steps from where all begin, as far as it has come.

        Most runs of a large group have the same sisters and have come equally far: those are one array.
        """
        kin, firsts, lasts = _SisterGroups(self._group), self._first.tolist(), self._last.tolist()
        common: dict[tuple[int, ...], tuple[float, float]] = {}
        together: dict[tuple[float, float, str, tuple[int, ...]], list[int]] = {}
        for number in range(len(self._group)):
            why, others = kin.of(number)
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
        """The first and last step at which enough of some runs are under way."""
        return (
            float(np.sort(self._first[rows])[MIN_SISTERS - 1]),
            float(np.sort(self._last[rows])[-MIN_SISTERS]),
        )

    @np.errstate(invalid="ignore", divide="ignore")
    def _against(self, reached: _SisterLevels, numbers: Sequence[int], why: str) -> list[SisterComparison]:
        """Where runs stand; one whose curve is that of all others has none."""
        grid, middle = reached.grid, reached.middle
        mine = self._at(np.array(numbers), grid)
        highest, lowest = mine.max(axis=1), mine.min(axis=1)
        floor = MIN_SPREAD_SHARE * (np.maximum(highest, reached.highest) - np.minimum(lowest, reached.lowest))
        spread = np.maximum(reached.deviation, floor[:, None])
        below = (middle - mine) / spread
        known = np.isfinite(below).all(axis=1)
        behind = below >= MIN_SPREADS_BELOW
        lasting = np.where(behind.all(axis=1), GRID_STEPS, behind[:, ::-1].argmin(axis=1))
        gained = mine[:, -1] - mine[:, 0]
        found = []
        for at in np.flatnonzero(known).tolist():
            own, last = self._group[numbers[at]], int(lasting[at])
            found.append(SisterComparison(
                own.run, reached.runs, why, own.metric, own.tag, int(grid[-1]),
                float(mine[at, -1]), float(middle[-1]), float(spread[at, -1]), float(below[at, -1]),
                int(grid[GRID_STEPS - last]) if last >= MIN_SHARE_BELOW * GRID_STEPS else None,
                float(gained[at]), reached.gained,
            ))  # fmt: skip
        return found

    @np.errstate(invalid="ignore", divide="ignore")
    def _reached(self, rows: Ints, grid: Levels) -> _SisterLevels:
        table = self._at(rows, grid)
        gains = table[:, -1] - table[:, 0]
        gains = gains[np.isfinite(gains)]
        return _SisterLevels(
            tuple(self._group[row].run for row in rows.tolist()),
            grid,
            *_middle_and_deviation(table),
            float(np.fmax.reduce(table, axis=None)),
            float(np.fmin.reduce(table, axis=None)),
            median(gains) if len(gains) else 0.0,
        )

    def _at(self, rows: Ints, grid: Levels) -> Levels:
        """(rows, GRID) levels at steps, as `numpy.interp` has them; NaN where a run has none.

        All rows at once: `numpy.interp` for each of 64 others of each of 10,000 runs took seconds.
        """
        steps, count, columns = self._steps[rows], len(rows), self._steps.shape[1]
        line = np.arange(count)[:, None]
        # Of each row how many of its steps are reached at each step of the grid: counted, then summed up.
        reached = grid.searchsorted(steps) + line * (GRID_STEPS + 1)
        counted = np.bincount(reached.ravel(), minlength=count * (GRID_STEPS + 1)).reshape(
            count, GRID_STEPS + 1
        )
        place = counted.cumsum(axis=1)[:, :GRID_STEPS] - 1  # of the point before
        before = np.maximum(place, 0) + line * columns
        levels = self._levels[rows].ravel()
        step, level, flat = steps.take(before), levels.take(before), steps.ravel()
        slope = (levels.take(before + 1) - level) / (flat.take(before + 1) - step)
        found: Levels = np.where(grid == step, level, slope * (grid - step) + level)
        found[place < 0] = np.nan
        return found


def _middle_and_deviation(table: Levels) -> tuple[Levels, Levels]:
    """(n,) median and robust deviation of the finite values of each column of (m, n), corrected where few."""
    finite = np.isfinite(table)
    known = np.where(finite, table, np.nan)
    count = finite.sum(axis=0)
    middle = _medians(known, count)
    factor = np.array([_mad_correction(each) for each in count.tolist()])
    return middle, factor * NORMAL * _medians(np.abs(known - middle), count)


def _medians(columns: Levels, count: Ints) -> Levels:
    """(n,) median of the values of each column that are not NaN; NaN where none is."""
    ranked, at = np.sort(columns, axis=0), np.arange(columns.shape[1])
    found: Levels = (ranked[(count - 1) // 2, at] + ranked[count // 2 % len(ranked), at]) / 2
    return found


def _mad_correction(count: int) -> float:
    """Of the median absolute deviation of so many values."""
    if count < 2:
        return MAD_CORRECTIONS[0]
    return MAD_CORRECTIONS[count - 2] if count - 2 < len(MAD_CORRECTIONS) else count / (count - 0.8)


def sister_finding(comparison: SisterComparison) -> Finding | None:
    """What is worth saying of it: a remark where it stands out, a warning where it alone learns nothing."""
    if comparison.since_step is None:
        return None
    count, kin = len(comparison.sisters), comparison.kin
    level, middle = f"{comparison.level:.3g}", f"{comparison.middle:.3g}"
    nothing = comparison.learns_nothing
    told = "Its sisters have gained and this run has not: it is" if nothing else "This run is"
    advice = (
        "Look what it does otherwise than they: settings, seed, the first updates. A bad seed is found by "
        "running it again; a collapse shows in entropy and KL."
    )
    return Finding(
        id=FINDING_ID,
        severity="warning" if nothing else "info",
        pane="reward",
        metrics=(comparison.tag,),
        canonical=(comparison.metric,),
        since_step=comparison.since_step,
        message=f"{told} below its {count} sisters, which {kin}: {level} against their median of {middle} "
        f"at step {comparison.step:,}, {comparison.below:.1f} times the usual distance between them",
        advice=advice,
        check_next=("policy.entropy", "policy.approx_kl", "optimizer.learning_rate"),
        title=f"below its {count} sister runs",
        value=comparison.level,
        limit=comparison.middle - MIN_SPREADS_BELOW * comparison.spread,
        evidence=(
            Evidence(
                comparison.tag, comparison.middle, comparison.level, comparison.since_step, comparison.metric
            ),
        ),
        source="reason: at equal step, against the median of at least three others, in their robust spread",
    )


def without_sister_finding(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings as they were before runs were compared."""
    return tuple(finding for finding in findings if finding.id != FINDING_ID)


def with_sister_finding(
    findings: Iterable[Finding], comparison: SisterComparison | None
) -> tuple[Finding, ...]:
    """Findings with what the comparison says in place of what an earlier one said."""
    own = without_sister_finding(findings)
    found = sister_finding(comparison) if comparison is not None else None
    if found is None:
        return own
    below = next(
        (each for each in own if each.rank > found.rank), None
    )  # a cause is known: a remark beside it
    return (*own, found._replace(severity="info") if below is not None else found)
