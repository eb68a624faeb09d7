"""The `LogReader` of event files."""

from __future__ import annotations

from dataclasses import replace

from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.formats import protobuf
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File, read_to_end
from rltui.logs.formats.tfevents import oversized_record, record_decoder, tf_record
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.message import event
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates import TemplateCache
from rltui.logs.formats.tfevents.tf_record import FRAME, HEADER, UNCONFIRMED
from rltui.logs.formats.tfevents.torn_and_damaged import TornAndDamaged
from rltui.logs.records.tag_table import too_many


class EventFileReader:
    """Reads one TensorBoard event file."""

    def __init__(self, path: str, *, verify: bool = False) -> None:
        self.verify = verify
        self.offset = 0  # bytes that have been read
        self._records = 0  # read so far, to estimate the number of records in a damaged range
        self._templates = TemplateCache(EventTags())
        self._damage = TornAndDamaged(path)
        self._path = path
        self._full = False  # whether tags have been omitted

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode about `budget` more bytes; a longer record is read completely. Raises OSError."""
        return self._read_block(file, min(max(budget, HEADER), 2 * BLOCK), final=False)

    def finish(self, file: File) -> Batch:
        """Read the rest without waiting for damage to heal, and report a torn tail. Raises OSError."""
        return concat(list(read_to_end(self, lambda: self._read_block(file, BLOCK, final=True))))

    def newest(self, file: File, length: int) -> Batch:
        """The scalars of the last `length` bytes. Raises OSError."""
        data = file.read_at(max(0, file.size() - length), length)
        cache = TemplateCache(self._templates.tags.fork())
        return cache.tags.named(bulk_reader.decode_tail(data, cache, self.verify)).points()

    def close(self) -> None:
        """Free the templates; they are learned again if needed."""
        if self._templates.learned:  # this is called at each poll of a quiet log
            self._templates = TemplateCache(self._templates.tags)

    def _read_block(self, file: File, budget: int, *, final: bool) -> Batch:
        """Read one block, or one damaged or very long record. Neither may be possible yet."""
        data = file.read_at(self.offset, budget)
        if not data:
            return self._with_problems(EMPTY)
        decoded = bulk_reader.decode(data, self._templates, self.verify)
        if len(data) < budget:
            self._templates.drop_column()
        if not decoded.end and decoded.needed > len(data):
            size = file.size()
            if self.offset + decoded.needed > size:
                self.offset = self._damage.after_torn(file, self.offset, decoded.needed, self._records, final)
                return self._with_problems(EMPTY)
            if decoded.needed > BLOCK:
                return self._read_oversized(file, size, decoded.needed, final)
            data = file.read_at(self.offset, decoded.needed + HEADER)
            decoded = bulk_reader.decode(data, self._templates, self.verify)
        if decoded.end:
            self._advance(decoded)
            return self._with_problems(decoded.batch)
        return self._after_damage(file, data, decoded.needed, final)

    def _advance(self, decoded: record_decoder.Decoded) -> None:
        self._damage.resolved()
        for code, what, at, end in decoded.skipped:
            self._damage.report_bad_record(code, what, self.offset + at, self.offset + end)
        self.offset += decoded.end
        self._records += len(decoded.batch) + len(decoded.skipped)

    def _after_damage(self, file: File, data: bytes, needed: int, final: bool) -> Batch:
        self.offset = self._damage.after_damage(file, self.offset, data, needed, self._records, final)
        return self._with_problems(EMPTY)

    def _with_problems(self, batch: Batch) -> Batch:
        """The batch with the problems since the last one."""
        named = self._templates.tags.named(batch)
        if named is not batch:
            batch = named
            if not self._full:
                self._full = True
                self._damage.report(too_many(self._path))
        problems = self._damage.take_problems()
        if not problems:
            return batch
        return replace(batch, tags=batch.tags or self._templates.tags.names, problems=problems)

    def _read_oversized(self, file: File, size: int, needed: int, final: bool) -> Batch:
        """Read what is used of a record longer than a block, and skip the rest."""
        start, stop = self.offset + HEADER, self.offset + needed - tf_record.FOOTER
        following = file.read_at(stop + tf_record.FOOTER, HEADER)
        at_end = self.offset + needed + len(following) == size and len(following) < HEADER
        confirmed = tf_record.record_length(following, 0) >= 0 or at_end
        if not confirmed and not tf_record.data_intact_in_file(file, start, stop):
            # The record may be torn and followed by those of another writer.
            return self._after_damage(file, following, UNCONFIRMED, final)
        if needed - FRAME > RECORD_CAP:
            self._damage.resolved()
            self._damage.report_bad_record(
                "implausible-length",
                "records of this length are not read",
                self.offset,
                self.offset + needed,
            )
            self.offset += needed
            return self._with_problems(EMPTY)
        rows, wrong = ScalarRows(), None
        try:
            record = oversized_record.prune(file, start, stop)
            parsed = event.parse(record)
        except protobuf.MalformedError:
            wrong = record_decoder.UNREADABLE
        # The checksum of unused data is not checked: an image is not read for it.
        if (wrong or parsed.has_content) and not tf_record.data_intact_in_file(file, start, stop):
            wrong = record_decoder.CORRUPT
        elif not wrong:
            rows.take(parsed, record, self._templates.tags)
        batch = rows.batch(self._templates.tags)
        skipped = [record_decoder.SkippedRecord(*wrong, 0, needed)] if wrong else []
        self._advance(record_decoder.Decoded(batch, needed, HEADER, skipped))
        return self._with_problems(batch)
