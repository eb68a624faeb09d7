"""Replaying a recording as an event file that grows, with wall times that end now."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rltui.demo.recording import Recording, Row
from rltui.logs.formats import protobuf
from rltui.logs.formats.tfevents import tf_record

BEFORE = 0.4  # share of the run that is written when the monitor opens
ROWS_PER_SECOND = 2.0  # at speed 1


class Replay:
    """Writes a recording below `folder`: part of it at once, the rest row by row.

    The wall time of a row is the current time; those of earlier rows are computed from the same pace.
    """

    def __init__(
        self,
        recording: Recording,
        folder: Path,
        *,
        speed: float = 1.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.recording = recording
        self.pace = 1.0 / (ROWS_PER_SECOND * speed)  # seconds per row
        self._clock = clock
        self._next = 0
        self._stopped = threading.Event()
        self.path = folder / recording.name / f"events.out.tfevents.{int(clock())}.demo.1.0"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()

    def write_until(self, count: int) -> None:
        """Write the rows up to `count`, the last of them with the current time."""
        rows = self.recording.rows[self._next : count]
        now = self._clock()
        times = [now - (len(rows) - 1 - i) * self.pace for i in range(len(rows))]
        with self.path.open("ab") as file:
            if self._next == 0:
                file.write(_record(_event(times[0] if times else now, 0, b"\x1a\x0dbrain.Event:2")))
            _write_rows(file, rows, times)
        self._next += len(rows)

    def start(self, before: float = BEFORE) -> None:
        """Write the share `before` now and the rest from a daemon thread."""
        self.write_until(int(len(self.recording.rows) * before))
        threading.Thread(target=self._write_remaining_rows, name="replay", daemon=True).start()

    def stop(self) -> None:
        """Write no more rows."""
        self._stopped.set()

    def _write_remaining_rows(self) -> None:
        while self._next < len(self.recording.rows) and not self._stopped.wait(self.pace):
            self.write_until(self._next + 1)


def _write_rows(file: BinaryIO, rows: tuple[Row, ...], times: list[float]) -> None:
    for (step, _, values), at in zip(rows, times, strict=True):
        for tag, value in values.items():
            name = tag.encode()
            single = protobuf.field(0x0A, name) + b"\x15" + struct.pack("<f", value)
            file.write(_record(_event(at, step, protobuf.field(0x2A, protobuf.field(0x0A, single)))))


def _event(wall_time: float, step: int, rest: bytes) -> bytes:
    """An encoded tensorflow.Event: wall_time (1, double), step (2, varint, omitted if 0), then `rest`."""
    count = b"\x10" + protobuf.encode(step % (1 << 64)) if step else b""
    return b"\x09" + struct.pack("<d", wall_time) + count + rest


def _record(payload: bytes) -> bytes:
    """TFRecord framing: length, its masked CRC-32C, payload, its masked CRC-32C."""
    length = struct.pack("<Q", len(payload))
    return length + _masked(length) + payload + _masked(payload)


def _masked(data: bytes) -> bytes:
    return struct.pack("<I", tf_record.masked(data))
