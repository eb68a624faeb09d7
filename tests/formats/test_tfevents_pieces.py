"""Event files: the same bytes give the same scalars, however they arrive and whichever path reads them."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import Batch, concat
from rltui.logs.formats.tfevents.event_format import FORMAT
from tests.fuzz.cases import case
from tests.support.logs import tfwriter as w
from tests.support.logs.drawn_event_files import COLUMNS, SINGLY, columns_from, content, files, record
from tests.support.logs.file_in_memory import MemFile, cut, read_on

NAME = "events.out.tfevents.1763600000.node7.991.0"


def deliver(pieces: list[bytes], size: int, budget: int = 1 << 20, verify: bool = False) -> Batch:
    """All that pieces give, delivered one after the other."""
    file = MemFile(NAME, *pieces)
    log = FORMAT.open(NAME, verify=verify)
    with columns_from(size):
        batches = read_on(log, file, budget)
        while file.grow():
            batches += read_on(log, file, budget)
        batches.append(log.finish(file))
    return concat(batches)


@given(files)
def test_both_paths_give_the_same(data: bytes) -> None:
    """Read as columns and record by record, a file gives the same, with all checksums proved or not."""
    singly = deliver([data], SINGLY)
    for verify in (False, True):
        columns = deliver([data], COLUMNS, verify=verify)
        assert content(columns) == content(singly)
        assert columns.problems == singly.problems


@given(files, st.lists(st.integers(0, 4000), max_size=12), st.integers(40, 3000), st.booleans())
def test_any_pieces_give_the_same(data: bytes, places: list[int], budget: int, by_columns: bool) -> None:
    """Bytes cut anywhere, delivered in any pieces and read with any budget, give the same."""
    size = COLUMNS if by_columns else SINGLY
    assert content(deliver(cut(data, places), size, budget)) == content(deliver([data], SINGLY))


@given(
    files,
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 7)), min_size=1, max_size=3),
    st.lists(st.integers(0, 4000), max_size=6),
)
def test_damage_is_the_same_in_any_pieces(
    data: bytes, flips: list[tuple[int, int]], places: list[int]
) -> None:
    """Flipped bits cost the same records however the bytes arrive, when all checksums are proved."""
    damaged = bytearray(data)
    for place, bit in flips:
        if place < len(damaged):
            damaged[place] ^= 1 << bit
    whole = content(deliver([bytes(damaged)], SINGLY))
    assert content(deliver([bytes(damaged)], COLUMNS, verify=True)) == whole
    assert content(deliver(cut(bytes(damaged), places), SINGLY)) == whole


@given(st.lists(record(), max_size=20), st.integers(0, 20), st.binary(min_size=1, max_size=100))
def test_nothing_before_damage_is_lost(records: list[bytes], place: int, junk: bytes) -> None:
    """What stands before damage is read, and so is every whole record behind it."""
    before, behind = b"".join(records[:place]), b"".join(records[place:])
    first = deliver([before], SINGLY)
    both = deliver([before + junk + behind], SINGLY)
    assert len(both) >= len(first)
    assert both.value[: len(first)].tobytes() == first.value.tobytes()


@pytest.mark.parametrize("style", w.STYLES)
def test_long_files_give_the_same_by_both_paths(style: str) -> None:
    """Thousands of records in every style, in blocks of odd sizes, read the same as columns and singly."""
    data = w.STYLES[style](60)
    singly = content(deliver([data], SINGLY))
    for budget in (1 << 20, 70_001):
        assert content(deliver([data], COLUMNS, budget)) == singly
    assert content(deliver([data], COLUMNS, 70_001, verify=True)) == singly


@pytest.mark.parametrize("first", [0, 1000, 2000])
def test_damaged_logs_of_all_formats(first: int) -> None:
    """No mutation of a log of any format raises, hangs, or loses what stands before it (see `tests.fuzz`)."""
    assert [case(number) for number in range(first, first + 100)] == [None] * 100


def test_float32_marks_stay_with_their_records() -> None:
    """A float32 that is read singly among doubles that are read as columns keeps its mark."""
    doubles = w.event(1, w.tensor("a", 0.5, "double")) * 300
    odd = w.event(2, w.simple("a", 1.0), extra=b"\x10\x05")
    batch = deliver([doubles, doubles + odd + doubles], COLUMNS)
    assert batch.single.nonzero()[0].tolist() == [600]
    assert batch.step[600] == 5
    simple = w.event(3, w.simple("a", 1.0)) * 300
    assert deliver([doubles, simple], COLUMNS).single.tolist() == [False] * 300 + [True] * 300


def test_wall_time_nan_keeps_its_bits() -> None:
    """Even the payload of a NaN wall time survives both paths."""
    odd = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_1234))[0]
    data = w.event(1, w.simple("a", 1.0), wall=odd) * 200
    assert math.isnan(odd)
    for size in (SINGLY, COLUMNS):
        assert deliver([data], size).wall_time.tobytes() == struct.pack("<d", odd) * 200
