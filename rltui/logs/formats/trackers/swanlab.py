"""SwanLab: `run-<id>.swanlab` (version 2, protobuf) and `backup.swanlab` (version 1, JSON lines).

Both have the log format of Weights & Biases, with another header. Version 1 writes `INF` for both infinities;
positive infinity is assumed. The step of a metric whose column declares an x axis is the value of that metric
at the same step, if it is a whole number.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import replace
from functools import lru_cache

import orjson

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.batch import Batch
from rltui.logs.formats.interface import File, Format
from rltui.logs.formats.protobuf import BYTES, fields, integers, signed, texts, timestamp, varint
from rltui.logs.formats.trackers.leveldb_record_log import MessageReader
from rltui.logs.records.parse_number import iso_time

MAGIC = b":SWL\xd6\xe1"

_START, _FINISH, _COLUMN, _SCALAR = 10, 11, 12, 13
_STATES = {1: "0", 2: "1", 3: "130"}  # finished, crashed, aborted: as exit codes
_MAX_PENDING = 10_000  # points without the value of their x axis; also entries of caches
_SYSTEM = "__swanlab__."  # before the names of hardware metrics
_DOUBLE = struct.Struct("<d")

# A scalar in version 2: number and time of the record, then
# {1 key, 2 step, 3 epoch, 4 time, 5 {1 value}}.
_VARINT = rb"[\x80-\xff]*[\x00-\x7f]"
_TIME = rb"\x08" + _VARINT + rb"(?:\x10" + _VARINT + rb")?"
_SCALAR_RECORD = regex(
    rb"\x08" + _VARINT + rb"\x12[\x02-\x10]" + _TIME + rb"j[\x00-\x7f]"
    rb"\n([\x01-\x7f])([ -~]+)\x10(" + _VARINT + rb")(?:\x18" + _VARINT + rb")?"
    rb"\"[\x02-\x10](" + _TIME + rb")\*\x09\x09([\x00-\xff]{8})\Z",
    re.DOTALL,
)  # fmt: skip


class SwanlabReader(MessageReader):
    """Reads one `.swanlab` file."""

    foreign = "not written by SwanLab"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._version: int | None = None  # until the header was read
        self._axes: dict[str, str] = {}  # by metric: the metric of its x axis
        self._system: set[str] = set()
        self._pending: dict[tuple[str, int], list[tuple[str, float, float]]] = {}
        self._pending_count = 0
        self._axis_values: dict[tuple[str, int], int] = {}
        self._infinities = 0

    def _fork(self, peek: MessageReader) -> MessageReader:
        assert isinstance(peek, SwanlabReader)
        peek._version, peek._axes, peek._system = self._version, dict(self._axes), set(self._system)
        return peek

    def _begin(self, file: File) -> None:
        if self._version is None:
            head = file.read_at(0, 7)
            if len(head) == 7:
                self._version = head[6]
                if self._version not in (1, 2):
                    message = f"SwanLab's format version {self._version} is not known; read as version 2"
                    self._problems.append(Problem("warning", "unknown-version", self._path, message, 6))

    def _decode(self, payloads: list[bytes], end: File | None = None) -> Batch:
        batch = super()._decode(payloads, end)
        if not self._infinities:
            return batch
        message = "infinities lost their sign when they were written; they are taken as positive"
        lost = Problem("info", "sign-lost", self._path, message, None, self._infinities)
        self._infinities = 0
        return replace(batch, problems=(*batch.problems, lost))

    def _take(self, payload: bytes) -> None:
        if self._version == 1:
            self._take_json(payload)
            return
        if found := _SCALAR_RECORD.match(payload):  # nearly all records
            size, key, step, time, value = found.groups()
            if size[0] == len(key):
                self._add_scalar(key.decode(), _step(step), _time(time), *_DOUBLE.unpack(value))
                return
        for number, kind, begin, end in fields(payload, 0, len(payload)):
            if kind != BYTES:
                continue
            if number == _SCALAR:
                self._scalar(payload, begin, end)
            elif number == _COLUMN:
                self._column(payload, begin, end)
            elif number == _START:
                self._start(payload, begin, end)
            elif number == _FINISH:
                code = _STATES.get(integers(payload, begin, end).get(1, 0))
                if code is not None:
                    self._records.add_exit_code(code)

    def _scalar(self, data: bytes, begin: int, end: int) -> None:
        key, step, wall, value = "", 0, math.nan, 0.0
        for number, kind, first, last in fields(data, begin, end):
            if number == 1 and kind == 2:
                key = data[first:last].decode("utf-8", "replace")
            elif number == 2 and kind == 0:
                step = signed(varint(data, first, last)[0])
            elif number == 4 and kind == 2:
                wall = timestamp(data, first, last)
            elif number == 5 and kind == 2:
                for inner, sort, low, high in fields(data, first, last):
                    if inner == 1 and sort == 1:
                        value = _DOUBLE.unpack(data[low:high])[0]
        self._add_scalar(key, step, wall, value)

    def _column(self, data: bytes, begin: int, end: int) -> None:
        texts_by_field = texts(data, begin, end)
        key, axis = texts_by_field.get(3, ""), texts_by_field.get(13, "")
        system = integers(data, begin, end).get(1) == 2
        if system:
            self._system.add(key)
        if axis and axis != key:
            self._axes[key] = axis

    def _start(self, data: bytes, begin: int, end: int) -> None:
        names = {1: "project", 4: "name", 5: "description", 6: "group", 10: "id"}
        texts_by_field = texts(data, begin, end).items()
        about = {names[number]: text for number, text in texts_by_field if number in names}
        self._records.add_hparams({"swanlab": about})

    def _take_json(self, payload: bytes) -> None:
        """One record of version 1: a JSON line with its model."""
        record = orjson.loads(payload)
        model, data = record["model_type"], record["data"]
        if model == "Scalar":
            metric = data["metric"]
            value = metric["data"]
            if type(value) is str:
                if value.upper() in ("INF", "-INF"):
                    self._infinities += 1
                value = float(value)
            step = int(data["step"])
            if not -(2**63) <= step < 2**63:
                raise ValueError("no step")
            self._add_scalar(data["key"], step, iso_time(str(metric.get("create_time"))), float(value))
        elif model == "Experiment":
            keys = ("id", "name", "description", "tags")
            self._records.add_hparams({"swanlab": {key: data[key] for key in keys if data.get(key)}})
        elif model == "Column" and data.get("column_class") == "SYSTEM":
            self._system.add(data["key"])
        elif model == "Footer":
            self._records.add_exit_code("0" if data.get("success") else "1")

    def _add_scalar(self, key: str, step: int, wall: float, value: float) -> None:
        """Add a point, at the value of its x axis if it has one; it may wait for that."""
        if key in self._system or key.startswith(_SYSTEM):  # hardware metrics count their own samples
            self._records.add_value(f"system/{key.removeprefix(_SYSTEM)}", value, (self._step, wall))
            return
        axis = self._axes.get(key)
        if axis is not None:
            x = self._axis_values.get((axis, step))
            if x is None:
                self._pending.setdefault((axis, step), []).append((key, wall, value))
                self._pending_count += 1
                if self._pending_count > _MAX_PENDING:
                    self._end()
                return
            step = x
        elif self._axes and key in self._axes.values():
            x = int(value) if value.is_integer() and abs(value) < 2.0**63 else step
            self._axis_values[key, step] = x
            self._add_points(self._pending.pop((key, step), []), x)
            if len(self._axis_values) > _MAX_PENDING:
                self._axis_values = {(key, step): x}
            step = x
        self._add_points([(key, wall, value)], step)

    def _end(self) -> None:
        """Add the points whose axis was not logged at their step, with that step."""
        for (_, step), points in self._pending.items():
            self._add_points(points, step)
        self._pending, self._pending_count = {}, 0

    def _add_points(self, points: list[tuple[str, float, float]], step: int) -> None:
        self._step = step
        for key, wall, value in points:
            self._records.add_value(key, value, (step, wall))


@lru_cache(maxsize=_MAX_PENDING)
def _step(raw: bytes) -> int:
    return signed(varint(raw, 0, len(raw))[0])


@lru_cache(maxsize=_MAX_PENDING)
def _time(raw: bytes) -> float:
    return timestamp(raw, 0, len(raw))


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the header."""
    return name.endswith(".swanlab") and (not head or MAGIC.startswith(head[:6]))


FORMAT = Format("swanlab", _matches, lambda path, _: SwanlabReader(path))
