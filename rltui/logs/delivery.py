"""What following logs hands upwards: which log said what, and how that fits what it said before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rltui.batch import EMPTY, Batch, Problem

Kind = Literal["points", "newest", "rewritten", "restarted", "gone", "state"]


@dataclass(frozen=True, slots=True)
class Source:
    """One log file of a run.

    `run` is where its points belong; empty for troubles with folders, and with files that are no logs.
    A twin says again what a run's main source says: both `run` and `also_of` name that run, and none of
    its points are delivered unless all sources were asked for.
    """

    run: str
    path: str  # relative to LOGDIR, cleaned; unique among all sources
    format: str  # as `Format.name`, empty while it is not known
    size: int = 0  # bytes known to be there
    read: int = 0  # bytes settled
    also_of: str | None = None
    rank: int | None = None  # the worker that wrote it, where the name says so
    gone: bool = False
    modified: float = 0.0  # seconds since 1970 by the file system's clock; 0 when unknown
    caught_up: bool = False  # all that was there has been read, except for a torn tail or damage


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message about one source.

    points: the source goes on.
    newest: a preview of the file's end while its history is still being read; replaced by what follows.
    rewritten: the same log starts again from its first byte: forget what this source gave, the content
        comes again. With `source.also_of` set, nothing follows in this run: the log turned out to belong
        to the run that `also_of` names, as a twin or a part of it.
    restarted: the file was replaced by a new attempt: what it gave is superseded from the steps that
        come again.
    gone: the file vanished; what was read stays true.
    state: only the source's state or its problems changed.
    """

    source: Source
    batch: Batch = EMPTY
    kind: Kind = "points"


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """How the following goes, for doctor and the status line. An immutable picture of one moment."""

    file_systems: tuple[tuple[str, str], ...] = ()  # (LOGDIR as given, name of its file system)
    noticing: str = ""  # one line for people: how changes are noticed
    bell: str = "off"  # "on", "off", or why it is not used
    poll: float = 0.0  # seconds between looks at a log that grows, as it is now
    rescan: float = 0.0  # seconds between searches for new logs, as it is now
    files: int = 0
    hot: int = 0  # files that are looked at every `poll`
    twins: int = 0
    gone: int = 0
    folders: int = 0
    pruned: int = 0  # folders not entered: checkpoints, hidden, too deep
    waiting: tuple[str, ...] = ()  # LOGDIRs that do not exist yet
    lag: float | None = None  # seconds from a write to its reading, median of the recent ones
    look: float = 0.0  # seconds that the last look worked
    look_worst: float = 0.0
    scan: float = 0.0  # seconds that the last whole search took
    opened: int = 0  # files opened so far
    bytes_read: int = 0  # bytes read from files so far, identity checks included
    bytes_known: int = 0
    caught_up: bool = False
    problems: tuple[Problem, ...] = field(default=())  # troubles that stand now
