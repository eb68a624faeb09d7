"""Torn records at the end of a file and damaged ones within it: where to read on, and what is said of them.

Bytes that are not a record may become one. Network file systems fill pages in any order, so a reader
elsewhere sees zeros where a record will be. A damaged place is therefore read several times before
anything is given up, and its problem is withdrawn when it heals.
"""

from __future__ import annotations

from dataclasses import replace

from rltui.common.problem import Level, Problem
from rltui.logs.formats.interface import RECORD_CAP, File
from rltui.logs.formats.tfevents import record_decoder
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.framing.tf_record import FOOTER, FRAME, HEADER, NO_HEADER, UNCONFIRMED

MOST_CHECKS = 5  # of the same damaged place before reading goes on behind it
_SEARCHED = 16 << 20  # bytes of damage that one look searches for the next good record


class TornAndDamaged:
    """What is torn and damaged of one file.

    `after_torn` and `after_damage` are asked at a place `at` where no sound record stands, `needed` as in
    `tf_record.Records`, when `read` records have been read. They return where to read on: at the same place
    while something may still arrive there. final: nothing will, so nothing is waited for.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._new: list[Problem] = []
        self._standing: Problem | None = None  # problem of the place that is being waited at
        self._stretch: Problem | None = None  # the last run of bad records
        self._stretch_end = -1
        self._place = -1  # that is being waited at; -1 for none
        self._checks = 0
        self._tested = 0  # up to here no good record begins behind the place

    def after_torn(self, file: File, at: int, needed: int, read: int, final: bool) -> int:
        """The file ends within a record: its rest is waited for, unless a new writer has gone on behind."""
        size = file.size()
        waited = self._recheck(at) or final
        if needed - FRAME > RECORD_CAP:
            message = f"the record at byte {at} claims {needed - FRAME} bytes; waiting for a plausible one"
            self._report("warning", "implausible-length", message, at)
        found = self._next_record(file, at, size, read, final) if waited else None
        if found is not None:
            return found
        if final and needed - FRAME <= RECORD_CAP:
            left = size - at
            message = f"the last record is incomplete ({left} bytes): the writer stopped or has not flushed"
            self._report("info", "torn-tail", message, at, left)
        return at

    def after_damage(self, file: File, at: int, data: bytes, needed: int, read: int, final: bool) -> int:
        """There is no sound record at the beginning of `data`. Wait, or go on behind it."""
        waited = self._recheck(at) or final
        size, rest = file.size(), data
        if needed == UNCONFIRMED:
            frame = tf_record.record_length(file.read_at(at, HEADER), 0) + FRAME
            behind = file.read_at(at + frame, HEADER)
            rest = data[frame:]
            confirmed = tf_record.record_length(behind, 0) >= 0
            come = waited or not record_decoder.may_be_late(data[HEADER : frame - FOOTER])
            if (confirmed and come) or (final and not behind):
                self.report_bad_record(*record_decoder.CORRUPT, at, at + frame)
                return at + frame
            if not behind:
                return at  # the last record of the file: it may not have arrived whole
        found = self._next_record(file, at, size, read, final) if waited else None
        blank = rest.count(0) == len(rest)
        if found is not None or (not final and (blank or self._checks < 2)):
            return at if found is None else found
        if needed == NO_HEADER and not blank and not at and not read:
            self._report("warning", "not-an-event-file", "it does not begin like an event file", 0)
        elif blank:
            message = f"zeros from byte {at} to the end: they may not have arrived yet"
            self._report("info", "torn-tail", message, at, size - at)
        else:
            message = f"no readable record from byte {at} on; waiting for the next"
            self._report("warning" if final else "info", "damaged-stretch", message, at, size - at)
        return at

    def _next_record(self, file: File, at: int, size: int, read: int, final: bool) -> int | None:
        """Where the next good record behind the damage begins, if there is one already."""
        start = at + 1 if final else self._tested
        stop = size if final else min(size, start + _SEARCHED)
        found, self._tested = tf_record.find_record(file, start, stop)
        if found is None:
            return None
        if start > at + 1:
            # Bytes that were tested before may have arrived since.
            found = tf_record.find_record(file, at + 1, found)[0] or found
        message = f"skipped {found - at} damaged bytes at byte {at}"
        if read and at:
            message += f", about {max(1, round((found - at) * read / at))} records"
        self._report("warning", "damaged-stretch", message, at, found - at)
        self._standing, self._place = None, -1
        return found

    def _recheck(self, at: int) -> bool:
        """One more check of damage at `at`; true when it was waited for long enough."""
        if at != self._place:
            self._place, self._checks, self._tested = at, 0, at + 1
        self._checks += 1
        return self._checks >= MOST_CHECKS

    def _report(self, level: Level, code: str, message: str, at: int, count: int = 1) -> None:
        """Report a problem of the place that is being waited at, unless this very report was made."""
        problem = Problem(level, code, self._path, message, at, count)
        if problem != self._standing:
            if self._standing and self._standing.key != problem.key:
                self._new.append(replace(self._standing, healed=True))
            self._new.append(problem)
            self._standing = problem

    def report_apart(self, problem: Problem) -> None:
        """Report a problem that is no matter of a place."""
        self._new.append(problem)

    def resolved(self) -> None:
        """A good record was read where there was damage: withdraw its problem."""
        if self._place >= 0:
            self._withdraw()

    def _withdraw(self) -> None:
        if self._standing:
            self._new.append(replace(self._standing, healed=True))
        self._standing, self._place = None, -1

    def report_bad_record(self, code: str, what: str, at: int, end: int) -> None:
        """Report one record that was skipped, together with those right before it."""
        self._withdraw()
        stretch = self._stretch
        if stretch and self._stretch_end == at and stretch.code == code and stretch.offset is not None:
            start, count = stretch.offset, stretch.count + 1
            self._new = [problem for problem in self._new if problem != stretch]
        else:
            start, count = at, 1
        records = "one record" if count == 1 else f"{count} records"
        message = f"skipped {records} ({end - start} bytes) at byte {start}: {what}"
        self._stretch = Problem("warning", code, self._path, message, start, count)
        self._stretch_end = end
        self._new.append(self._stretch)

    def take_problems(self) -> tuple[Problem, ...]:
        """The reports since the last call."""
        new = tuple(self._new)
        self._new.clear()
        return new
