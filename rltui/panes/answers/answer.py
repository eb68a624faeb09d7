"""The answer of a pane: one shape for all panes, so that every form of output draws it the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from rltui.common.data_class import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One number with its unit. `change` is its relative change over `change_steps` steps; None unknown.

    `formula`: how it was derived; empty for what was logged. `plain`: the text says all without the title.
    `told`: the sentence says it already, so that only data repeats it.
    """

    title: str
    value: float
    text: str
    change: float | None = None
    change_steps: int = 0
    formula: str = ""
    plain: bool = False
    told: bool = False

    @property
    def words(self) -> str:
        """The title, where it is needed, and the number with its unit."""
        return self.text if self.plain else f"{self.title} {self.text}"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the stacked bar; the shares of a bar add up to one."""

    title: str
    share: float
    seconds: float
    named: bool = True  # False for what is left over: small phases and time in no phase


@dataclass(frozen=True, slots=True)
class StepPhase:
    """A line of the table: a phase of a step. `depth` is 0 for those that the shares are made of.

    `share` is None for what is inside another phase or does not run at every step; `note` says so. Times are
    in seconds, `per_token` in milliseconds. `history` are its shares over time, means of equal
    numbers of steps; NaN where they are unknown.
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


@dataclass(frozen=True, slots=True)
class Amount:
    """A line of a table of amounts: a reason for losing rollouts, a component of the reward.

    `share` is None for what is no part of the whole; `note` says what it is then. `text` is the amount with
    its unit, empty where only the share is known. `history` as of a part.
    """

    title: str
    tag: str
    share: float | None
    value: float | None = None
    text: str = ""
    note: str = ""
    history: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Range:
    """A range on the scale that all ranges of an answer share: `low`, `middle`, `high`, as text, too."""

    title: str
    low: float
    middle: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Band:
    """A distribution over steps: (n,) ends and middle of equal stretches of steps, NaN where unknown.

    `words` say what ends, inner ends and middle are. Inner ends are empty where they are unknown.
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


@dataclass(frozen=True, slots=True)
class Ridge:
    """Histograms over time between `low` and `high`: for each stretch of steps, oldest first, shares by bin.

    The shares of a row add up to one. `source` says what they are made of.
    """

    title: str
    tag: str
    unit: str
    low: float
    high: float
    steps: tuple[tuple[int, int], ...]
    rows: tuple[tuple[float, ...], ...]
    source: str


@dataclass(frozen=True, slots=True)
class GanttRow:
    """What ran under one name: (begin, end) in seconds since the step began, apart from each other.

    `seconds` is how long at least one of `count` spans ran.
    """

    title: str
    spans: tuple[tuple[float, float], ...]
    seconds: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Gantt:
    """What ran when in one step, by rows in the order in which they begin.

    `step` is None for a stretch of time of which the log does not say in which step it was; `title` names
    it, `source` the file.
    """

    step: int | None
    seconds: float
    rows: tuple[GanttRow, ...]
    title: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """One value of each rank, worker or device, by its number."""

    title: str
    ranks: tuple[int, ...]
    values: tuple[float, ...]
    text: str  # the extremes with their unit


@dataclass(frozen=True, slots=True)
class DeviceCell:
    """A value of a device as text; `heat` is where it lies between 0 and 1 for its colour, None for none."""

    text: str
    heat: float | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU: a cell for each column of the table, and its use over time (0..1, NaN where it is unknown)."""

    title: str
    cells: tuple[DeviceCell, ...]
    history: tuple[float, ...] = ()
    note: str = ""  # such as `idle`


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """GPUs by node. Histories and `phases` have equal pieces of the same time, `seconds` in all.

    `phases` holds for each piece the index of the phase of a step in `phase_titles`, -1 where it is unknown.
    """

    columns: tuple[str, ...]
    devices: tuple[Device, ...]
    seconds: float = 0.0
    phases: tuple[int, ...] = ()
    phase_titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a pane says first. Empty parts are left out; `sentence` is never empty.

    `shares_of` says what the shares are shares of. `marks` are values marked on the scale of the ranges.
    `inside` says by tag which other one it is a part of.
    """

    question: str
    sentence: str
    facts: tuple[Fact, ...] = ()
    shares_of: str = ""
    shares: tuple[Share, ...] = ()
    parts: tuple[StepPhase, ...] = ()
    inside: Mapping[str, str] = field(default_factory=dict)
    amounts: tuple[Amount, ...] = ()
    amounts_words: tuple[str, str] = ("", "")  # over the titles and over the amounts
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
