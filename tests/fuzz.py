"""Damaged logs without end: no mutation may raise, hang, or lose what stands before it.

`python -m tests.fuzz [--count N] [--seconds S] [--seed K] [--jobs J]`. Every case has a number, and is the
same whenever it is run; a failure names it. Ends with status 1 when there was one.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import random
import resource
import struct
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor

import pytest

from rltui.batch import Batch, concat
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.event_file import FORMAT as EVENTS
from tests.bench import fuzz_text, fuzz_trackers
from tests.support import tfwriter as w
from tests.support.memfile import MemFile, cut, read_on, read_whole
from tests.support.shared import BUNDLED

COUNT = 1_000_000
CHUNK = 500  # cases between two looks at the clock
TOLD = 50_000  # cases between two words about how far it is
STUCK = 600  # seconds after which a chunk shows where it hangs, and ends
SLOW = 5.0  # seconds of processor time that no case may take
MEMORY = 1 << 30  # bytes that no worker may need
NAME = "events.out.tfevents.1763600000.node7.991.0"
SINGLY, COLUMNS = 1 << 60, 0
# How pieces are read: in columns or not, bytes for each look. Columns of a few bytes cost most, tell least.
WAYS = [(way, budget) for way in (SINGLY, COLUMNS) for budget in (50, 1000, 1 << 20)]
ODDS = (4, 4, 4, 1, 4, 4)


def event_seeds() -> list[bytes]:
    """Small event files of every style, and the beginnings of real ones."""
    tags = w.TAGS[:5]
    styled = [make(6, tags) for make in w.STYLES.values()]  # type: ignore[call-arg]
    words = w.version() + w.event(0, w.text("args", "| a |\n|---|"), w.hparams({"lr": 0.1, "env": "x"}))
    odd = words + w.session_start(3) + w.event(-1, w.simple("a", 1.0), w.histogram("h", 3)) + w.graph(300)
    bundled = [path.read_bytes()[:6000] for path in sorted(BUNDLED.glob("*/*tfevents*"))]
    return [*styled, odd + w.simple_file(3, tags), *bundled]


def mutate_events(data: bytes, draw: random.Random) -> tuple[bytes, int]:
    """The bytes with one to four damages, and where the first of them is."""
    out = bytearray(data)
    first = len(out)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(out) + 1)
        kind = draw.randrange(9)
        size = draw.choice((1, 2, 4, 8, 16, 64, 300, 4096))
        if kind == 0 and place < len(out):
            out[place] ^= 1 << draw.randrange(8)
        elif kind == 1:
            out[place : place + size] = bytes(min(size, len(out) - place))
        elif kind == 2:
            del out[place : place + size]
        elif kind == 3:
            out[place:place] = draw.randbytes(size)
        elif kind == 4:
            out[place:place] = out[max(0, place - size) : place]
        elif kind == 5:
            del out[place:]
        elif kind == 6:
            length = struct.pack("<Q", draw.choice((0, 1, 255, 2**26 + 1, 2**32, 2**60, 2**64 - 1)))
            out[place:place] = length + w.masked_crc(length)
        elif kind == 7:
            out[place:place] = w.record(draw.randbytes(draw.randrange(60)))
        else:
            out[place : place + size] = b"\xff" * min(size, len(out) - place)
        first = min(first, place)
    return bytes(out), first


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


def attempt_events(seed: bytes, draw: random.Random) -> None:
    """Damage an event file and read it in every way. Raises AssertionError when two ways differ."""
    data, first = mutate_events(seed, draw)
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


def attempt_packed(seed: bytes, draw: random.Random) -> None:
    """Damage a compressed log and read it."""
    packed = bytearray(gzip.compress(seed, 1))
    for _ in range(draw.randint(0, 3)):
        packed[draw.randrange(len(packed))] ^= 1 << draw.randrange(8)
    del packed[draw.randrange(len(packed) + 1) :]
    data = bytes(packed)
    name = draw.choice(("metrics.jsonl.gz", "progress.csv.gz", NAME + ".gz"))
    form = REGISTRY.recognise(name, data[:HEAD])
    if form is not None:
        read_whole(form, MemFile(name, data))


def case(number: int, events: list[bytes], texts: list[tuple[object, bytes]]) -> str | None:
    """Run one case; what went wrong, or None."""
    draw = random.Random(number)
    kind = draw.choices(("events", "text", "packed", "trackers"), (5, 3, 1, 3))[0]
    began = time.process_time()
    try:
        if kind == "events":
            attempt_events(draw.choice(events), draw)
        elif kind == "text":
            form, data = draw.choice(texts)
            fuzz_text.attempt(form, fuzz_text.mutate(data, draw), draw)  # type: ignore[arg-type]
        elif kind == "trackers":
            fuzz_trackers.attempt(draw.choice(fuzz_trackers.seeds()), draw)
        else:
            attempt_packed(draw.choice([*events, *(data for _, data in texts)]), draw)
    except Exception as error:  # noqa: BLE001 - anything at all is what is looked for
        return f"case {number} ({kind}): {error!r}"
    took = time.process_time() - began
    return f"case {number} ({kind}) took {took:.1f} s" if took > SLOW else None


def chunk(start: int, count: int) -> list[str]:
    """Run a row of cases; everything that went wrong."""
    faulthandler.dump_traceback_later(STUCK, exit=True)
    events, texts = event_seeds(), fuzz_text.seeds()
    wrong = [said for number in range(start, start + count) if (said := case(number, events, texts))]  # type: ignore[arg-type]
    faulthandler.cancel_dump_traceback_later()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if peak > MEMORY:
        wrong.append(f"{peak >> 20} MB of memory by case {start + count}")
    return wrong


def main() -> int:
    """Run cases until the number or the time is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    done, wrong = 0, 0
    with ProcessPoolExecutor(options.jobs) as pool:
        while done < options.count and time.monotonic() < end and wrong < 20:
            row: list[Future[list[str]]] = []
            while len(row) < options.jobs and done < options.count:
                size = min(CHUNK, options.count - done)
                row.append(pool.submit(chunk, options.seed + done, size))
                done += size
            for future in row:
                for message in future.result():
                    wrong += 1
                    print(message, flush=True)
            if done % TOLD < len(row) * CHUNK:
                print(f"{done:,} so far, {wrong or 'none'} at fault", file=sys.stderr, flush=True)
    print(f"{done:,} damaged logs, {wrong or 'none'} at fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
