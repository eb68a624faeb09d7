"""Event files: damage costs what it hit, is told once, and is waited for where it may heal."""

from __future__ import annotations

import struct
import tracemalloc

import pytest

from rltui.common.problem import Problem
from rltui.logs.batch import Batch, concat
from rltui.logs.formats.interface import LogReader
from rltui.logs.formats.tfevents.bulk import block_framing
from rltui.logs.formats.tfevents.bulk.block import Block
from rltui.logs.formats.tfevents.event_format import FORMAT
from rltui.logs.formats.tfevents.tf_record import FOOTER, HEADER
from rltui.logs.formats.tfevents.torn_and_damaged import MAX_CHECKS
from tests.support.logs import tfwriter as w
from tests.support.logs.file_in_memory import MemFile, SparseFile, read_on, read_whole

NAME = "events.out.tfevents.1763600000.node7.991.0"


def point(step: int) -> bytes:
    """A point of one tag, value = step."""
    return w.event(step, w.simple("loss", float(step)))


def points(low: int, high: int) -> bytes:
    """Points of consecutive steps."""
    return b"".join(point(step) for step in range(low, high))


def steps(batch: Batch) -> list[int]:
    """The steps that were read."""
    return batch.step.tolist()


def look(log: LogReader, file: MemFile, times: int = 1) -> Batch:
    """Let a follower look several times."""
    return concat([batch for _ in range(times) for batch in read_on(log, file)])


def codes(problems: tuple[Problem, ...]) -> list[tuple[str, int | None, bool]]:
    """What was reported, where, and whether it was withdrawn."""
    return [(problem.code, problem.offset, problem.healed) for problem in problems]


@pytest.mark.parametrize("cut_off", [1, 4, 10, 20, len(point(5)) - 6, len(point(5)) - 1])
def test_torn_tail_waits(cut_off: int) -> None:
    """A record cut in its length, checksum, data or footer waits in silence and is read when it is whole."""
    data = points(0, 6)
    file, log = MemFile(NAME, data[:-cut_off]), FORMAT.open(NAME)
    early = look(log, file, 3 * MAX_CHECKS)
    assert (steps(early), early.problems) == (list(range(5)), ())
    assert log.offset == len(points(0, 5))
    file.append(data[-cut_off:])
    late = look(log, file)
    assert (steps(late), late.problems) == ([5], ())


def test_torn_tail_is_reported_once_at_the_end() -> None:
    """When the file will not grow, an incomplete last record is told as a matter of information."""
    data = points(0, 6)
    file, log = MemFile(NAME, data[:-7]), FORMAT.open(NAME)
    look(log, file)
    (problem,) = log.finish(file).problems
    assert (problem.level, problem.code, problem.offset) == ("info", "torn-tail", len(points(0, 5)))
    assert problem.count == len(point(5)) - 7
    assert log.finish(file).problems == ()


def test_torn_tail_that_grows_after_the_report_heals() -> None:
    """A report of a torn tail is withdrawn when the rest arrives after all."""
    data = points(0, 6)
    file, log = MemFile(NAME, data[:-7]), FORMAT.open(NAME)
    log.finish(file)
    file.append(data[-7:])
    batch = look(log, file)
    assert steps(batch) == [5]
    assert codes(batch.problems) == [("torn-tail", len(points(0, 5)), True)]


@pytest.mark.parametrize("where", ["wall", "step", "tag", "value", "checksum"])
def test_wrong_data_costs_one_record(where: str) -> None:
    """A changed byte anywhere in a record's data costs this record only, and is told with its place."""
    record = point(5)
    at = {"wall": 14, "step": 22, "tag": 29, "value": len(record) - 6, "checksum": len(record) - 2}[where]
    damaged = record[:at] + bytes([record[at] ^ 0x11]) + record[at + 1 :]
    batch = read_whole(FORMAT, MemFile(NAME, points(0, 5) + damaged + points(6, 9)))
    assert steps(batch) == [0, 1, 2, 3, 4, 6, 7, 8]
    assert codes(batch.problems) == [("corrupt-record", len(points(0, 5)), False)]
    assert batch.problems[0].level == "warning"


def test_a_stretch_of_bad_records_is_told_once() -> None:
    """Bad records in a row are one report, with their number, even when they are read in different looks."""
    bad = b"".join(point(step)[:-1] + b"\x00" for step in range(5, 15))
    file, log = MemFile(NAME, points(0, 5) + bad[:300]), FORMAT.open(NAME)
    first = look(log, file)
    file.append(bad[300:] + points(15, 17))
    second = look(log, file)
    assert steps(concat([first, second])) == [0, 1, 2, 3, 4, 15, 16]
    kept = {problem.key: problem for problem in (*first.problems, *second.problems)}
    (problem,) = kept.values()
    assert (problem.code, problem.offset, problem.count) == ("corrupt-record", len(points(0, 5)), 10)
    assert f"({len(bad)} bytes)" in problem.message


def test_bulk_reading_proves_checksums_when_asked() -> None:
    """A changed value among thousands is found with `verify`, and a changed constant byte always."""
    data = bytearray(points(0, 2000))
    place = len(points(0, 1000)) + len(point(1000)) - 6
    data[place] ^= 1
    assert len(read_whole(FORMAT, MemFile(NAME, bytes(data)))) == 2000
    log, file = FORMAT.open(NAME, verify=True), MemFile(NAME, bytes(data))
    batch = look(log, file)
    assert (len(batch), codes(batch.problems)) == (1999, [("corrupt-record", len(points(0, 1000)), False)])
    data[place] ^= 1
    data[place - 5] ^= 1
    batch = read_whole(FORMAT, MemFile(NAME, bytes(data)))
    assert (len(batch), codes(batch.problems)) == (1999, [("corrupt-record", len(points(0, 1000)), False)])


@pytest.mark.parametrize("bit", [0, 7])
def test_a_changed_bit_anywhere_shows_in_the_checksums_of_a_block(bit: int) -> None:
    """A block is proved as a whole: intact as written, not with one bit of data or CRC changed."""
    data = points(0, 40)
    whole = block_framing.frames(Block(data))
    assert block_framing.all_intact(Block(data), whole)
    for place in range(HEADER - FOOTER, len(data)):
        if place % len(point(0)) < HEADER - FOOTER:
            continue  # a length: where records begin is known by then
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        assert not block_framing.all_intact(Block(bytes(changed)), whole), place


def test_wrong_length_is_held_then_passed() -> None:
    """A length whose checksum is wrong is looked at again, then passed, and the loss is told in bytes."""
    record = bytearray(point(5))
    record[0] ^= 1
    start = len(points(0, 5))
    file, log = MemFile(NAME, points(0, 5) + bytes(record) + points(6, 9)), FORMAT.open(NAME)
    early = look(log, file, MAX_CHECKS - 2)
    assert (steps(early), log.offset) == ([0, 1, 2, 3, 4], start)
    late = look(log, file)
    assert steps(late) == [6, 7, 8]
    problem = late.problems[-1]
    assert (problem.level, problem.code, problem.offset, problem.count) == (
        "warning",
        "damaged-stretch",
        start,
        len(record),
    )
    assert "about 1 record" in problem.message
    assert {p.key for p in early.problems} <= {problem.key}


def test_wrong_length_that_heals_is_withdrawn() -> None:
    """What was said of bytes that become a record after all is taken back, and the record is read."""
    record = point(5)
    start = len(points(0, 5))
    file, log = MemFile(NAME, points(0, 5) + b"\xff" + record[1:] + points(6, 9)), FORMAT.open(NAME)
    early = look(log, file, 3)
    assert codes(early.problems) == [("damaged-stretch", start, False)]
    file.fill(start, record[:1])
    late = look(log, file)
    assert steps(late) == [5, 6, 7, 8]
    assert codes(late.problems) == [("damaged-stretch", start, True)]


def test_damaged_first_record() -> None:
    """Damage at the first byte costs the first record; the file is still read."""
    data = b"\xff\xff" + (w.version() + points(0, 9))[2:]
    batch = read_whole(FORMAT, MemFile(NAME, data))
    assert steps(batch) == list(range(9))
    assert codes(batch.problems) == [("damaged-stretch", 0, False)]


def test_a_page_of_zeros_that_arrives_late_loses_nothing() -> None:
    """Zeros between records may be a page that a network file system fills in later; it is waited for."""
    data = points(0, 300)
    holed = data[:8192] + bytes(4096) + data[12288:]
    file, log = MemFile(NAME, holed), FORMAT.open(NAME)
    early = look(log, file, 2)
    assert steps(early) == list(range(len(early)))
    assert 100 < len(early) < 200
    file.fill(8192, data[8192:12288])
    late = look(log, file)
    assert steps(early) + steps(late) == list(range(300))
    reported = {p.key for p in early.problems}
    assert {p.key for p in late.problems if p.healed} == reported


def test_a_page_of_zeros_that_never_arrives_is_passed() -> None:
    """After several looks zeros are given up, everything behind them is read, and the loss is told."""
    data = points(0, 300)
    file, log = MemFile(NAME, data[:8192] + bytes(4096) + data[12288:]), FORMAT.open(NAME)
    batch = look(log, file, MAX_CHECKS + 1)
    lost = 300 - len(batch)
    assert 4096 // len(point(200)) <= lost <= 4096 // len(point(200)) + 2
    assert steps(batch)[-1] == 299
    final = {p.key: p for p in batch.problems}
    (problem,) = final.values()
    assert (problem.level, problem.code) == ("warning", "damaged-stretch")
    assert problem.count > 4096 - 2 * len(point(200))


def test_zeros_at_the_end_are_quiet() -> None:
    """A file that was extended with zeros before its bytes arrive is no trouble while it is followed."""
    data = points(0, 20)
    file, log = MemFile(NAME, data[:600] + bytes(5000)), FORMAT.open(NAME)
    early = look(log, file, 3 * MAX_CHECKS)
    assert early.problems == ()
    file.fill(600, data[600:])
    assert steps(early) + steps(look(log, file)) == list(range(20))


def test_zeros_at_the_end_are_told_when_the_file_is_finished() -> None:
    """In a finished file, zeros at the end are one piece of information."""
    batch = read_whole(FORMAT, MemFile(NAME, points(0, 20) + bytes(5000)))
    assert len(batch) == 20
    assert [(p.level, p.code) for p in batch.problems] == [("info", "torn-tail")]


def test_last_record_before_missing_bytes_is_proved_in_bulk() -> None:
    """Zeros that begin within the value of the last record are noticed although its length is right."""
    data = points(0, 2000)
    place = len(points(0, 1990)) - 6
    file, log = MemFile(NAME, data[:place] + bytes(len(data) - place)), FORMAT.open(NAME)
    assert steps(look(log, file, 2)) == list(range(1989))
    file.fill(place, data[place:])
    assert steps(look(log, file)) == list(range(1989, 2000))


@pytest.mark.parametrize("length", [2**26 + 1, 2**32, 3 << 30, 2**60, 2**64 - 1])
def test_absurd_lengths_are_never_allocated(length: int) -> None:
    """A length with a right checksum is no promise: nothing is allocated, and reading goes on behind it."""
    head = struct.pack("<Q", length)
    data = points(0, 5) + head + w.masked_crc(head) + bytes(100) + points(6, 9)
    tracemalloc.start()
    try:
        file, log = MemFile(NAME, data), FORMAT.open(NAME)
        live = look(log, file, MAX_CHECKS + 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20
    assert steps(live) == [0, 1, 2, 3, 4, 6, 7, 8]
    assert any("bytes" in problem.message for problem in live.problems)
    assert steps(read_whole(FORMAT, MemFile(NAME, data))) == [0, 1, 2, 3, 4, 6, 7, 8]


def test_gigabytes_of_zeros_are_searched_in_bounded_memory() -> None:
    """A hole of half a gigabyte behind a record is searched in small reads."""
    data = points(0, 5)
    file = SparseFile(NAME, 256 << 20, [(0, data)])
    batch = read_whole(FORMAT, file)
    assert steps(batch) == [0, 1, 2, 3, 4]
    assert file.largest_read <= 2 << 20


@pytest.mark.parametrize(
    "garbage",
    [
        b"step,loss\n1,0.5\n" * 20,
        b"\x7fELF" + bytes(range(256)) * 8,
        b"\xff" * 3000,
        b'{"loss": 1}\n' * 50,
        bytes(range(255, 0, -1)) * 300,
    ],
)
def test_garbage_is_told_once_and_never_fatal(garbage: bytes) -> None:
    """A file that only has the name of an event file is one report, live and in one go."""
    (problem,) = read_whole(FORMAT, MemFile(NAME, garbage)).problems
    assert (problem.level, problem.code, problem.offset) == ("warning", "not-an-event-file", 0)
    live = look(FORMAT.open(NAME), MemFile(NAME, garbage), 3 * MAX_CHECKS)
    assert codes(live.problems) == [("not-an-event-file", 0, False)]


def test_tiny_files_are_torn_not_garbage() -> None:
    """Three bytes may be the beginning of anything."""
    assert [p.code for p in read_whole(FORMAT, MemFile(NAME, b"abc")).problems] == ["torn-tail"]


def test_bad_protobuf_costs_one_record() -> None:
    """A record with right checksums that is no event is skipped, and said to be."""
    batch = read_whole(FORMAT, MemFile(NAME, points(0, 5) + w.record(b"\x0a\xff\xff\xff") + points(6, 9)))
    assert steps(batch) == [0, 1, 2, 3, 4, 6, 7, 8]
    assert codes(batch.problems) == [("unreadable-record", len(points(0, 5)), False)]


@pytest.mark.parametrize("torn", [5, 14, 30])
def test_new_writer_behind_a_torn_record(torn: int) -> None:
    """When another writer appends behind a torn record, its records are found within the length of that."""
    data = points(0, 5) + point(5)[:torn] + w.version() + points(6, 9)
    assert steps(read_whole(FORMAT, MemFile(NAME, data))) == [0, 1, 2, 3, 4, 6, 7, 8]
    file, log = MemFile(NAME, points(0, 5) + point(5)[:torn]), FORMAT.open(NAME)
    early = look(log, file, 2)
    file.append(w.version() + points(6, 9))
    late = look(log, file, MAX_CHECKS + 1)
    assert steps(early) + steps(late) == [0, 1, 2, 3, 4, 6, 7, 8]


def test_new_writer_within_a_torn_image() -> None:
    """A torn record of megabytes does not swallow what another writer appends within its length."""
    image = w.event(5, w.image("i", 3 << 20))[: 1 << 20]
    file, log = MemFile(NAME, points(0, 5) + image), FORMAT.open(NAME)
    early = look(log, file, 2)
    file.append(w.version() + points(6, 9))
    late = look(log, file, MAX_CHECKS + 1)
    assert steps(early) + steps(late) == [0, 1, 2, 3, 4, 6, 7, 8]


def test_truncated_file_is_left_to_others() -> None:
    """When the file becomes shorter than what was read, a look gives nothing and moves nothing."""
    file, log = MemFile(NAME, points(0, 50)), FORMAT.open(NAME)
    look(log, file)
    before = log.offset
    file.truncate(10)
    assert not look(log, file)
    assert log.offset == before


def test_messages_are_clean_and_short() -> None:
    """Every report names its file and place in one printable line."""
    data = points(0, 5) + b"\x1b]0;x\x07" * 20 + points(6, 9)
    for problem in read_whole(FORMAT, MemFile(NAME, data)).problems:
        assert problem.path == NAME
        assert problem.message.isprintable()
        assert len(problem.message) < 120
