"""The answer of a pane: the same classes for all panes, so that each output format handles them alike.

The names of classes' fields are those of the JSON output, on which programs rely. One that is renamed here
keeps its name there by `pane_report.JSON_NAMES`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_share, format_short, format_step, format_value
from rltui.draw.value_range import share_of

MOSTLY_GONE = -0.95  # a relative change that is given as a factor, not in percent


class Fact(NamedTuple):
    """One number with its unit. `change` is its relative change over `change_steps` steps; None if unknown.

    `formula`: how it was derived; empty if it was logged. `plain`: the text is complete without the title.
    `in_sentence`: it is part of the sentence, so that only JSON repeats it.
    """

    title: str
    value: float
    text: str
    change: float | None = None
    change_steps: int = 0
    formula: str = ""
    plain: bool = False
    in_sentence: bool = False

    @property
    def words(self) -> str:
        """The title, if it is needed, and the number with its unit."""
        return self.text if self.plain else f"{self.title} {self.text}"

    def trend(self, *, in_words: bool = False, steps: bool = True) -> str:
        """`+21 % over 60 steps`, `up 12-fold`, `steady`; empty if unknown.

        in_words: `up 21 %` instead of `+21 %`. steps: whether to give the number of steps.
        """
        change = self.change
        if not change:
            return "" if change is None else "steady"
        if change == -1:  # the value, which is 0, says it
            return ""
        direction = "up" if change > 0 else "down"
        if change >= 2 or -1 < change <= MOSTLY_GONE:
            factor = change + 1 if change > 0 else 1 / (1 + change)
            text = f"{direction} {format_short(factor)}-fold"
        else:
            share = format_share(abs(change))
            text = f"{direction} {share}" if in_words else f"{'+' if change > 0 else '-'}{share}"
        return f"{text} over {format_step(self.change_steps)} steps" if steps else text


def formulas_of(facts: Iterable[Fact]) -> tuple[str, ...]:
    """How those facts were derived that were not logged."""
    return tuple(f"{fact.title} = {fact.formula}" for fact in facts if fact.formula)


class Share(NamedTuple):
    """A part of the stacked bar; the shares of a bar add up to one."""

    title: str
    share: float
    seconds: float
    named: bool = True  # False for the remainder: small phases and time in no phase


class StepPhase(NamedTuple):
    """A line of the table: a phase of a step. `depth` is 0 for phases that are not part of another one.

    `share` is None for a part of another phase and for one that does not run at every step; `note` says
    which. Times are in seconds, `per_token` in milliseconds. `history` are its shares over time, means of
    equal numbers of steps; NaN where they are unknown.
    """

    title: str
    tag: str
    median: float
    p95: float
    share: float | None = None
    depth: int = 0
    note: str = ""
    per_token: float | None = None
    per_token_derived: bool = False
    history: tuple[float, ...] = ()


class Amount(NamedTuple):
    """A line of a table of amounts: a reason for losing rollouts, a component of the reward.

    `share` is None for an amount that is not part of the whole; `note` says what it is. `text` is the amount
    with its unit, empty if only the share is known. `history` as in `StepPhase`.
    """

    title: str
    tag: str
    share: float | None
    value: float | None = None
    text: str = ""
    note: str = ""
    history: tuple[float, ...] = ()


class Range(NamedTuple):
    """A range on the scale that all ranges of an answer share; `middle` is its median, `text` its values."""

    title: str
    low: float
    middle: float
    high: float
    text: str


class Band(NamedTuple):
    """A distribution over steps: (n,) ends and mean of equal intervals of steps, NaN where unknown.

    `words` names the statistics of ends, inner ends and mean. Inner ends are empty if they are unknown.
    """

    title: str
    tag: str
    words: str
    unit: str
    steps: tuple[int, int]  # the first and the last
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]
    inner_low: tuple[float, ...] = ()
    inner_high: tuple[float, ...] = ()


class Ridge(NamedTuple):
    """Histograms over time between `low` and `high`: for each interval of steps, oldest first, shares by bin.

    The shares of a row add up to one. `source` names their origin, such as logged histograms.
    """

    title: str
    tag: str
    unit: str
    low: float
    high: float
    steps: tuple[tuple[int, int], ...]
    rows: tuple[tuple[float, ...], ...]
    source: str


class GanttRow(NamedTuple):
    """The disjoint times, (begin, end) in seconds since the step began, in which spans of one name ran.

    `seconds` is their total duration, `count` the number of spans.
    """

    title: str
    spans: tuple[tuple[float, float], ...]
    seconds: float
    count: int = 1  # type: ignore[assignment]  # its name in JSON; no tuple is counted


class Gantt(NamedTuple):
    """The spans of one step by name, in the order in which they begin.

    `step` is None for an interval of time that cannot be assigned to a step; `title` names it, `source` the
    file.
    """

    step: int | None
    seconds: float
    rows: tuple[GanttRow, ...]
    title: str
    source: str = ""


class Strip(NamedTuple):
    """One value for each rank, worker or device, by its number."""

    title: str
    ranks: tuple[int, ...]
    values: tuple[float, ...]
    text: str  # the extremes with their unit


class DeviceCell(NamedTuple):
    """A value of a device as text; `heat` (0 to 1) determines its colour, None for none."""

    text: str
    heat: float | None = None


def device_cell(value: float | None, unit: str, scale: tuple[float, float] | None) -> DeviceCell:
    """A value with its unit, coloured by its position on a scale; `–` if it is unknown."""
    if value is None or not math.isfinite(value):
        return DeviceCell("–")
    return DeviceCell(format_value(value, unit), None if scale is None else share_of(value, *scale))


class Device(NamedTuple):
    """A GPU: a cell for each column of the table, and its utilisation over time (0..1, NaN if unknown)."""

    title: str
    cells: tuple[DeviceCell, ...]
    history: tuple[float, ...] = ()
    note: str = ""  # such as `idle`


class DeviceTable(NamedTuple):
    """GPUs by node. Histories and `phases` divide the same time, `seconds` in total, into equal intervals.

    `phases` has the index in `phase_titles` of each interval's phase of a step, -1 if it is unknown.
    """

    columns: tuple[str, ...]
    devices: tuple[Device, ...]
    seconds: float = 0.0
    phases: tuple[int, ...] = ()
    phase_titles: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What a pane shows above its metrics. Empty fields are not shown; `sentence` is never empty.

    `shares_of` names the whole of the shares. `marks` are values marked on the scale of the ranges.
    `inside` maps tags of phases to the tag of the phase that they are part of.
    """

    sentence: str
    facts: tuple[Fact, ...] = ()
    shares_of: str = ""
    shares: tuple[Share, ...] = ()
    parts: tuple[StepPhase, ...] = ()
    inside: Mapping[str, str] = {}
    amounts: tuple[Amount, ...] = ()
    amounts_words: tuple[str, str] = ("", "")  # headings of titles and amounts
    ranges: tuple[Range, ...] = ()
    scale: tuple[float, float] = (0.0, 1.0)
    marks: tuple[float, ...] = ()
    strips: tuple[Strip, ...] = ()
    bands: tuple[Band, ...] = ()
    ridges: tuple[Ridge, ...] = ()
    gantt: Gantt | None = None
    devices: DeviceTable | None = None
    notes: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
