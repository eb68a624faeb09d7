"""A configuration as the program sees it; every field has the default that holds when nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import SEVERITIES, Problem, Severity
from rltui.schema.metric import Metric, NameTarget

Range = tuple[float, float]
T = TypeVar("T")

TERMINAL = "terminal"  # bell and notification
COMMAND = "command"
WEBHOOK = "webhook"
RECEIVERS = (TERMINAL, COMMAND, WEBHOOK)


class Threshold(NamedTuple):
    """A user's own rule: a metric beyond a limit for a number of points.

    `metric` is a canonical id or a tag, `*` allowed. The limit is on the canonical scale for an id, as
    written for a tag.
    """

    metric: str
    above: float | None = None
    below: float | None = None
    for_: int = 1  # points in a row
    severity: Severity = "warning"
    message: str = ""
    title: str = ""
    where: str = ""  # file and entry, for messages


class Environment(NamedTuple):
    """What an environment declares: the scale of charts, nothing else."""

    reward_min: float | None = None
    reward_max: float | None = None
    metrics_ranges: Mapping[str, Range] = {}  # sample metric -> low, high


class UserHardware(NamedTuple):
    """What a run trains on, and its model, for estimates of utilisation and hours."""

    gpus: int | None = None
    gpu: str = ""  # its name, such as `H100`
    peak_tflops: float | None = None  # of one GPU, dense 16-bit products; in place of what the name implies
    parameters: float | None = None  # of the model
    active_parameters: float | None = None  # of a mixture of experts, for a token


class UserPane(NamedTuple):
    """A pane of the user's making, or more metrics for a known one."""

    title: str = ""
    metrics: tuple[str, ...] = ()  # canonical ids or tags, `*` allowed


class UserMetric(NamedTuple):
    """A metric of the user's making and the names that lead to it."""

    metric: Metric
    aliases: tuple[str, ...] = ()


class AlertConfig(NamedTuple):
    """The `[alerts]` table. Everything is off unless said. Times are in seconds."""

    bell: bool = False
    notify: Literal["off", "osc9", "osc777"] = "off"
    command: tuple[str, ...] = ()
    webhook: str = ""
    headers: Mapping[str, str] = {}
    severity: Severity = "critical"  # the least that alerts
    severities: Mapping[str, Severity] = {}  # receiver -> least, over `severity`
    runs: tuple[str, ...] = ()
    for_: float = 60.0  # that a finding must fire before it alerts
    for_steps: int = 0  # steps that it must fire as well
    resolve_after: float = 120.0  # that it must be gone to count as resolved
    repeat_interval: float = 3600.0  # between alerts of one finding id in one run
    timeout: float = 5.0  # for one delivery
    resolved: bool = False  # tell also that something is over
    ended: bool = False  # runs that were over when rltui started alert too

    @property
    def receivers(self) -> tuple[str, ...]:
        """The configured receivers."""
        wanted = {
            TERMINAL: self.bell or self.notify != "off",
            COMMAND: bool(self.command),
            WEBHOOK: bool(self.webhook),
        }
        return tuple(name for name, on in wanted.items() if on)

    @property
    def enabled(self) -> bool:
        """Whether anything is to be done at all."""
        return bool(self.receivers)

    def least_rank(self, receiver: str) -> int:
        """The rank in SEVERITIES from which on a receiver gets alerts."""
        return SEVERITIES.index(self.severities.get(receiver, self.severity))

    @property
    def least_rank_of_all(self) -> int:
        """The rank from which on any receiver gets alerts."""
        return min(map(self.least_rank, self.receivers), default=SEVERITIES.index("critical"))

    def covers(self, run: str) -> bool:
        """Whether a run alerts."""
        return not self.runs or any(fnmatchcase(run, glob) for glob in self.runs)


class RemoteConfig(NamedTuple):
    """The `[remote]` table: what remote folders may cost."""

    poll: float = 30.0  # seconds between looks while something changes; longer and longer when nothing does
    requests_per_hour: int = 10_000  # to one remote folder
    disk_megabytes: int = 4_000  # that the mirrors in the cache may take together
    timeout: float = 30.0  # seconds for one answer


class Config(NamedTuple):
    """What the user says and wants."""

    # display: also from rltui.toml beside the logs
    metrics: tuple[UserMetric, ...] = ()
    aliases: Mapping[str, NameTarget | str] = {}  # pattern -> canonical id or entry
    panes: Mapping[str, UserPane] = {}
    thresholds: tuple[Threshold, ...] = ()
    metrics_ranges: Mapping[str, Range] = {}  # canonical id or tag -> low, high
    environments: Mapping[str, Environment] = {}
    frameworks: Mapping[str, str] = {}  # run glob -> framework
    total_steps: Mapping[str, int] = {}  # run glob -> planned steps
    hardware: Mapping[str, UserHardware] = {}  # run glob -> what it trains on

    # the user's own file only
    theme: str | None = None
    smoothing: float | None = None  # weight of the past in a moving average, 0 to 0.999
    poll: float | None = None  # seconds
    pane: str | None = None  # to open on
    ascii: bool | None = None
    color: bool | None = None
    mouse: bool | None = None
    keys: Mapping[str, tuple[str, ...]] = {}  # action -> keys
    alerts: AlertConfig = AlertConfig()
    remote: RemoteConfig = RemoteConfig()

    files: tuple[str, ...] = ()  # that were read
    problems: tuple[Problem, ...] = ()

    def framework_of(self, run: str) -> str | None:
        """The framework that the user says wrote this run."""
        return _first(self.frameworks, run)

    def total_of(self, run: str) -> int | None:
        """The number of steps that the user says are planned for this run."""
        return _first(self.total_steps, run)

    def hardware_of(self, run: str) -> UserHardware:
        """What the user says that this run trains on."""
        return _first(self.hardware, run) or UserHardware()


def _first(table: Mapping[str, T], name: str) -> T | None:
    if name in table:
        return table[name]
    return next((value for glob, value in table.items() if fnmatchcase(name, glob)), None)
