"""The configuration, with all its defaults."""

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
    """A rule of the user: a metric beyond a limit for a number of points.

    metric: a canonical id or a tag, may contain `*`. The limit of an id is on the canonical scale, that of a
    tag on the scale of the log.
    """

    metric: str
    above: float | None = None
    below: float | None = None
    for_: int = 1  # consecutive points
    severity: Severity = "warning"
    message: str = ""
    title: str = ""
    where: str = ""  # file and entry, for messages


class Environment(NamedTuple):
    """Ranges of the metrics of an environment, for the scale of charts only."""

    reward_min: float | None = None
    reward_max: float | None = None
    metrics_ranges: Mapping[str, Range] = {}  # sample metric -> low, high


class UserHardware(NamedTuple):
    """The hardware and the model of a run, for estimates of utilisation and GPU-hours."""

    gpus: int | None = None
    gpu: str = ""  # model, such as `H100`
    peak_tflops: float | None = None  # of one GPU, dense 16-bit products; overrides the value for `gpu`
    parameters: float | None = None  # of the model
    active_parameters: float | None = None  # per token, of a mixture of experts


class UserPane(NamedTuple):
    """A pane defined by the user, or additional metrics for an existing one."""

    title: str = ""
    metrics: tuple[str, ...] = ()  # canonical ids or tags, may contain `*`


class UserMetric(NamedTuple):
    """A metric defined by the user, and the names that stand for it."""

    metric: Metric
    aliases: tuple[str, ...] = ()


class AlertConfig(NamedTuple):
    """The `[alerts]` table. Alerts are off by default. Times are in seconds."""

    bell: bool = False
    notify: Literal["off", "osc9", "osc777"] = "off"
    command: tuple[str, ...] = ()
    webhook: str = ""
    headers: Mapping[str, str] = {}
    severity: Severity = "critical"  # minimum
    severities: Mapping[str, Severity] = {}  # minimum by receiver, overrides `severity`
    runs: tuple[str, ...] = ()  # globs; none: all runs
    for_: float = 60.0  # time that a finding must fire before it is sent
    for_steps: int = 0  # steps that it must also fire
    resolve_after: float = 120.0  # time that it must be absent to count as resolved
    repeat_interval: float = 3600.0  # between alerts of one finding id in one run
    timeout: float = 5.0  # of a delivery
    resolved: bool = False  # send alerts for resolved findings, too
    ended: bool = False  # send alerts for runs that were over when rltui started, too

    @property
    def receivers(self) -> tuple[str, ...]:
        """The configured receivers."""
        configured = {
            TERMINAL: self.bell or self.notify != "off",
            COMMAND: bool(self.command),
            WEBHOOK: bool(self.webhook),
        }
        return tuple(name for name, is_configured in configured.items() if is_configured)

    def least_rank(self, receiver: str) -> int:
        """The minimum severity of a receiver, as index of SEVERITIES."""
        return SEVERITIES.index(self.severities.get(receiver, self.severity))

    @property
    def least_rank_of_all(self) -> int:
        """The lowest minimum severity of all receivers, as index of SEVERITIES."""
        return min(map(self.least_rank, self.receivers), default=SEVERITIES.index("critical"))

    def covers(self, run: str) -> bool:
        """Whether alerts are sent for a run."""
        return not self.runs or any(fnmatchcase(run, glob) for glob in self.runs)


class RemoteConfig(NamedTuple):
    """The `[remote]` table: limits for remote folders."""

    poll: float = 30.0  # seconds between looks while something changes; the interval grows when nothing does
    requests_per_hour: int = 10_000  # to one remote folder
    disk_megabytes: int = 4_000  # of all mirrors in the cache
    timeout: float = 30.0  # seconds for a response


class Config(NamedTuple):
    """The whole configuration."""

    # display: also from rltui.toml next to the logs
    metrics: tuple[UserMetric, ...] = ()
    aliases: Mapping[str, NameTarget | str] = {}  # pattern -> canonical id or entry
    panes: Mapping[str, UserPane] = {}
    thresholds: tuple[Threshold, ...] = ()
    metrics_ranges: Mapping[str, Range] = {}  # canonical id or tag -> low, high
    environments: Mapping[str, Environment] = {}
    frameworks: Mapping[str, str] = {}  # run glob -> framework
    total_steps: Mapping[str, int] = {}  # run glob -> planned steps
    hardware: Mapping[str, UserHardware] = {}  # run glob -> hardware

    # only from the user's own file
    theme: str | None = None
    smoothing: float | None = None  # weight of earlier values in a moving average, 0 to 0.999
    poll: float | None = None  # seconds
    pane: str | None = None  # to open first
    ascii: bool | None = None
    color: bool | None = None
    mouse: bool | None = None
    keys: Mapping[str, tuple[str, ...]] = {}  # action -> keys
    alerts: AlertConfig = AlertConfig()
    remote: RemoteConfig = RemoteConfig()

    files: tuple[str, ...] = ()  # that were read
    problems: tuple[Problem, ...] = ()

    def framework_of(self, run: str) -> str | None:
        """The configured framework of a run."""
        return _value_for_run(self.frameworks, run)

    def total_of(self, run: str) -> int | None:
        """The configured number of planned steps of a run."""
        return _value_for_run(self.total_steps, run)

    def hardware_of(self, run: str) -> UserHardware:
        """The configured hardware of a run."""
        return _value_for_run(self.hardware, run) or UserHardware()


def _value_for_run(table: Mapping[str, T], run: str) -> T | None:
    if run in table:
        return table[run]
    return next((value for glob, value in table.items() if fnmatchcase(run, glob)), None)
