"""One event file being read: blocks in, batches out, and what to do where a block does not go on."""

from __future__ import annotations

from rltui.batch import EMPTY, Batch, concat
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File
from rltui.logs.formats.tfevents import oversized_record, record_decoder
from rltui.logs.formats.tfevents.bulk import bulk_reader, tail_preview
from rltui.logs.formats.tfevents.damage import Damage
from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.framing import tf_record
from rltui.logs.formats.tfevents.framing.tf_record import BAD, DOUBT, FRAME, HEADER
from rltui.logs.formats.tfevents.message import event, protobuf
from rltui.logs.formats.tfevents.scalar_rows import ScalarRows
from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache
from rltui.logs.records.tag_table import too_many
from rltui.logs.run_names import is_events

_PACKED = (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz")
_SCAN = 16 << 20  # bytes of damage that one look searches for the next good record


class EventFileReader:
    """A `LogReader` of TensorBoard event files.

    Besides the protocol it has `held`: reading stopped at trouble that patience may solve, so another
    `read` is worth while even when the file has not grown.
    """

    def __init__(self, path: str, *, verify: bool = False) -> None:
        self._verify = verify
        self._offset = 0
        self._records = 0  # read so far, to estimate what a damaged stretch held
        self._known = TemplateCache(EventTags())
        self._damage = Damage(path)
        self._path = path
        self._full = False  # whether tags have been left out

    @property
    def offset(self) -> int:
        """Bytes settled."""
        return self._offset

    @property
    def held(self) -> bool:
        """Whether reading waits at bytes that are not a record (yet)."""
        return self._damage.place == self._offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on, about `budget` bytes; a longer record is taken whole. Raises OSError."""
        return self._look(file, min(max(budget, HEADER), 2 * BLOCK), final=False)

    def finish(self, file: File) -> Batch:
        """Read what is left without patience for damage, and report a torn tail. Raises OSError."""
        batches = []
        while True:
            before = self._offset
            batches.append(self._look(file, BLOCK, final=True))
            if self._offset == before:
                return concat(batches)

    def newest(self, file: File, length: int) -> Batch:
        """The scalars of the last `length` bytes. Raises OSError."""
        data = file.read_at(max(0, file.size() - length), length)
        known = self._known.fork()
        return known.tags.named(tail_preview.decode(data, known, self._verify))

    def close(self) -> None:
        """Let go of what was learned."""
        self._known = TemplateCache(self._known.tags)

    def _look(self, file: File, budget: int, *, final: bool) -> Batch:
        """One block, or one step past an obstacle. The offset stays where neither is possible yet."""
        data = file.read_at(self._offset, budget)
        if not data:
            return self._report(EMPTY)
        decoded = bulk_reader.decode_any(data, self._known, self._verify)
        if len(data) < budget:
            self._known.rest()
        if not decoded.end and decoded.need > len(data):
            size = file.size()
            if self._offset + decoded.need > size:
                self._torn(file, size, decoded.need, final)
                return self._report(EMPTY)
            if decoded.need > BLOCK:
                return self._large(file, size, decoded.need, final)
            data = file.read_at(self._offset, decoded.need + HEADER)
            decoded = bulk_reader.decode_any(data, self._known, self._verify)
        if decoded.end:
            self._move(decoded)
            return self._report(decoded.batch)
        self._trouble(file, data, decoded.need, final)
        return self._report(EMPTY)

    def _move(self, decoded: record_decoder.Decoded) -> None:
        self._damage.went_on()
        for code, what, at, end in decoded.faults:
            self._damage.bad_record(code, what, self._offset + at, self._offset + end)
        self._offset += decoded.end
        self._records += len(decoded.batch) + len(decoded.faults)

    def _report(self, batch: Batch) -> Batch:
        """The batch with the problems that came up since the last one."""
        named = self._known.tags.named(batch)
        if named is not batch:
            batch = named
            if not self._full:
                self._full = True
                self._damage.say(too_many(self._path))
        problems = self._damage.take()
        if not problems:
            return batch
        return Batch(
            batch.tags or self._known.tags.names,
            batch.tag,
            batch.step,
            batch.wall_time,
            batch.value,
            batch.single,
            batch.starts,
            batch.texts,
            problems,
        )

    def _torn(self, file: File, size: int, need: int, final: bool) -> None:
        """The file ends within a record. Wait for the rest, unless a new writer has gone on behind."""
        damage = self._damage
        patient = damage.watch(self._offset) or final
        if need - FRAME > RECORD_CAP:
            damage.tell(
                "warning",
                "implausible-length",
                f"the record at byte {self._offset} claims {need - FRAME} bytes; waiting for a plausible one",
                self._offset,
            )
        if patient and self._skip_to_next(file, size, final):
            return
        if final and need - FRAME <= RECORD_CAP:
            left = size - self._offset
            damage.tell(
                "info",
                "torn-tail",
                f"the last record is incomplete ({left} bytes): the writer stopped or has not flushed",
                self._offset,
                left,
            )

    def _large(self, file: File, size: int, need: int, final: bool) -> Batch:
        """A record longer than a block: take what matters in it, and step over the rest."""
        start, stop = self._offset + HEADER, self._offset + need - tf_record.FOOTER
        behind = file.read_at(stop + tf_record.FOOTER, HEADER)
        at_end = self._offset + need + len(behind) == size and len(behind) < HEADER
        confirmed = tf_record.header(behind, 0) >= 0 or at_end
        if not confirmed and not tf_record.sound_in_file(file, start, stop):
            # Perhaps it was torn, and another writer went on within it.
            self._trouble(file, behind, DOUBT, final)
            return self._report(EMPTY)
        if need - FRAME > RECORD_CAP:
            self._damage.went_on()
            self._damage.bad_record(
                "implausible-length", "records of this length are not read", self._offset, self._offset + need
            )
            self._offset += need
            return self._report(EMPTY)
        rows, fault = ScalarRows(), None
        try:
            record = oversized_record.prune(file, start, stop)
            parsed = event.parse(record)
        except protobuf.MalformedError:
            fault = record_decoder.UNREADABLE
        # What is not used need not be proved: an image is not read for its checksum.
        if (fault or parsed.says_something) and not tf_record.sound_in_file(file, start, stop):
            fault = record_decoder.CORRUPT
        elif not fault:
            rows.take(parsed, record, self._known.tags)
        batch = rows.batch(self._known.tags)
        faults = [record_decoder.Fault(*fault, 0, need)] if fault else []
        self._move(record_decoder.Decoded(batch, need, HEADER, faults))
        return self._report(batch)

    def _trouble(self, file: File, data: bytes, need: int, final: bool) -> None:
        """There is no record at the offset. Wait, or go on behind it."""
        damage = self._damage
        patient = damage.watch(self._offset) or final
        size = file.size()
        rest = data
        if need == DOUBT:
            frame = tf_record.header(file.read_at(self._offset, HEADER), 0) + FRAME
            behind = file.read_at(self._offset + frame, HEADER)
            rest = data[frame:]
            confirmed = tf_record.header(behind, 0) >= 0
            if (
                confirmed
                and (patient or not record_decoder.maybe_late(data[HEADER : frame - tf_record.FOOTER]))
            ) or (final and not behind):
                damage.bad_record(*record_decoder.CORRUPT, self._offset, self._offset + frame)
                self._offset += frame
                return
            if not behind:
                return  # the last record of the file: it may not have arrived whole
        if patient and self._skip_to_next(file, size, final):
            return
        blank = rest.count(0) == len(rest)
        if not final and (blank or damage.looks < 2):
            return
        if need == BAD and not blank and not self._offset and not self._records:
            damage.tell("warning", "not-an-event-file", "it does not begin like an event file", 0)
        elif blank:
            damage.tell(
                "info",
                "torn-tail",
                f"zeros from byte {self._offset} to the end: they may not have arrived yet",
                self._offset,
                size - self._offset,
            )
        else:
            damage.tell(
                "warning" if final else "info",
                "damaged-stretch",
                f"no readable record from byte {self._offset} on; waiting for the next",
                self._offset,
                size - self._offset,
            )

    def _skip_to_next(self, file: File, size: int, final: bool) -> bool:
        """Move to the next good record behind the trouble, if there is one already."""
        damage = self._damage
        start = self._offset + 1 if final else damage.tested
        found, damage.tested = tf_record.find(file, start, size if final else min(size, start + _SCAN))
        if found is None:
            return False
        if start > self._offset + 1:
            # Bytes that were tested before may have arrived since.
            found = tf_record.find(file, self._offset + 1, found)[0] or found
        gap = found - self._offset
        message = f"skipped {gap} damaged bytes at byte {self._offset}"
        if self._records and self._offset:
            message += f", about {max(1, round(gap * self._records / self._offset))} records"
        damage.give_up("damaged-stretch", message, self._offset, gap)
        self._offset = found
        return True


class EventFileFormat:
    """TensorBoard event files."""

    name = "tfevents"
    rewrites = False

    def matches(self, name: str, head: bytes) -> bool:
        """Whether the base name says so; content does not decide, a first record may be damaged.

        Hidden files are the unfinished copies that rsync makes; `.profile-empty` is an empty marker.
        """
        return (
            is_events(name)
            and not name.startswith(".")
            and not name.endswith((".profile-empty", *_PACKED))
            and not head.startswith(b"\x1f\x8b")
        )

    def open(self, path: str, *, verify: bool = False) -> EventFileReader:
        """A reader at offset 0. `verify` checks every data CRC in bulk, too."""
        return EventFileReader(path, verify=verify)


FORMAT = EventFileFormat()
