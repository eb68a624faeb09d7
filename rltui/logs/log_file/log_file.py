"""One followed log: its file, its reader, and changes of both since the last visit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rltui.common.problem import Problem
from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.delivery import Kind, Source
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.container import PartFile
from rltui.logs.formats.interface import BLOCK, HEAD, File, Format, LogReader, read_to_end
from rltui.logs.formats.lines.line_splitter import first_text
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.found_file import FoundFile
from rltui.logs.local_file import FETCHED_ENDS, LocalFile, stamp
from rltui.logs.log_contents import decompressed_head
from rltui.logs.log_file import file_identity
from rltui.logs.log_file.file_identity import EarlierContent, FileIdentity
from rltui.logs.log_file.format_detection import FormatDetection
from rltui.logs.log_file.read_errors import ReadErrors
from rltui.logs.log_file.skipped_damage import DamageRecheck
from rltui.logs.log_file_names import is_events
from rltui.logs.run_names import named_of_part, part_prefix

Piece = tuple[Kind, Batch]
# Seconds until a torn tail is read again although the attributes of its file did not change.
_MIN_RECHECK, _MAX_RECHECK = 0.5, 30.0
# Seconds by which the newest points of a copy are older than its file: fewer are a pause of the training,
# which counts as its end after an hour at the earliest.
COPIED_AGE = 3600.0
_KEPT_CONTENTS = 32  # earlier contents by which rotated copies are recognised; each takes some kilobytes
_CUT = "the file was replaced or cut and begins anew; what it said before is kept as superseded"


class LogFile:
    """The state of one log between visits. Used by one worker at a time; has no open descriptor."""

    def __init__(self, found: FoundFile, formats: FormatRegistry, *, verify: bool = False) -> None:
        self.found = found
        self._recognition = FormatDetection(found.name, found.path, formats, explicit=found.explicit)
        self._verify = verify
        self.run = found.run
        self.duplicate_of: str | None = None
        self.tag_map: Callable[[str], str] | None = None  # renames the tags of a folded sub-run
        self._prefix = part_prefix(found.path)
        self.format: Format | None = None
        self._format_name = ""  # also while the log is opened again
        self.reader: LogReader | None = None
        self.size = 0
        self.modified = 0.0
        self.created = 0.0  # see `Source.created`
        self.last_change = 0.0  # monotonic time
        self.last_growth = float("-inf")  # the same, of changes while it was followed
        self.schedule_turn = 0  # its valid entry in the schedule; earlier ones are ignored
        self.unrequested = False  # its run was not requested: opened only to compare it with others
        self.gone = False
        self.hung = False  # a file call for it, or those for its device, have not returned
        self.opened = False  # visited at least once
        self.caught_up = False  # it was read to its end
        self.previewed = False
        self.published = False  # points or a preview of it were delivered
        self.delivered = False  # anything was delivered, at least its state
        self.tags: Sequence[str] = ()  # of its delivered points, with the names in its run
        self.finished = False  # an incomplete record at its end was read, since nothing later is
        self.queued = False  # waits in the history queue
        self.recheck = False  # to be opened again even if its attributes do not change
        self._recheck_at = 0.0
        self.generation = 0  # how often it was read again from its first byte
        self.opening: list[Piece] = []  # found when it was opened, to be delivered with its run
        self.rotated: Sequence[LogFile] = ()  # all logs that were rotated from one name, including this one
        self.earlier: list[EarlierContent] = []  # that was read here and is elsewhere now
        self.absorbed: set[str] = set()  # rotated copies that were read as part of this log
        self.errors = ReadErrors(found.path)
        self._announced = False
        self._pending: Kind | None = None
        self._stamp: tuple[int, ...] = ()
        self._identity = FileIdentity()
        self._damage = DamageRecheck()

    @property
    def offset(self) -> int:
        """Bytes that were parsed."""
        return self.reader.offset if self.reader is not None else 0

    @property
    def unread(self) -> int:
        """Bytes known to exist that were not parsed."""
        return max(0, self.size - self.offset)

    @property
    def readable(self) -> bool:
        """Whether it can be read now."""
        return self.reader is not None and not (self.hung or self.gone or self.errors.count)

    @property
    def complete(self) -> bool:
        """Whether its file still has all content that was read: nothing was rotated away or replaced."""
        moved = self.earlier and not (self.format is not None and self.format.rewrites)
        return not (self.gone or self.hung or self.absorbed or moved)

    def source(self) -> Source:
        """The present state of the log for consumers."""
        # A file without a format may have problems, but belongs to no run, except for an empty event file.
        is_log = self._format_name or is_events(self.found.name)
        return Source(
            run=self.run if is_log else "",
            path=self.found.path,
            format=self._format_name,
            size=self.size,
            read=self.offset,
            duplicate_of=self.duplicate_of,
            rank=self.found.rank,
            gone=self.gone,
            hung=self.hung,
            modified=self.modified,
            created=self.created,
            caught_up=self.caught_up and self.found.place not in FETCHED_ENDS,
        )

    def renamed(self, batch: Batch) -> Batch:
        """The batch with the tags of the run, for the log of a folded sub-run or of a part of a training."""
        rename = self.tag_map or (partial(named_of_part, self._prefix) if self._prefix else None)
        if rename is None or not batch.tags:
            return batch
        return replace(batch, tags=[rename(tag) for tag in batch.tags], written=batch.tags)

    def file(self, calls: Calls) -> LocalFile | PartFile:
        """The file, to be opened for a visit."""
        if self.found.part is not None:
            return PartFile(self.found.part, self.found.path, calls)
        return LocalFile(self.found.place, self.found.path, calls)

    def presume(self, status: os.stat_result) -> None:
        """Set what is known without opening the file: size, modification time, perhaps the format."""
        self.size, self.modified = status.st_size, status.st_mtime
        new = not (self.rotated or self.opened or self.reader)
        if new and (known := self._recognition.presume(status)) is not None:
            self._set_format(known)

    @property
    def presumed(self) -> Format | None:
        """The format by the name, until the file is opened."""
        return self._recognition.presumed

    def visit(
        self,
        calls: Calls,
        now: float,
        *,
        trust: bool,
        until: Callable[[], bool] | None,
        limit: int = BLOCK,
        last: bool = False,
    ) -> list[Piece]:
        """Check the file and read new content, until `until` returns true. Raises no OSError.

        trust: whether attributes of the path are up to date, so that an unchanged file need not be opened.
        until: None to only check and recognise the file. limit: a larger backlog is left to the history.
        last: later content is not read, so the end of the file is read as by `finish`.
        Raises GivenUpError if the worker was replaced before anything had been read.
        """
        pieces: list[Piece] = []
        if self.presumed is not None and until is None:
            return pieces
        calls.subject = self
        try:
            forced = (self.recheck and now >= self._recheck_at) or self._damage.due(now)
            if trust and (self.caught_up or until is None) and self._unchanged(calls, forced):
                return pieces
            with self.file(calls) as file:
                self.opened = True
                if self.gone:
                    self.gone = False
                    pieces.append(("state", EMPTY))
                if self._check(file, calls, now, trust, forced, pieces) and until is not None:
                    self.caught_up = self.caught_up and self.unread <= limit
                    if self.unread <= limit:
                        self._advance(file, until, pieces, last=last)
                        self._note_creation(file, pieces)
                        for _, batch in pieces:
                            self._damage.note(batch.problems, file, self.offset, now)
                self._plan_recheck(now)
            _add(pieces, self.errors.resolve())
        except GivenUpError:
            if not pieces:
                raise
        except (FileNotFoundError, NotADirectoryError):
            self._deleted(calls, pieces)
        except OSError as error:
            self._failed(self.errors.failed(error), pieces)
        except Exception as error:  # noqa: BLE001 - an unexpected error of a reader must not end other logs
            self._failed(self.errors.broke(error), pieces)
        return pieces

    def is_unchanged(self, calls: Calls, now: float) -> bool:
        """Whether nothing is to be done by the file's attributes, the usual case. Raises GivenUpError."""
        calls.subject = self
        if not self.caught_up:
            return False
        forced = (self.recheck and now >= self._recheck_at) or self._damage.due(now)
        try:
            return self._unchanged(calls, forced)
        except OSError:
            return False

    def _unchanged(self, calls: Calls, forced: bool) -> bool:
        if forced or not self.opened or self.gone or self.errors.count:
            return False
        if self.found.part is not None:
            return calls.run(self.found.place, self.found.part.stamp) == self._stamp
        return stamp(calls.run(self.found.place, os.stat, self.found.place)) == self._stamp

    def newest(self, calls: Calls, length: int) -> list[Piece]:
        """A preview of the last `length` bytes. Problems are left to the next visit; raises GivenUpError."""
        self.previewed = True
        batch = self._read_with(calls, lambda reader, file: reader.newest(file, length))
        return [("newest", batch)] if batch else []

    def finish(self, calls: Calls) -> list[Piece]:
        """Read the incomplete end of a file that will not grow any more. Raises GivenUpError only."""
        if self.finished:
            return []
        if self.reader is None and self._announced and self.size and not self.gone:
            message = f"all of its {self.size} bytes are zero: they never arrived, or the file is damaged"
            return [("state", Batch(problems=(Problem("warning", "zeros", self.found.path, message),)))]
        batch = self._read_with(calls, lambda reader, file: reader.finish(file))
        return [("points", batch)] if batch else []

    def _read_with(self, calls: Calls, read: Callable[[LogReader, File], Batch]) -> Batch:
        calls.subject = self
        if self.reader is None:
            return EMPTY
        try:
            with self.file(calls) as file:
                return read(self.reader, file)
        except GivenUpError:
            raise
        except OSError:
            return EMPTY
        except Exception as error:  # noqa: BLE001 - an unexpected error of a reader must not end other logs
            problem = self.errors.broke(error)
            return Batch(problems=(problem,)) if problem else EMPTY

    def close(self) -> None:
        """Free the reader's buffers."""
        if self.reader is not None:
            self.reader.close()

    def forget(self) -> None:
        """Reset the log, so that it is read again from its first byte."""
        self.close()
        self.reader = self.format = None
        self._identity, self._damage = FileIdentity(), DamageRecheck()
        self.caught_up = self.previewed = False
        self.recheck, self._recheck_at = True, 0.0
        self.generation += 1

    # -- the present file

    def _plan_recheck(self, now: float) -> None:
        """Set when to open the file again without a change, at growing intervals."""
        if self.recheck:
            self._recheck_at = now + min(_MAX_RECHECK, max(_MIN_RECHECK, (now - self.last_change) / 4))

    def _check(
        self,
        file: LocalFile | PartFile,
        calls: Calls,
        now: float,
        trust: bool,
        forced: bool,
        pieces: list[Piece],
    ) -> bool:
        """Update size and time, and check whether the file was replaced. False: nothing to read now."""
        size = file.size()
        new_stamp = file.stamp()
        # Attributes may be outdated: a byte after the end shows growth without reading the file again.
        unchanged = not trust and new_stamp == self._stamp and self.caught_up and not forced
        if unchanged and not file.read_at(self.size, 1):
            return False
        if new_stamp != self._stamp and (self._stamp or self.reader is not None) and self.presumed is None:
            self.last_change = self.last_growth = now
        self._stamp, self.recheck = new_stamp, False
        self.size = size
        self.modified = file.modified
        change = self._identity.compare(file, self.offset, now, trust=trust)
        if change == "wait":
            self.recheck = True
            if not size and self.format is not None and not self.format.rewrites:
                self._read_moved(calls, pieces, last=False)  # it was rotated, and not replaced yet
            return False
        if change == "replaced":
            self.earlier.append(self._identity.content(self.offset))
            del self.earlier[:-_KEPT_CONTENTS]
            if self._was_read_elsewhere(file):
                self.forget()  # rotation moved another log here, which had been read at its earlier path
            else:
                self._replaced(calls, pieces)
            self.recheck = False
        elif self._damage.due(now) and self.complete and (healed := self._damage.healed(file, now)):
            # The skipped content has arrived: the log is read again, and its problems are withdrawn.
            self.forget()
            self.recheck, self._pending = False, "rewritten"
            pieces.append(("state", Batch(problems=tuple(healed))))
        self.size = max(size, self.offset)  # attributes may be outdated
        if self.reader is None or self.presumed is not None:
            self._recognise(file, pieces)
        return self.reader is not None

    def _replaced(self, calls: Calls, pieces: list[Piece]) -> None:
        if self.format is not None and self.format.rewrites:
            self._pending = "rewritten"
            self.forget()
            return
        self._read_moved(calls, pieces, last=True)
        self.forget()
        problem = Problem("info", "restarted", self.found.path, _CUT)
        pieces.append(("restarted", Batch(problems=(problem,))))

    def _read_moved(self, calls: Calls, pieces: list[Piece], *, last: bool) -> None:
        """Read what was appended before the log was rotated; with `last`, also an incomplete record."""
        if self.reader is None or self.found.part is not None:
            return
        place = file_identity.moved_to(self.found.place, self._identity.content(self.offset), calls)
        if place is not None and (batch := self._read_from(place, calls, last=last)):
            pieces.append(("points", batch))

    def absorb(self, place: str, calls: Calls) -> list[Piece]:
        """Continue reading in a file that is a rotated copy of this log. Raises OSError."""
        calls.subject = self
        content = self._identity.content(self.offset)
        if self.reader is None or not file_identity.has_content(place, content, calls):
            return []
        batch = self._read_from(place, calls, last=False)
        return [("points", batch)] if batch else []

    def _read_from(self, place: str, calls: Calls, *, last: bool) -> Batch:
        reader = self.reader
        assert reader is not None
        with LocalFile(place, self.found.path, calls) as file:
            batches = list(read_to_end(reader, lambda: reader.read(file, BLOCK)))
            if last:
                batches.append(reader.finish(file))
            self._identity.remember(file, reader.offset)
        self.absorbed.add(place)
        return concat(batches)

    def _was_read_elsewhere(self, file: File) -> bool:
        """Whether rotation moved a log here that was read at another path."""
        known = [content for other in self.rotated for content in other.earlier]
        known += [other._identity.content(other.offset) for other in self.rotated if other is not self]
        head = decompressed_head(file.read_at(0, HEAD)) if self.found.name.endswith(".gz") else b""
        return any(content.is_in(file) or (head and content.begins_with(head)) for content in known)

    def _recognise(self, file: File, pieces: list[Piece]) -> None:
        if self.found.part is not None:
            self._set_format(self.found.part.format)
            return
        presumed = self.format if self.presumed is not None else None
        self._recognition.presumed = None
        read_elsewhere = self.rotated and self._was_read_elsewhere(file)
        head = b"" if read_elsewhere else first_text(file)
        known, problem = (None, None) if read_elsewhere else self._recognition.of(head, presumed, file)
        _add(pieces, problem)
        if known is not None and known is not presumed:
            self._set_format(known)
        if known is not None:
            return
        if presumed is not None:
            self.format, self.reader, self._format_name = None, None, ""
        self.caught_up = True
        if not (read_elsewhere or head or self._announced) and is_events(self.found.name):
            self._announced = True
            pieces.append(("state", EMPTY))

    def _set_format(self, known: Format) -> None:
        self.format, self.reader = known, known.open(self.found.path, verify=self._verify)
        self._format_name, self.caught_up = known.name, False

    def _advance(self, file: File, until: Callable[[], bool], pieces: list[Piece], *, last: bool) -> None:
        """Read until the end or until `until`; batches before an error are kept."""
        reader = self.reader
        assert reader is not None
        batches: list[Batch] = []
        started = reader.offset
        self.caught_up = False
        try:
            while True:
                before = reader.offset
                batch = reader.read(file, BLOCK)
                if batch:
                    batches.append(batch)
                if reader.offset == before or reader.offset >= self.size:
                    self.caught_up = True
                    break
                if until():
                    break
            if last and self.caught_up:
                self.finished = True
                batches.append(reader.finish(file))
            if reader.offset != started:
                self._identity.remember(file, reader.offset)
        finally:
            kind, self._pending = self._pending or "points", None
            joined = concat(batches)
            if joined or reader.offset != started:
                pieces.append((kind, joined))
            elif kind != "points":
                self._pending = kind  # nothing new yet: the earlier points are shown until there is
        self.size = max(self.size, reader.offset)
        # A torn tail may be completed in place (late pages of a network file system).
        self.recheck = self.caught_up and reader.offset < self.size

    def _note_creation(self, file: LocalFile | PartFile, pieces: list[Piece]) -> None:
        """Ask when the file was created if its newest points are far older than its last write, or undated.

        So those of a copy are, and those of few other logs. It is asked once, while the file is the same. A
        file that was replaced while it was followed is a mirror, which will be replaced again.
        """
        batches = [batch for _, batch in pieces if len(batch)]
        if not batches:
            return
        newest = float(np.fmax.reduce(batches[-1].wall_time))  # NaN without times
        old = not newest >= self.modified - COPIED_AGE and not self.generation
        if not old:
            self.created = 0.0
        elif not self.created and isinstance(file, LocalFile):
            self.created = file.created()

    # -- a deleted or unreadable file

    def _deleted(self, calls: Calls, pieces: list[Piece]) -> None:
        self.opened = True
        if self.gone:
            return
        # The copy may be deleted or unreadable as well.
        with contextlib.suppress(OSError):
            self._read_moved(calls, pieces, last=True)
        self.gone, self.caught_up, self._stamp = True, True, ()
        pieces.append(("gone", EMPTY))

    def _failed(self, problem: Problem | None, pieces: list[Piece]) -> None:
        self.opened = True
        self._stamp = ()
        _add(pieces, problem)


def _add(pieces: list[Piece], problem: Problem | None) -> None:
    if problem is not None:
        pieces.append(("state", Batch(problems=(problem,))))
