"""Steps that come again are read in one go, and say what they say record by record."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.batch import Batch
from rltui.logs.formats.tfevents import FORMAT
from rltui.logs.formats.tfevents.bulk import step_stride
from tests.support import tfwriter as w
from tests.support.memfile import MemFile
from tests.support.tfdraw import content

NAME = "events.out.tfevents.1763600000.node7.991.0"
TAGS = [f"actor/metric_{number}" for number in range(step_stride.LEAST + 4)]


def step(number: int, tags: list[str] = TAGS, value: float | bytes = 0.5) -> bytes:
    """What a run writes in one step."""
    return b"".join(w.event(number, w.simple(tag, value), wall=w.WALL + number) for tag in tags)


def live(pieces: list[bytes], *, singly: bool) -> list[Batch]:
    """What each piece gives that a writer appends, with or without strides."""
    with pytest.MonkeyPatch.context() as patch:
        if singly:
            patch.setattr(step_stride, "LEAST", 1 << 30)
        file, log, given = MemFile(NAME, w.version()), FORMAT.open(NAME), []
        for piece in [b"", *pieces]:
            file.append(piece)
            given += [log.read(file), log.read(file)]
        return [*given, log.finish(file)]


def same(pieces: list[bytes]) -> None:
    """With strides as without."""
    one, other = live(pieces, singly=False), live(pieces, singly=True)
    assert [content(batch) for batch in one] == [content(batch) for batch in other]
    assert [batch.problems for batch in one] == [batch.problems for batch in other]


def test_a_step_that_comes_again_is_a_stride() -> None:
    """From the third step on a run that logs the same tags is read in strides, which share their tags."""
    batches = [batch for batch in live([step(k) for k in range(10, 16)], singly=False) if len(batch)]
    assert [len(batch) for batch in batches] == [len(TAGS)] * 6
    assert len({id(batch.tag) for batch in batches[2:]}) == 1
    assert [batch.step.tolist() for batch in batches] == [[k] * len(TAGS) for k in range(10, 16)]


@settings(max_examples=60)
@given(st.data())
def test_strides_as_records(data: st.DataObject) -> None:
    """Whatever comes between the steps of a run, and whatever they hold, strides change nothing."""
    tags = data.draw(st.lists(st.sampled_from(TAGS), min_size=step_stride.LEAST, max_size=12))
    number = data.draw(st.sampled_from([0, 1, 120, 16380, 2**35, -5]))
    pieces: list[bytes] = []
    for _ in range(data.draw(st.integers(3, 12))):
        number += data.draw(st.sampled_from([0, 1, 1, 1, 4]))
        value = data.draw(st.one_of(st.floats(width=32), st.binary(min_size=4, max_size=4)))
        piece = step(number, tags, value)
        change = data.draw(st.integers(0, 11))
        if change == 0:
            piece = step(number, tags[1:] + tags[:1], value)
        elif change == 1:
            piece = step(number, tags[:4], value) + step(number + 1, tags[4:], value)
        elif change == 2:
            place = data.draw(st.integers(0, len(piece) - 1))
            piece = (
                piece[:place] + bytes([piece[place] ^ 1 << data.draw(st.integers(0, 7))]) + piece[place + 1 :]
            )
        elif change == 3:
            piece += piece
        elif change == 4:
            cut = data.draw(st.integers(0, len(piece)))
            pieces.append(piece[:cut])
            piece = piece[cut:]
        pieces.append(piece)
    same(pieces)


def test_changes_of_one_byte() -> None:
    """Any changed byte of a step is told of or read as it is without strides, and costs no other step."""
    before, behind = [step(k) for k in range(3)], [step(k) for k in range(4, 6)]
    piece = step(3)
    for place in range(0, len(piece), 7):
        changed = bytearray(piece)
        changed[place] ^= 0x10
        same([*before, bytes(changed), *behind])


def test_steps_as_long_that_differ() -> None:
    """Other tags of the same lengths, another order, and two steps in one are read as what they are."""
    alike = [f"tag{number}" for number in range(9)]
    before, behind = [step(k, alike) for k in range(3)], [step(9, alike)]
    same([*before, step(3, alike[::-1]), *behind])
    same([*before, step(3, [tag.upper() for tag in alike]), *behind])
    same([*before, step(3, alike[:4]) + step(4, alike[4:]), *behind])


def test_a_step_that_is_no_varint() -> None:
    """Bytes of a step's length that are no step are parsed by the book."""
    odd = b"".join(_record(b"\x18\x05\x00", tag) for tag in TAGS)
    same([step(300 + k) for k in range(3)] + [odd, step(304)])


def _record(third: bytes, tag: str) -> bytes:
    body = w.event(300, w.simple(tag, 0.5), wall=w.WALL)
    data = body[12:-4]
    assert data[9:12] == b"\x10" + b"\xac\x02"
    return w.record(data[:9] + third + data[12:])


def test_bits_of_odd_numbers_survive() -> None:
    """NaN payloads of values and wall times are those that reading record by record gives."""
    odd = struct.pack("<I", 0x7FA0_1234)
    same([step(k, TAGS, odd) for k in range(5)])
