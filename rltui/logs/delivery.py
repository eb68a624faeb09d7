"""Deliveries: batches of log files, and how each relates to earlier batches of its file."""

from __future__ import annotations

from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import EMPTY, Batch

Kind = Literal["points", "newest", "rewritten", "restarted", "gone", "state"]


class Source(NamedTuple):
    """One log file of a run.

    run: the run of its points; empty for problems of folders, and of files that are no logs. For a duplicate,
    whose points are delivered only if all sources were requested, both `run` and `duplicate_of` name the run.
    """

    run: str
    path: str  # relative to LOGDIR, cleaned; unique among all sources
    format: str  # as `Format.name`, empty while it is not known
    size: int = 0  # bytes known to exist
    read: int = 0  # bytes that were parsed
    duplicate_of: str | None = None
    rank: int | None = None  # of the worker that wrote it, from its name
    gone: bool = False  # whether it was deleted
    hung: bool = False  # a file call for it has not returned: it is not read until it does
    modified: float = 0.0  # modification time, seconds since 1970; 0 if unknown
    created: float = 0.0  # creation time, seconds since 1970; 0 if unknown, or if its points are as recent
    caught_up: bool = False  # whether it was read to its end, except for a torn tail or damage


class Delivery(NamedTuple):
    """One message about one source.

    points: the next points.
    newest: a preview of the end of the file while its history is still being read.
    rewritten: the log is delivered again from its first byte, so that its earlier points are dropped. With
        `source.duplicate_of` set, nothing follows in this run: the log belongs to the run that `duplicate_of`
        names, as a duplicate or a part of it.
    restarted: the file was replaced by a new attempt, which supersedes earlier points of the same steps.
    gone: the file was deleted; its points remain.
    state: only the state of the source or its problems changed.
    """

    source: Source
    batch: Batch = EMPTY
    kind: Kind = "points"
