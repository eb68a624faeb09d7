"""Damaged event files: read in columns, record by record and in pieces they give the same."""

from __future__ import annotations

import random
import struct
from functools import cache

import pytest

from rltui.logs.batch import Batch, concat
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.event_format import FORMAT as EVENTS
from tests.fuzz.damage import damaged
from tests.support.logs import tfwriter as w
from tests.support.logs.file_in_memory import MemFile, cut, read_on
from tests.support.shared import BUNDLED

NAME = "events.out.tfevents.1763600000.node7.991.0"
SINGLY, COLUMNS = 1 << 60, 0
# How pieces are read: in columns or not, bytes for each look. Columns of a few bytes cost most, tell least.
WAYS = [(way, budget) for way in (SINGLY, COLUMNS) for budget in (50, 1000, 1 << 20)]
ODDS = (4, 4, 4, 1, 4, 4)


@cache
def seeds() -> list[bytes]:
    """Small event files of every style, and the beginnings of real ones."""
    tags = w.TAGS[:5]
    styled = [make(6, tags) for make in w.STYLES.values()]
    words = w.version() + w.event(0, w.text("args", "| a |\n|---|"), w.hparams({"lr": 0.1, "env": "x"}))
    odd = words + w.session_start(3) + w.event(-1, w.simple("a", 1.0), w.histogram("h", 3)) + w.graph(300)
    bundled = [path.read_bytes()[:6000] for path in sorted(BUNDLED.glob("*/*tfevents*"))]
    return [*styled, odd + w.simple_file(3, tags), *bundled]


def mutate(data: bytes, draw: random.Random) -> tuple[bytes, int]:
    """The bytes with one to four damages, lengths and whole records among them, and where the first is."""
    length = struct.pack("<Q", draw.choice((0, 1, 255, 2**26 + 1, 2**32, 2**60, 2**64 - 1)))
    words = (length + w.masked_crc(length), w.record(draw.randbytes(draw.randrange(60))))
    return damaged(data, draw, times=4, words=words if draw.random() < 0.5 else ())


def deliver(pieces: list[bytes], columns_from: int, budget: int, verify: bool) -> Batch:
    """Everything that pieces give, one delivered after the other."""
    file, log = MemFile(NAME, *pieces), EVENTS.open(NAME, verify=verify)
    before = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_reader, "COLUMNS_FROM", columns_from)
        batches = read_on(log, file, budget)
        while file.grow():
            batches += read_on(log, file, budget)
            assert before <= log.offset <= file.size(), "the offset went astray"
            before = log.offset
        batches.append(log.finish(file))
    return concat(batches)


def said(batch: Batch) -> tuple[object, ...]:
    """Everything but the problems, comparable to the bit."""
    texts = [(text.tag, text.step, text.kind, text.body) for text in batch.texts]
    columns = (batch.tag, batch.step, batch.wall_time, batch.value, batch.single)
    return (list(batch.tags), [column.tobytes() for column in columns], batch.starts, texts)


def attempt(seed: bytes, draw: random.Random) -> None:
    """Damage an event file and read it in every way. Raises AssertionError when two ways differ."""
    data, first = mutate(seed, draw)
    EVENTS.open(NAME).newest(MemFile(NAME, data), draw.randint(1, 5000))
    whole = deliver([data], SINGLY, 1 << 20, verify=False)
    proved = draw.random() < 0.75  # without proof wrong data may pass, but nothing may break
    columns = deliver([data], COLUMNS, 1 << 20, verify=proved)
    assert not proved or said(columns) == said(whole), "columns differ"
    pieces = cut(data, [draw.randrange(len(data) + 1) for _ in range(3)])
    parts = deliver(pieces, *draw.choices(WAYS, ODDS)[0], verify=True)
    assert said(parts) == said(whole), "read differently in pieces"
    intact = deliver([data[:first]], SINGLY, 1 << 20, verify=False)
    for ours, theirs in ((intact.step, whole.step), (intact.value, whole.value)):
        assert ours.tobytes() == theirs[: len(intact)].tobytes(), "lost what stands before the damage"
