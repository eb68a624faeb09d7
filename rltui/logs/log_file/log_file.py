"""One log being followed: its file, its reader, and what became of both since the last look."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from rltui.common.problem import Problem
from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.delivery import Kind, Source
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.container import PartFile
from rltui.logs.formats.interface import BLOCK, HEAD, File, Format, LogReader
from rltui.logs.formats.lines.text_lines import first_text
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.found_file import FoundFile
from rltui.logs.local_file import ENDS, LocalFile, identity, stamp
from rltui.logs.log_contents import decompressed_head
from rltui.logs.log_file import file_identity
from rltui.logs.log_file.damage_recheck import DamageRecheck
from rltui.logs.log_file.file_identity import FileIdentity, Past
from rltui.logs.log_file.format_detection import FormatDetection
from rltui.logs.log_file.read_errors import ReadErrors
from rltui.logs.log_file_names import is_events
from rltui.logs.run_names import named_of_part, part_prefix

Piece = tuple[Kind, Batch]
_Question = Callable[[LogReader, File], Batch]

_SHORTEST_RECHECK, _LONGEST_RECHECK = (
    0.5,
    30.0,
)  # seconds until a torn tail is read again without a sign of change
_KEPT_PAST = 32  # beginnings of rotated copies that a log knows again; each is some kilobytes
_CUT = "the file was replaced or cut and begins anew; what it said before is kept as superseded"


class LogFile:
    """State of one log between looks. Touched by one worker at a time; holds no descriptor."""

    def __init__(self, found: FoundFile, formats: FormatRegistry, *, verify: bool = False) -> None:
        self.found = found
        self._recognition = FormatDetection(found.name, found.path, formats, asked=found.asked)
        self._verify = verify
        self.run = found.run
        self.duplicate_of: str | None = None
        self.tag_map: Callable[[str], str] | None = None  # renames the tags of a folded sub-run
        self._prefix = part_prefix(found.path)
        self.format: Format | None = None
        self._format_name = ""  # name of the format, kept while the log is opened anew
        self.reader: LogReader | None = None
        self.size = 0
        self.modified = 0.0
        self.changed = 0.0  # monotonic time of the last change seen
        self.grown = float("-inf")  # the same, while it was followed
        self.turn = 0  # its entry in the schedule that counts; earlier ones do not
        self.aside = False  # nobody asked for its run: opened only to compare it with others
        self.gone = False
        self.hung = False  # a file call for it has not come back, or those for its device do not
        self.opened = False  # visited at least once
        self.caught_up = False  # everything that was there has been read
        self.previewed = False
        self.published = False  # points or a preview of it were delivered
        self.told = False  # something of it was, if only that it is there
        self.tags: Sequence[str] = ()  # of which its points spoke, as its run calls them
        self.finished = False  # what was left at its end was taken, since nothing later is read
        self.queued = False  # waits in the history queue
        self.recheck = False  # to be opened again even if its attributes do not change
        self._recheck_at = 0.0  # and when
        self.life = 0  # how often it began again at its first byte
        self.opening: list[Piece] = []  # what was learned when it was opened, to be delivered with its run
        self.rotated: Sequence[LogFile] = ()  # all logs that were rotated from one name, this one too
        self.past: list[Past] = []  # what was read here and is elsewhere now
        self.absorbed: set[str] = set()  # rotated copies that were read as part of this log
        self.errors = ReadErrors(found.path)
        self._announced = False
        self._pending: Kind | None = None
        self._stamp: tuple[int, ...] = ()
        self._identity = FileIdentity()
        self._damage = DamageRecheck()

    @property
    def offset(self) -> int:
        """Bytes settled."""
        return self.reader.offset if self.reader is not None else 0

    @property
    def unread(self) -> int:
        """Bytes known but not settled."""
        return max(0, self.size - self.offset)

    @property
    def readable(self) -> bool:
        """Whether reading on may bring something now."""
        return self.reader is not None and not (self.hung or self.gone or self.errors.count)

    @property
    def complete(self) -> bool:
        """Whether its file still holds everything that it said: nothing was rotated away or replaced."""
        moved = self.past and not (self.format is not None and self.format.rewrites)
        return not (self.gone or self.hung or self.absorbed or moved)

    def source(self) -> Source:
        """The log as consumers see it now."""
        # What is no log has problems at most, but makes no run; an empty event file is a run that begins.
        nothing = not self._format_name and not is_events(self.found.name)
        return Source(
            run="" if nothing else self.run,
            path=self.found.path,
            format=self._format_name,
            size=self.size,
            read=self.offset,
            duplicate_of=self.duplicate_of,
            rank=self.found.rank,
            gone=self.gone,
            hung=self.hung,
            modified=self.modified,
            caught_up=self.caught_up and self.found.place not in ENDS,
        )

    def renamed(self, batch: Batch) -> Batch:
        """The batch with the tags of a folded sub-run, or of a part of a training, as its run calls them."""
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
        """Know of the file what can be known without opening it: size, time, perhaps the format."""
        self.size, self.modified = status.st_size, status.st_mtime
        new = not (self.rotated or self.opened or self.reader)
        if new and (known := self._recognition.presume(status)) is not None:
            self._take_for(known)

    @property
    def presumed(self) -> Format | None:
        """The format as the name has it, until the file is opened."""
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
        """Look at the file and read what is new, until `until` says to stop. No OSError leaves it.

        trust: attributes of the path are current, an unchanged file need not be opened.
        until: None only checks and recognises the file. limit: a larger backlog is left for the history.
        last: what comes later is not read, so that the end of the file is read at once as `finish` would.
        Raises GivenUpError when the worker was given up and nothing had been read.
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
                        for _, batch in pieces:
                            self._damage.note(batch.problems, file, self.offset, now)
                self._plan_recheck(now)
            _add(pieces, self.errors.over())
        except GivenUpError:
            if not pieces:
                raise
        except (FileNotFoundError, NotADirectoryError):
            self._vanished(calls, pieces)
        except OSError as error:
            self._failed(self.errors.failed(error), pieces)
        except Exception as error:  # noqa: BLE001 - a reader's unforeseen error must not end the other logs
            self._failed(self.errors.broke(error), pieces)
        return pieces

    def asleep(self, calls: Calls, now: float) -> bool:
        """Whether attributes say that there is nothing to do: what most looks find. Raises GivenUpError."""
        calls.subject = self
        if not self.caught_up:
            return False
        forced = (self.recheck and now >= self._recheck_at) or self._damage.due(now)
        try:
            return self._unchanged(calls, forced)
        except GivenUpError:
            raise
        except OSError:
            return False

    def _unchanged(self, calls: Calls, forced: bool) -> bool:
        if forced or not self.opened or self.gone or self.errors.count:
            return False
        if self.found.part is not None:
            return calls.run(self.found.place, self.found.part.stamp) == self._stamp
        return stamp(calls.run(self.found.place, os.stat, self.found.place)) == self._stamp

    def newest(self, calls: Calls, length: int) -> list[Piece]:
        """A preview of the last `length` bytes. Problems are left for the next visit; raises GivenUpError."""
        self.previewed = True
        batch = self._ask(calls, lambda reader, file: reader.newest(file, length))
        return [("newest", batch)] if batch else []

    def finish(self, calls: Calls) -> list[Piece]:
        """The file will not grow any more: what its last visit did not take. Raises GivenUpError only."""
        if self.finished:
            return []
        if self.reader is None and self._announced and self.size and not self.gone:
            message = f"all of its {self.size} bytes are zero: they never arrived, or the file is damaged"
            return [("state", Batch(problems=(Problem("warning", "zeros", self.found.path, message),)))]
        batch = self._ask(calls, lambda reader, file: reader.finish(file))
        return [("points", batch)] if batch else []

    def _ask(self, calls: Calls, question: _Question) -> Batch:
        calls.subject = self
        if self.reader is None:
            return EMPTY
        try:
            with self.file(calls) as file:
                return question(self.reader, file)
        except GivenUpError:
            raise
        except OSError:
            return EMPTY
        except Exception as error:  # noqa: BLE001 - a reader's unforeseen error must not end the other logs
            problem = self.errors.broke(error)
            return Batch(problems=(problem,)) if problem else EMPTY

    def close(self) -> None:
        """Let go of the reader's buffers."""
        if self.reader is not None:
            self.reader.close()

    def forget(self) -> None:
        """Begin again at the first byte, as if the log had never been read."""
        self.close()
        self.reader = self.format = None
        self._identity, self._damage = FileIdentity(), DamageRecheck()
        self.caught_up = self.previewed = False
        self.recheck, self._recheck_at = True, 0.0
        self.life += 1

    # -- the file as it is now

    def _plan_recheck(self, now: float) -> None:
        """When to open the file again without a sign of change, if need be: soon, then ever less often."""
        if self.recheck:
            self._recheck_at = now + min(_LONGEST_RECHECK, max(_SHORTEST_RECHECK, (now - self.changed) / 4))

    def _check(
        self,
        file: LocalFile | PartFile,
        calls: Calls,
        now: float,
        trust: bool,
        forced: bool,
        pieces: list[Piece],
    ) -> bool:
        """Take in size and time, find out whether it is the same file. False: nothing to read now."""
        size = file.size()
        seen = file.stamp()
        # Attributes may be late: a byte behind the end would tell of growth without reading all again.
        quiet = not trust and seen == self._stamp and self.caught_up and not forced
        if quiet and not file.read_at(self.size, 1):
            return False
        if seen != self._stamp and (self._stamp or self.reader is not None) and self.presumed is None:
            self.changed = self.grown = now
        self._stamp, self.recheck = seen, False
        self.size = size
        self.modified = file.modified
        change = self._identity.compare(file, self.offset, now, trust=trust)
        if change == "wait":
            self.recheck = True
            if not size and self.format is not None and not self.format.rewrites:
                self._read_moved(calls, pieces, last=False)  # nothing came in its place yet
            return False
        if change == "replaced":
            self.past.append(self._identity.past(self.offset))
            del self.past[:-_KEPT_PAST]
            if self._read_before(file):
                self.forget()  # rotation moved another log here, which had been read where it was
            else:
                self._replaced(calls, pieces)
            self.recheck = False
        elif self._damage.due(now) and self.complete and (healed := self._damage.healed(file, now)):
            # What was skipped is there now: the log is read once more, and its problems are withdrawn.
            self.forget()
            self.recheck, self._pending = False, "rewritten"
            pieces.append(("state", Batch(problems=tuple(healed))))
        self.size = max(size, self.offset)  # attributes may lag behind what can be read
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
        """Read what the log got before it was rotated away; to the very end, if that was the last of it."""
        if self.reader is None or self.found.part is not None:
            return
        place = file_identity.moved_to(self.found.place, self._identity.past(self.offset), calls)
        if place is not None and (batch := self._read_from(place, calls, last=last)):
            pieces.append(("points", batch))

    def absorb(self, place: str, calls: Calls) -> list[Piece]:
        """If the file is a copy of this log, or where it went: read on there. Raises OSError."""
        calls.subject = self
        if self.reader is None or not file_identity.holds(place, self._identity.past(self.offset), calls):
            return []
        batch = self._read_from(place, calls, last=False)
        return [("points", batch)] if batch else []

    def _read_from(self, place: str, calls: Calls, *, last: bool) -> Batch:
        assert self.reader is not None
        batches: list[Batch] = []
        with LocalFile(place, self.found.path, calls) as file:
            while True:
                before = self.reader.offset
                batches.append(self.reader.read(file, BLOCK))
                if self.reader.offset == before:
                    break
            if last:
                batches.append(self.reader.finish(file))
            self._identity.remember(file, self.reader.offset)
        self.absorbed.add(place)
        return concat(batches)

    def _read_before(self, file: File) -> bool:
        """Whether rotation brought a log here that was read under another of its names."""
        known = [past for other in self.rotated for past in other.past]
        known += [other._identity.past(other.offset) for other in self.rotated if other is not self]
        content = decompressed_head(identity(file, HEAD)) if self.found.name.endswith(".gz") else b""
        return any(past.is_in(file) or (content and past.begins(content)) for past in known)

    def _recognise(self, file: File, pieces: list[Piece]) -> None:
        if self.found.part is not None:
            self._take_for(self.found.part.format)
            return
        presumed = self.format if self.presumed is not None else None
        self._recognition.presumed = None
        before = self.rotated and self._read_before(file)
        head = b"" if before else first_text(file)
        known, problem = (None, None) if before else self._recognition.of(head, presumed, file)
        _add(pieces, problem)
        if known is not None and known is not presumed:
            self._take_for(known)
        if known is not None:
            return
        if presumed is not None:
            self.format, self.reader, self._format_name = None, None, ""
        self.caught_up = True
        if not (before or head or self._announced) and is_events(self.found.name):
            self._announced = True
            pieces.append(("state", EMPTY))

    def _take_for(self, known: Format) -> None:
        self.format, self.reader = known, known.open(self.found.path, verify=self._verify)
        self._format_name, self.caught_up = known.name, False

    def _advance(self, file: File, until: Callable[[], bool], pieces: list[Piece], *, last: bool) -> None:
        """Read on until the end or until `until`; what was decoded before an error is kept."""
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
                self._pending = kind  # half of the new content: what was shown stays until the rest is there
        self.size = max(self.size, reader.offset)
        # A torn tail may heal in place (late pages of a network file system): looked at again.
        self.recheck = self.caught_up and reader.offset < self.size

    # -- the file as it is not

    def _vanished(self, calls: Calls, pieces: list[Piece]) -> None:
        self.opened = True
        if self.gone:
            return
        # The copy may vanish too, or not be readable: what was read stays true.
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
