"""Statistics of a step over its samples and prompt groups, for logs with one record per sample."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence

from rltui.common.arrays import median
from rltui.logs.records.flatten import scalars
from rltui.logs.records.parse_number import mean, real
from rltui.logs.records.record_keys import compared, ended_at_limit, log_keys, text_keys, unmeasured_keys
from rltui.logs.records.text_statistics import ResponseTexts

EQUAL = 1e-6  # relative spread below which rewards count as equal: the noise of float32 averages
MIN_CORRELATED = 16  # samples of a correlation, whose standard error is then a quarter
_NESTING = 8


def gini(values: Sequence[float]) -> float:
    """Gini coefficient of n >= 1 finite numbers, from 0 (all equal) to 1 (one of very many has it all).

    The mean absolute difference of all pairs over twice the mean absolute value,
    ``sum_ij |x_i - x_j| / (2 n sum_i |x_i|)``. For numbers >= 0 that is Gini's coefficient (C. Gini,
    Variabilità e mutabilità, 1912; in the sorted form of A. Sen, On Economic Inequality, 1973), whose
    greatest value for n numbers is (n-1)/n. Absolute values in the denominator keep it within [0, 1] for
    rewards of either sign (cf. C.-N. Chen, T.-W. Tsaur, T.-S. Rhai, Oxford Economic Papers 34, 1982, on
    negative incomes). All zeros give 0.
    """
    greatest = max(map(abs, values))
    if greatest == 0:
        return 0.0
    ordered = sorted(value / greatest for value in values)
    count = len(ordered)
    spread = math.fsum((2 * rank - count + 1) * value for rank, value in enumerate(ordered))
    coefficient = spread / (count * math.fsum(map(abs, ordered)))
    return min(max(coefficient, 0.0), 1.0)


def max_median_ratio(lengths: Sequence[float]) -> float | None:
    """The maximum over the median; None for a median of 0."""
    usual = median(lengths)
    return max(lengths) / usual if usual > 0 else None


def all_equal(values: Sequence[float]) -> bool:
    """Whether the rewards of a group give no advantage: their spread is at most `EQUAL` of the largest."""
    low, high = min(values), max(values)
    return high - low <= EQUAL * max(abs(low), abs(high))


def numbers(record: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """The measurements of a sample: its numbers, and its booleans as 0 and 1, so that means are fractions."""
    unmeasured, texts = unmeasured_keys(), text_keys()
    for key, value in record.items():
        if type(value) is float or type(value) is int or type(value) is bool:
            if compared(key) not in unmeasured:
                yield prefix + key, real(value)
        elif isinstance(value, dict) and depth < _NESTING and key not in texts:
            yield from numbers(value, f"{prefix}{key}/", depth + 1)


def group_of(record: Mapping[str, object]) -> object:
    """Identifies the prompt of a sample, hashable; None if unknown. Text is hashed, not kept."""
    for key in log_keys().samples.group:
        value = record.get(key)
        if type(value) is int or type(value) is str:
            return value if type(value) is int else hash(value)
    for key in log_keys().samples.prompt:
        value = record.get(key)
        if value:
            return hash(value) if type(value) is str else hash(repr(value))
    return None


def hit_limit(record: Mapping[str, object]) -> bool | None:
    """Whether the length limit ended a sample; None if unknown."""
    keys = log_keys().samples
    for key in keys.stop_reason:
        if type(reason := record.get(key)) is str:
            return ended_at_limit(reason)
    return next((value for key in keys.truncated if type(value := record.get(key)) is bool), None)


class SampledStep:
    """The samples of one step so far, as numbers by key; more may be added after `aggregates`."""

    def __init__(self, begin: int = 0, after: int | None = None) -> None:
        self.begin = begin  # offset of its first sample
        self.after = after  # step of the sample before that one
        self.wall_time = math.nan
        self.size = 0  # numbers in memory
        self._values: dict[str, array[float]] = {}
        self._group_of: dict[str, array[int]] = {}  # of each value, -1 for none
        self._groups: dict[object, int] = {}
        self._with_stop_reason = self._truncated = 0
        self._texts = ResponseTexts()

    def add(self, record: Mapping[str, object], texts: tuple[str, str] | None = None) -> None:
        """Add one sample. texts: its prompt and its response."""
        if texts is not None:
            self._texts.add(*texts)
        group = group_of(record)
        position = -1 if group is None else self._groups.setdefault(group, len(self._groups))
        for key, value in numbers(record):
            if key not in self._values:
                self._values[key], self._group_of[key] = array("d"), array("l")
            self._values[key].append(value)
            self._group_of[key].append(position)
            self.size += 1
        limit = hit_limit(record)
        if limit is not None:
            self._with_stop_reason += 1
            self._truncated += limit

    def aggregates(self) -> Iterator[tuple[str, float]]:
        """Tag and value of every aggregate.

        Per key `/mean`, `/std` (of the population), `/min`, `/max`, and `/gini`, the mean over the prompt
        groups of two samples and more. Shares ending in `_pct` are percent.
        """
        for key, values in self._values.items():
            yield from _statistics(key, values)
            groups = self._grouped(key)
            if groups:
                yield f"{key}/gini", mean([gini(group) for group in groups])
        lengths = self._grouped(self._key(log_keys().samples.length))
        if lengths:
            yield "group_length_gini_mean", mean([gini(group) for group in lengths])
            ratios = [ratio for group in lengths if (ratio := max_median_ratio(group)) is not None]
            if ratios:
                yield "group_length_max_median_ratio_mean", mean(ratios)
        if self._with_stop_reason:
            yield "stop_reason_length_pct", 100 * self._truncated / self._with_stop_reason
        rewards = self._grouped(self._key(log_keys().samples.reward))
        if rewards:
            equal = [group for group in rewards if all_equal(group)]
            zero = sum(max(map(abs, group)) == 0 for group in equal)
            positive = sum(min(group) > 0 for group in equal)
            yield "zero_advantage_pct", 100 * len(equal) / len(rewards)
            yield "zero_advantage_all_zero_pct", 100 * zero / len(rewards)
            yield "zero_advantage_all_positive_pct", 100 * positive / len(rewards)
        yield from self._texts.statistics()
        followed = self._reward_length_correlation()
        if followed is not None:
            yield "responses/reward_length_correlation", followed

    def _reward_length_correlation(self) -> float | None:
        """Pearson's correlation of reward and length; None if there are few samples or one is constant."""
        samples = log_keys().samples
        rewards, lengths = (
            self._values.get(self._key(wanted), array("d")) for wanted in (samples.reward, samples.length)
        )
        if len(rewards) != len(lengths) or len(rewards) < MIN_CORRELATED:
            return None
        from statistics import StatisticsError, correlation  # also imports fractions and decimals, 8 ms

        try:
            found = correlation(rewards, lengths)
        except (StatisticsError, OverflowError, ValueError):
            return None
        return found if math.isfinite(found) else None

    def _key(self, wanted: Sequence[str]) -> str:
        """The best of the wanted keys in this step, compared by its last part if need be; empty if none."""
        for name in wanted:
            if name in self._values:
                return name
        last = {key.rpartition("/")[2]: key for key in self._values}
        return next((last[name] for name in wanted if name in last), "")

    def _grouped(self, key: str) -> list[list[float]]:
        """Finite values of a key by prompt group, without groups of one."""
        groups: dict[int, list[float]] = {}
        for value, position in zip(self._values.get(key, ()), self._group_of.get(key, ()), strict=True):
            if position >= 0 and math.isfinite(value):
                groups.setdefault(position, []).append(value)
        return [group for group in groups.values() if len(group) > 1]


class LoggedStep:
    """The metrics that a trainer logged for one step, with the interface of `SampledStep`."""

    def __init__(self, begin: int = 0, after: int | None = None) -> None:
        self.begin, self.after = begin, after
        self.wall_time = math.nan
        self._values: dict[str, float] = {}

    @property
    def size(self) -> int:
        """Numbers in memory."""
        return len(self._values)

    def add(self, record: Mapping[str, object], texts: tuple[str, str] | None = None) -> None:
        """Add one record; later values replace earlier ones."""
        self._values.update(scalars(record))

    def aggregates(self) -> Iterator[tuple[str, float]]:
        """Tag and value of every metric."""
        yield from self._values.items()


def _statistics(key: str, values: Sequence[float]) -> Iterator[tuple[str, float]]:
    center = mean(values)
    finite = [value for value in values if math.isfinite(value)]
    yield f"{key}/mean", center
    try:
        yield f"{key}/std", math.sqrt(mean([(value - center) ** 2 for value in values]))
    except OverflowError:
        yield f"{key}/std", math.inf
    if finite:
        yield f"{key}/min", min(finite)
        yield f"{key}/max", max(finite)
