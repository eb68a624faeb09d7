"""The session and what the user has chosen of it: read by pages, changed by the functions in `input`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.draw.themes import DEFAULT, PLAIN, Theme
from rltui.panes.charts.value_axis import Ranges
from rltui.panes.rows.row import Row
from rltui.panes.runs.run_facts import RunFacts, RunHParams
from rltui.screen.acknowledgements import Acknowledgements
from rltui.screen.input.key_table import Keys
from rltui.screen.saved_layout import SavedLayout
from rltui.screen.threads.screen_threads import ScreenThreads
from rltui.session.session import Session

if TYPE_CHECKING:  # imported later than the first values
    from rltui.logs.sample_layouts.sample import SampleHead
    from rltui.panes.baseline.comparison import Difference
    from rltui.panes.context_panes.hparams_pane import HParamsPane
    from rltui.panes.context_panes.samples_pane import SamplesPane
    from rltui.panes.pane import PaneView
    from rltui.panes.render.sample_view import SampleView
    from rltui.panes.runs.table import Choices, RunListing
    from rltui.run_context.console.line_at_time import TimeAndStep
    from rltui.run_context.console.lines import LineLevel
    from rltui.run_context.samples.sample_query import SortKey
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings

WINDOW_SHARES = (1.0, 0.25, 1 / 16)  # of the run, shown by panes
SAMPLES = "samples"  # the id of their pane
PINNED = "pinned"  # the id of the pane of pinned metrics
CONSOLE = "console"  # the id of that of consoles
DENSITIES = ("auto", "compact", "full")
SMOOTHINGS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99)  # EMA weights of charts
DEFAULT_SMOOTHING = 4  # index into SMOOTHINGS
MESSAGE_SECONDS = 3.0  # plus the time to read it
SECONDS_PER_CHARACTER = 0.05

Range: TypeAlias = tuple[float, float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """Settings that are fixed when the screen is opened."""

    logdirs: tuple[str, ...] = ()
    clock: Callable[[], float] = time.time
    keys: Keys = field(default_factory=Keys)
    themes: Mapping[str, Theme] = field(default_factory=lambda: {PLAIN.id: PLAIN})
    ascii_only: bool = False
    run_glob: str = ""  # a glob or an expression; empty for all runs


@dataclass(slots=True)
class Selection:
    """The run, pane and rows that are shown and selected; the runs and tags drawn with them."""

    run: str | None = None
    run_chosen: bool = False  # by the user; until then the run written last is shown
    pane: str = "overview"
    pane_recalled: bool = False  # restored from an earlier session, maybe with other runs
    rows: dict[str, str] = field(default_factory=dict)  # by pane: tag, hyperparameter, index of a finding
    marked_runs: list[str] = field(default_factory=list)  # drawn over the charts of the run shown
    evidence: int = 0  # of the selected finding
    unfolded: set[str] = field(default_factory=set)  # findings whose consequences are shown
    branches: dict[str, bool] = field(default_factory=dict)  # by tag: opened or closed by the user
    added_tags: list[str] = field(default_factory=list)  # drawn in large charts of other metrics
    baseline: str | None = None

    @property
    def row(self) -> str:
        """The row selected in the pane shown; empty for the first."""
        return self.rows.get(self.pane, "")

    @row.setter
    def row(self, row: str) -> None:
        self.rows[self.pane] = row


@dataclass(slots=True)
class TimeTravel:
    """The moment and the share of the run that are shown."""

    at_step: int | None = None  # None: now
    frozen_now: float | None = None  # seconds since 1970, while paused or in the past
    crosshair: int | None = None  # the step marked on all charts of a pane
    reached: int | None = None  # the last step when the user went back in time
    window: int = 0  # index into WINDOW_SHARES

    @property
    def share(self) -> float:
        """The share of the run that panes show, from its end."""
        return WINDOW_SHARES[self.window]

    def resume(self) -> None:
        """Return to the present."""
        self.at_step = self.frozen_now = self.reached = None


# ---- overlays


ListKind: TypeAlias = Literal[
    "help", "problems", "explain", "setting", "runs", "palette", "beside", "instead", "group", "column"
]
# Lists whose query is searched for in them.
READ_LISTS: tuple[ListKind, ...] = ("help", "problems", "explain", "setting")
# Lists in which printable keys are always text of the query.
TYPED_LISTS: tuple[ListKind, ...] = ("palette", "beside", "instead", "group", "column")


@dataclass(frozen=True, slots=True)
class ListDrawn:
    """What the last frame drew of a list."""

    at: int = 0
    top: int = 0  # first line in sight
    rows: int = 10  # that fit
    lines: int = 0  # in all
    items: tuple[tuple[int, str], ...] = ()  # line and argument of each selectable item
    found: tuple[int, ...] = ()  # lines with a match
    match: int | None = None  # line of the current one
    size: tuple[int, int] = (80, 24)  # cells for its content
    tall: int = 0  # height that a palette keeps while the user types


@dataclass(slots=True, eq=False)
class ListOverlay:
    """A list over the panes with a selected item; what is read scrolls by lines, with or without items.

    kind: help, the table of problems, the explanation of a metric, a setting in full, the runs, the palette;
    a choice of metrics to draw beside or instead of that of a large chart, or of a group or column of the
    list of runs. of: the key of the setting, the tag of the chart, or the name of the selected run. match:
    the line of the current match; None until the first one is drawn.
    """

    kind: ListKind
    of: str = ""
    row: Row | None = None  # of the explanation
    at: int = 0
    top: int = 0
    query: str = ""
    typing: bool = False  # printable keys are text of the query
    match: int | None = None
    drawn: ListDrawn = ListDrawn()

    def __post_init__(self) -> None:
        self.typing = self.kind in TYPED_LISTS

    @property
    def key_context(self) -> str:
        """The context of its key bindings."""
        return "runs" if self.kind == "runs" else "list"

    @property
    def searches(self) -> bool:
        """Whether it is read: it scrolls by lines, and its query searches them; that of others filters."""
        return self.kind in READ_LISTS


@dataclass(slots=True, eq=False)
class FilterPrompt:
    """The prompt for a filter, in the last line."""

    key_context: str = "list"
    typing: bool = True


Spread: TypeAlias = Literal["fitted", "whole", "none"]


class ChartDrawn(NamedTuple):
    """What the last frame drew of a large chart."""

    x: Range = (0.0, 1.0)
    y: Range | None = None  # kept, so that the axis does not move with every point
    columns: int = 100  # cells of the plot
    curve_columns: int = 200  # buckets of curves: two for each cell
    points: int = 0  # of the first curve
    log: bool = False


@dataclass(slots=True, eq=False)
class ChartOverlay:
    """The large chart of a row."""

    row: Row
    log: bool | None = None  # None: automatic, for values over three decades
    spread: Spread = "fitted"  # of a distribution: how much of it the axis shows
    superseded: bool = False  # whether points of earlier attempts are shown
    zoom: Range | None = None
    cursor: float | None = None
    drawn: ChartDrawn = field(default_factory=ChartDrawn)
    y_range: Range | None = None  # of the last frame; None: to be computed
    key_context: str = "chart"
    typing: bool = False


class SampleDrawn(NamedTuple):
    """What the last frame drew of a sample."""

    top: int = 0  # first line in sight
    rows: int = 10  # that fit
    found: tuple[int, ...] = ()  # lines that hold what was searched for


@dataclass(slots=True, eq=False)
class SampleOverlay:
    """One sample in full, or its response compared with that of another sample."""

    head: SampleHead
    top: int = 0
    unfolded: bool = False  # reasoning is shown
    query: str = ""  # searched for
    other: SampleHead | None = None
    comparison: Literal["difference", "beside"] = "difference"
    typing: bool = False
    drawn: SampleDrawn = field(default_factory=SampleDrawn)
    key_context: str = "samples"


Overlay: TypeAlias = ListOverlay | FilterPrompt | ChartOverlay | SampleOverlay


# ---- what the last frame drew, and cached values


class PaneDrawn(NamedTuple):
    """What the last frame drew of a pane."""

    top: int = 0  # first line in sight
    rows: int = 10  # by which a page key moves
    card_columns: int = 1
    cards: int = 0  # in sight; 0 where rows are shown
    width: int = 0  # cells, where keys depend on it


Drawn: TypeAlias = PaneDrawn | ListDrawn | ChartDrawn | SampleDrawn


@dataclass(slots=True, eq=False)
class Cached(Generic[T]):
    """A cached value with its key."""

    key: object = None
    value: T | None = None
    version: int = -1  # of the run
    time: float = 0.0  # when it was computed, seconds since 1970

    def of(self, key: object, make: Callable[[], T], *, now: float = 0.0, seconds: float = math.inf) -> T:
        """The value, computed again if its key has changed or it is older than so many seconds."""
        if self.value is None or self.key != key or not 0 <= now - self.time <= seconds:
            self.key, self.time, self.value = key, now, make()
        return self.value


@dataclass(slots=True, eq=False)
class Caches:
    """Values that several parts of a frame use; each is computed again when its key has changed."""

    past_findings: Cached[PastFindings] = field(default_factory=Cached)
    differences: Cached[Mapping[str, Difference]] = field(default_factory=Cached)
    baseline: Cached[str] = field(default_factory=Cached)  # the run compared with the baseline
    short_names: Cached[dict[str, str]] = field(default_factory=Cached)
    pane: Cached[PaneView] = field(default_factory=Cached)
    open_branches: Cached[tuple[PaneView, PaneView]] = field(default_factory=Cached)  # all and open rows
    cards: Cached[tuple[list[Row], list[Row]]] = field(default_factory=Cached)
    hparams: Cached[HParamsPane] = field(default_factory=Cached)
    samples: Cached[SamplesPane] = field(default_factory=Cached)
    sample: Cached[SampleView] = field(default_factory=Cached)
    runs: Cached[RunListing] = field(default_factory=Cached)
    run_facts: Cached[list[RunFacts]] = field(default_factory=Cached)
    prepared_runs: dict[str, int] = field(default_factory=dict)  # by name, the version with computed facts
    unprepared_runs: list[str] = field(default_factory=list)
    run_titles: Cached[dict[int, dict[str, str]]] = field(default_factory=Cached)
    run_choices: Cached[Choices] = field(default_factory=Cached)
    sisters: Cached[list[RunView]] = field(default_factory=Cached)


@dataclass(slots=True)
class HParamsView:
    """The config pane: whether only differences are shown (None: if there are any)."""

    only_differences: bool | None = None


@dataclass(slots=True)
class SamplesView:
    """The samples pane: the step, order and filter of the list."""

    step: int | None = None  # None: the newest
    sort: SortKey | None = None  # None: as they were written
    reverse: bool = False
    query: str = ""
    origin: tuple[str, list[Overlay]] | None = None  # the pane and overlays from which it was opened


@dataclass(slots=True)
class ConsoleView:
    """The console pane: the console shown, the selected line, level and search."""

    run: str = ""  # of the console
    place: str = ""  # of the console shown
    at: int | None = None  # byte offset of the selected line; None: follow the end
    level: LineLevel = ""  # only lines of this level or worse
    query: str = ""
    unfolded: set[int] = field(default_factory=set)  # offsets of lines shown in full
    wanted: TimeAndStep | None = None  # to go to, once it is located
    charted: Row | None = None  # of the chart from which the console was opened


class Searched(NamedTuple):
    """What LOGDIRs without a run hold."""

    files: int
    folders: int
    unread: Mapping[str, int]  # sizes of files that may be logs, by path


Request: TypeAlias = tuple[Literal["copy", "theme", "redraw"], str]  # to be executed by the app


@dataclass(slots=True, eq=False)
class AppState:
    """The state of the screen: the user's selections, beside the session and what threads have read.

    threads: owned by the app, which starts and stops them; pages only take what they have read.
    """

    session: Session = field(default_factory=Session)
    options: Options = field(default_factory=Options)
    saved: SavedLayout = field(default_factory=SavedLayout)
    selection: Selection = field(default_factory=Selection)
    time: TimeTravel = field(default_factory=TimeTravel)
    metric_query: str = ""  # filter of metrics
    overlays: list[Overlay] = field(default_factory=list)
    theme_id: str = ""  # in use; `saved` has only the one chosen by key
    smoothing: int = DEFAULT_SMOOTHING
    loading: float | None = None  # share read, None when all is read
    looking: bool = False  # whether the LOGDIRs have not been searched once so far
    missing: tuple[str, ...] = ()  # LOGDIRs that do not exist yet
    searched: Searched | None = None  # None: not known yet, or there is a run
    exit_code: int | None = None
    requests: list[Request] = field(default_factory=list)
    drawn: dict[str, PaneDrawn] = field(default_factory=dict)  # by pane
    ranges: Ranges = field(default_factory=Ranges)
    caches: Caches = field(default_factory=Caches)
    threads: ScreenThreads = field(default_factory=ScreenThreads)
    hparams: HParamsView = field(default_factory=HParamsView)
    samples: SamplesView = field(default_factory=SamplesView)
    console: ConsoleView = field(default_factory=ConsoleView)
    acknowledgements: Acknowledgements = field(init=False)
    run_hparams: RunHParams = field(init=False)
    _message: tuple[str, float] = ("", 0.0)

    def __post_init__(self) -> None:
        self.acknowledgements = Acknowledgements(self.saved)
        self.run_hparams = RunHParams(self.threads.hparams.of)

    @property
    def now(self) -> float:
        """Seconds since 1970; constant while paused."""
        return self.options.clock() if self.time.frozen_now is None else self.time.frozen_now

    @property
    def theme(self) -> Theme:
        """The theme in use."""
        themes = self.options.themes
        known = next((name for name in (self.theme_id, DEFAULT) if name in themes), next(iter(themes)))
        return themes[known]

    @property
    def on_samples(self) -> bool:
        """Whether the pane shown is that of samples."""
        return self.selection.pane == SAMPLES

    @property
    def on_console(self) -> bool:
        """Whether the pane shown is that of consoles."""
        return self.selection.pane == CONSOLE

    @property
    def shown_pane(self) -> str:
        """The pane that is drawn: `all` if a pane that shows a selection of metrics is filtered."""
        pane = self.selection.pane
        return "all" if self.metric_query and pane in ("overview", PINNED, "findings") else pane

    @property
    def query(self) -> str:
        """The filter of the pane shown; for consoles the search."""
        if self.on_console:
            return self.console.query
        return self.samples.query if self.on_samples else self.metric_query

    @query.setter
    def query(self, query: str) -> None:
        if self.on_console:
            self.console.query = query
        elif self.on_samples:
            self.samples.query = query
        else:
            self.metric_query = query

    @property
    def overlay(self) -> Overlay | None:
        """The topmost overlay."""
        return self.overlays[-1] if self.overlays else None

    @property
    def drawn_pane(self) -> PaneDrawn:
        """What the last frame drew of the pane shown."""
        return self.drawn.get(self.selection.pane, PaneDrawn())

    @property
    def message(self) -> str:
        """The current message; empty after a few seconds."""
        text, until = self._message
        return text if self.options.clock() < until else ""

    def notify(self, text: str) -> None:
        """Show a message in the footer until it can be read, or until the next key."""
        self._message = (text, self.options.clock() + MESSAGE_SECONDS + SECONDS_PER_CHARACTER * len(text))

    def clear_message(self) -> None:
        """Remove the message."""
        self._message = ("", 0.0)
