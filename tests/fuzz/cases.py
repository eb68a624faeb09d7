"""One case by its number: which format is damaged, how, and what went wrong."""

from __future__ import annotations

import faulthandler
import gzip
import random
import resource
import time
from collections.abc import Mapping

from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import REGISTRY
from tests.fuzz import event_files, text_logs, tracker_files, tracker_parts
from tests.support.logs.file_in_memory import MemFile, read_whole

STUCK = 600  # seconds after which a chunk shows where it hangs, and ends
SLOW = 5.0  # seconds of processor time that no case may take
MEMORY = 1 << 30  # bytes that no worker may need
ODDS: Mapping[str, int] = {"events": 5, "text": 3, "packed": 1, "trackers": 3, "parts": 3}


def _attempt_packed(seed: bytes, draw: random.Random) -> None:
    """Damage a compressed log and read it."""
    packed = bytearray(gzip.compress(seed, 1))
    for _ in range(draw.randint(0, 3)):
        packed[draw.randrange(len(packed))] ^= 1 << draw.randrange(8)
    del packed[draw.randrange(len(packed) + 1) :]
    data = bytes(packed)
    name = draw.choice(("metrics.jsonl.gz", "progress.csv.gz", event_files.NAME + ".gz"))
    form = REGISTRY.recognise(name, data[:HEAD])
    if form is not None:
        read_whole(form, MemFile(name, data))


def case(number: int, only: str | None = None) -> str | None:
    """Run one case; what went wrong, or None. only: the kind of log, else one is drawn."""
    draw = random.Random(number)
    kind = only or draw.choices(tuple(ODDS), tuple(ODDS.values()))[0]
    began = time.process_time()
    try:
        if kind == "events":
            event_files.attempt(draw.choice(event_files.seeds()), draw)
        elif kind == "text":
            text_logs.attempt(*draw.choice(text_logs.seeds()), draw)
        elif kind == "trackers":
            tracker_files.attempt(draw.choice(tracker_files.seeds()), draw)
        elif kind == "parts":
            tracker_parts.attempt(draw)
        else:
            texts = (data for _, data in text_logs.seeds())
            _attempt_packed(draw.choice([*event_files.seeds(), *texts]), draw)
    except Exception as error:  # noqa: BLE001 - anything at all is what is looked for
        return f"case {number} ({kind}): {error!r}"
    took = time.process_time() - began
    return f"case {number} ({kind}) took {took:.1f} s" if took > SLOW else None


def chunk(start: int, count: int, only: str | None = None) -> list[str]:
    """Run a row of cases; everything that went wrong."""
    faulthandler.dump_traceback_later(STUCK, exit=True)
    wrong = [said for number in range(start, start + count) if (said := case(number, only))]
    faulthandler.cancel_dump_traceback_later()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if peak > MEMORY:
        wrong.append(f"{peak >> 20} MB of memory by case {start + count}")
    return wrong
