"""One event file being read: blocks in, batches out, and what to do where a block does not go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rltui.batch import EMPTY, Batch, concat
from rltui.logs.formats import protobuf
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File, LogReader
from rltui.logs.formats.tfevents import oversized_record, record_decoder
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.bulk.small_logs import FirstBytes, decode_together
from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.framing.tf_record import FRAME, HEADER, NO_HEADER, UNCONFIRMED
from rltui.logs.formats.tfevents.message import event
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache
from rltui.logs.formats.tfevents.torn_and_damaged import Damage
from rltui.logs.records.tag_table import too_many

_SEARCHED = 16 << 20  # bytes of damage that one look searches for the next good record


class EventFileReader:
    """A `LogReader` of TensorBoard event files."""

    def __init__(self, path: str, *, verify: bool = False) -> None:
        self._verify = verify
        self._offset = 0
        self._records = 0  # read so far, to estimate what a damaged stretch held
        self._templates = TemplateCache(EventTags())
        self._damage = Damage(path)
        self._path = path
        self._full = False  # whether tags have been left out
        self._first: FirstBytes | None = None  # decoded with those of other logs

    @property
    def offset(self) -> int:
        """Bytes that are done with."""
        return self._offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on, about `budget` bytes; a longer record is taken whole. Raises OSError."""
        return self._read_block(file, min(max(budget, HEADER), 2 * BLOCK), final=False)

    def finish(self, file: File) -> Batch:
        """Read what is left without patience for damage, and report a torn tail. Raises OSError."""
        batches = []
        while True:
            before = self._offset
            batches.append(self._read_block(file, BLOCK, final=True))
            if self._offset == before:
                return concat(batches)

    def newest(self, file: File, length: int) -> Batch:
        """The scalars of the last `length` bytes. Raises OSError."""
        data = file.read_at(max(0, file.size() - length), length)
        cache = self._templates.fork()
        batch = cache.tags.named(bulk_reader.decode_tail(data, cache, self._verify))
        return replace(batch, starts=(), texts=(), problems=(), histograms=())

    def close(self) -> None:
        """Let go of the templates; they are learned again."""
        self._first = None
        if self._templates.learned:  # asked at every look at a quiet log
            self._templates = TemplateCache(self._templates.tags)

    def _read_block(self, file: File, budget: int, *, final: bool) -> Batch:
        """One block, or one step past a damaged or very long record; neither may be possible yet."""
        data = file.read_at(self._offset, budget)
        if not data:
            return self._with_problems(EMPTY)
        decoded = self._decode(data)
        if len(data) < budget:
            self._templates.drop_column()
        if not decoded.end and decoded.needed > len(data):
            size = file.size()
            if self._offset + decoded.needed > size:
                self._handle_torn(file, size, decoded.needed, final)
                return self._with_problems(EMPTY)
            if decoded.needed > BLOCK:
                return self._read_oversized(file, size, decoded.needed, final)
            data = file.read_at(self._offset, decoded.needed + HEADER)
            decoded = bulk_reader.decode(data, self._templates, self._verify)
        if decoded.end:
            self._advance(decoded)
            return self._with_problems(decoded.batch)
        self._handle_damage(file, data, decoded.needed, final)
        return self._with_problems(EMPTY)

    def expect(self, first: FirstBytes) -> None:
        """The first bytes were decoded before: that counts if the first `read` finds just these."""
        self._first = first

    def _decode(self, data: bytes) -> record_decoder.Decoded:
        first, self._first = self._first, None
        if first is not None and not self._offset and first.content == data:
            self._templates = TemplateCache(first.tags)
            return first.decoded
        return bulk_reader.decode(data, self._templates, self._verify)

    def _advance(self, decoded: record_decoder.Decoded) -> None:
        self._damage.resolved()
        for code, what, at, end in decoded.skipped:
            self._damage.report_bad_record(code, what, self._offset + at, self._offset + end)
        self._offset += decoded.end
        self._records += len(decoded.batch) + len(decoded.skipped)

    def _with_problems(self, batch: Batch) -> Batch:
        """The batch with the problems that came up since the last one."""
        named = self._templates.tags.named(batch)
        if named is not batch:
            batch = named
            if not self._full:
                self._full = True
                self._damage.report_apart(too_many(self._path))
        problems = self._damage.take_problems()
        if not problems:
            return batch
        return replace(batch, tags=batch.tags or self._templates.tags.names, problems=problems)

    def _handle_torn(self, file: File, size: int, needed: int, final: bool) -> None:
        """The file ends within a record. Wait for the rest, unless a new writer has gone on behind."""
        damage = self._damage
        waited = damage.recheck(self._offset) or final
        if needed - FRAME > RECORD_CAP:
            message = f"the record at byte {self._offset} claims {needed - FRAME} bytes"
            message += "; waiting for a plausible one"
            damage.report("warning", "implausible-length", message, self._offset)
        if waited and self._skip_to_next(file, size, final):
            return
        if final and needed - FRAME <= RECORD_CAP:
            left = size - self._offset
            damage.report(
                "info",
                "torn-tail",
                f"the last record is incomplete ({left} bytes): the writer stopped or has not flushed",
                self._offset,
                left,
            )

    def _read_oversized(self, file: File, size: int, needed: int, final: bool) -> Batch:
        """A record longer than a block: take what matters in it, and step over the rest."""
        start, stop = self._offset + HEADER, self._offset + needed - tf_record.FOOTER
        behind = file.read_at(stop + tf_record.FOOTER, HEADER)
        at_end = self._offset + needed + len(behind) == size and len(behind) < HEADER
        confirmed = tf_record.record_length(behind, 0) >= 0 or at_end
        if not confirmed and not tf_record.data_intact_in_file(file, start, stop):
            # Perhaps it was torn, and another writer went on within it.
            self._handle_damage(file, behind, UNCONFIRMED, final)
            return self._with_problems(EMPTY)
        if needed - FRAME > RECORD_CAP:
            self._damage.resolved()
            self._damage.report_bad_record(
                "implausible-length",
                "records of this length are not read",
                self._offset,
                self._offset + needed,
            )
            self._offset += needed
            return self._with_problems(EMPTY)
        rows, wrong = ScalarRows(), None
        try:
            record = oversized_record.prune(file, start, stop)
            parsed = event.parse(record)
        except protobuf.MalformedError:
            wrong = record_decoder.UNREADABLE
        # What is not used need not be proved: an image is not read for its checksum.
        if (wrong or parsed.has_content) and not tf_record.data_intact_in_file(file, start, stop):
            wrong = record_decoder.CORRUPT
        elif not wrong:
            rows.take(parsed, record, self._templates.tags)
        batch = rows.batch(self._templates.tags)
        skipped = [record_decoder.SkippedRecord(*wrong, 0, needed)] if wrong else []
        self._advance(record_decoder.Decoded(batch, needed, HEADER, skipped))
        return self._with_problems(batch)

    def _handle_damage(self, file: File, data: bytes, needed: int, final: bool) -> None:
        """There is no sound record at the offset. Wait, or go on behind it."""
        damage = self._damage
        waited = damage.recheck(self._offset) or final
        size = file.size()
        rest = data
        if needed == UNCONFIRMED:
            frame = tf_record.record_length(file.read_at(self._offset, HEADER), 0) + FRAME
            behind = file.read_at(self._offset + frame, HEADER)
            rest = data[frame:]
            confirmed = tf_record.record_length(behind, 0) >= 0
            if (
                confirmed
                and (waited or not record_decoder.may_be_late(data[HEADER : frame - tf_record.FOOTER]))
            ) or (final and not behind):
                damage.report_bad_record(*record_decoder.CORRUPT, self._offset, self._offset + frame)
                self._offset += frame
                return
            if not behind:
                return  # the last record of the file: it may not have arrived whole
        if waited and self._skip_to_next(file, size, final):
            return
        blank = rest.count(0) == len(rest)
        if not final and (blank or damage.checks < 2):
            return
        if needed == NO_HEADER and not blank and not self._offset and not self._records:
            damage.report("warning", "not-an-event-file", "it does not begin like an event file", 0)
        elif blank:
            damage.report(
                "info",
                "torn-tail",
                f"zeros from byte {self._offset} to the end: they may not have arrived yet",
                self._offset,
                size - self._offset,
            )
        else:
            damage.report(
                "warning" if final else "info",
                "damaged-stretch",
                f"no readable record from byte {self._offset} on; waiting for the next",
                self._offset,
                size - self._offset,
            )

    def _skip_to_next(self, file: File, size: int, final: bool) -> bool:
        """Move to the next good record behind the damage, if there is one already."""
        damage = self._damage
        start = self._offset + 1 if final else damage.tested
        found, damage.tested = tf_record.find_record(
            file, start, size if final else min(size, start + _SEARCHED)
        )
        if found is None:
            return False
        if start > self._offset + 1:
            # Bytes that were tested before may have arrived since.
            found = tf_record.find_record(file, self._offset + 1, found)[0] or found
        gap = found - self._offset
        message = f"skipped {gap} damaged bytes at byte {self._offset}"
        if self._records and self._offset:
            message += f", about {max(1, round(gap * self._records / self._offset))} records"
        damage.report_skipped("damaged-stretch", message, self._offset, gap)
        self._offset = found
        return True


def expect(readers: Sequence[LogReader], contents: Sequence[bytes]) -> bool:
    """See `Format.expect`."""
    given = decode_together(contents)
    for reader, first in zip(readers, given, strict=False):
        assert isinstance(reader, EventFileReader)
        reader.expect(first)
    return bool(given)
