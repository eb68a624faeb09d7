"""Torn records at the end of a file and damaged ones within it: where to continue, what to report.

Bytes that are no record may become one: network file systems fill pages in any order, so a reader on another
machine sees zeros in place of a record. Damage is therefore read several times before it is skipped, and its
problem is withdrawn if it heals.
"""

from __future__ import annotations

from dataclasses import replace

from rltui.common.problem import Problem, ProblemLevel
from rltui.logs.formats.interface import RECORD_CAP, File
from rltui.logs.formats.tfevents import record_decoder, tf_record
from rltui.logs.formats.tfevents.tf_record import FOOTER, FRAME, HEADER, NO_HEADER, UNCONFIRMED

MAX_CHECKS = 5  # of the same damage before it is skipped
_SEARCHED = 16 << 20  # bytes that one call searches for the next intact record


class TornAndDamaged:
    """The torn and damaged records of one file.

    `after_torn` and `after_damage` are called at an offset `at` without an intact record, with `needed` as in
    `tf_record.Records`, after `read` records have been read. They return the offset at which to continue: the
    same one as long as more bytes may arrive. final: none will, so there is no waiting.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._new: list[Problem] = []
        self._current: Problem | None = None  # of the damage that may heal
        self._bad_records: Problem | None = None  # the last sequence of them
        self._bad_records_end = -1
        self._offset = -1  # of the damage that may heal; -1 for none
        self._checks = 0
        self._tested = 0  # up to here no intact record follows the damage

    def after_torn(self, file: File, at: int, needed: int, read: int, final: bool) -> int:
        """The file ends within a record: wait for the rest, unless another writer has continued after it."""
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
        """There is no intact record at the start of `data`: wait, or continue after it."""
        waited = self._recheck(at) or final
        size, rest = file.size(), data
        if needed == UNCONFIRMED:
            frame = tf_record.record_length(file.read_at(at, HEADER), 0) + FRAME
            following = file.read_at(at + frame, HEADER)
            rest = data[frame:]
            confirmed = tf_record.record_length(following, 0) >= 0
            complete = waited or not record_decoder.may_be_late(data[HEADER : frame - FOOTER])
            if (confirmed and complete) or (final and not following):
                self.report_bad_record(*record_decoder.CORRUPT, at, at + frame)
                return at + frame
            if not following:
                return at  # the last record of the file may be incomplete
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
        """The offset of the next intact record after the damage, if there is one yet."""
        start = at + 1 if final else self._tested
        stop = size if final else min(size, start + _SEARCHED)
        found, self._tested = tf_record.find_record(file, start, stop)
        if found is None:
            return None
        if start > at + 1:
            # Bytes that were tested earlier may have arrived since.
            found = tf_record.find_record(file, at + 1, found)[0] or found
        message = f"skipped {found - at} damaged bytes at byte {at}"
        if read and at:
            message += f", about {max(1, round((found - at) * read / at))} records"
        self._report("warning", "damaged-stretch", message, at, found - at)
        self._current, self._offset = None, -1
        return found

    def _recheck(self, at: int) -> bool:
        """Count a check of the damage at `at`; true if it has been checked often enough."""
        if at != self._offset:
            self._offset, self._checks, self._tested = at, 0, at + 1
        self._checks += 1
        return self._checks >= MAX_CHECKS

    def _report(self, level: ProblemLevel, code: str, message: str, at: int, count: int = 1) -> None:
        """Report a problem of damage that may heal, unless it is unchanged."""
        problem = Problem(level, code, self._path, message, at, count)
        if problem != self._current:
            if self._current and self._current.key != problem.key:
                self._new.append(replace(self._current, healed=True))
            self._new.append(problem)
            self._current = problem

    def report(self, problem: Problem) -> None:
        """Report a problem without an offset."""
        self._new.append(problem)

    def resolved(self) -> None:
        """Withdraw the problem of damage at which an intact record was read."""
        if self._offset >= 0:
            self._withdraw()

    def _withdraw(self) -> None:
        if self._current:
            self._new.append(replace(self._current, healed=True))
        self._current, self._offset = None, -1

    def report_bad_record(self, code: str, what: str, at: int, end: int) -> None:
        """Report a skipped record, together with those immediately before it."""
        self._withdraw()
        last = self._bad_records
        if last and self._bad_records_end == at and last.code == code and last.offset is not None:
            start, count = last.offset, last.count + 1
            self._new = [problem for problem in self._new if problem != last]
        else:
            start, count = at, 1
        records = "one record" if count == 1 else f"{count} records"
        message = f"skipped {records} ({end - start} bytes) at byte {start}: {what}"
        self._bad_records = Problem("warning", code, self._path, message, start, count)
        self._bad_records_end = end
        self._new.append(self._bad_records)

    def take_problems(self) -> tuple[Problem, ...]:
        """The problems since the last call."""
        new = tuple(self._new)
        self._new.clear()
        return new
