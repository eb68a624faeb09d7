"""What reading logs delivers: which log file said what, and how that fits what it said before."""

from __future__ import annotations

from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.logs.batch import EMPTY, Batch

Kind = Literal["points", "newest", "rewritten", "restarted", "gone", "state"]


class Source(NamedTuple):
    """One log file of a run.

    `run` is where its points belong; empty for problems of folders, and of files that are no logs.
    A twin says again what a run's main source says: both `run` and `duplicate_of` name that run, and none of
    its points are delivered unless all sources were asked for.
    """

    run: str
    path: str  # relative to LOGDIR, cleaned; unique among all sources
    format: str  # as `Format.name`, empty while it is not known
    size: int = 0  # bytes known to be there
    read: int = 0  # bytes settled
    duplicate_of: str | None = None
    rank: int | None = None  # the worker that wrote it, where the name says so
    gone: bool = False
    hung: bool = False  # a file call for it has not come back: nothing more is read until it does
    modified: float = 0.0  # seconds since 1970 by the file system's clock; 0 when unknown
    caught_up: bool = False  # all that was there has been read, except for a torn tail or damage


class Delivery(NamedTuple):
    """One message about one source.

    points: the source goes on.
    newest: a preview of the file's end while its history is still being read; replaced by what follows.
    rewritten: the same log starts again from its first byte: forget what this source gave, the content
        comes again. With `source.duplicate_of` set, nothing follows in this run: the log turned out to belong
        to the run that `duplicate_of` names, as a twin or a part of it.
    restarted: the file was replaced by a new attempt: what it gave is superseded from the steps that
        come again.
    gone: the file vanished; what was read stays true.
    state: only the source's state or its problems changed.
    """

    source: Source
    batch: Batch = EMPTY
    kind: Kind = "points"
