"""SwanLab: `run-<id>.swanlab` (version 2, protobuf) and `backup.swanlab` (version 1, JSON lines).

Both have the log format of Weights & Biases, with another header. Version 1 writes `INF` for both infinities;
positive infinity is assumed. The step of a metric whose column declares an x axis is the value of that metric
at the same step, if it is a whole number.
"""

from __future__ import annotations

import json
import math
import re
import struct
from functools import lru_cache

import numpy as np
import orjson

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.batch import Batch, Text
from rltui.logs.formats.interface import BLOCK, File, Format, ReadFromStart
from rltui.logs.formats.protobuf import MalformedError, fields, integers, signed, texts, timestamp, varint
from rltui.logs.formats.trackers.leveldb_record_log import RecordLog
from rltui.logs.records.parse_number import iso_time
from rltui.logs.records.tag_table import TagTable

MAGIC = b":SWL\xd6\xe1"

_START, _FINISH, _COLUMN, _SCALAR = 10, 11, 12, 13
_STATES = {1: "0", 2: "1", 3: "130"}  # finished, crashed, aborted: as exit codes
_MAX_PENDING = 10_000  # points without the value of their x axis; also entries of caches
_DOUBLE = struct.Struct("<d")

# A scalar in version 2: number and time of the record, then
# {1 key, 2 step, 3 epoch, 4 time, 5 {1 value}}.
_VARINT = rb"[\x80-\xff]*[\x00-\x7f]"
_TIME = rb"\x08" + _VARINT + rb"(?:\x10" + _VARINT + rb")?"
_SCALAR_RECORD = regex(
    rb"\x08" + _VARINT + rb"\x12[\x02-\x10]" + _TIME + rb"j[\x00-\x7f]"
    rb"\n([\x01-\x7f][ -~]+)\x10(" + _VARINT + rb")(?:\x18" + _VARINT + rb")?"
    rb"\"[\x02-\x10](" + _TIME + rb")\*\x09\x09([\x00-\xff]{8})\Z",
    re.DOTALL,
)  # fmt: skip


class SwanlabReader(ReadFromStart):
    """Reads one `.swanlab` file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordLog(path, "not written by SwanLab")
        self._version: int | None = None  # until the header was read
        self._tags = TagTable(path)
        self._axes: dict[str, str] = {}  # by metric: the metric of its x axis
        self._system: set[str] = set()
        self._pending: dict[tuple[str, int], list[tuple[int, float, float]]] = {}
        self._pending_count = 0
        self._axis_values: dict[tuple[str, int], int] = {}
        self._last = 0  # the newest step
        self._plain_keys: dict[bytes, int] = {}  # by length and key of a scalar: its tag, -1: see `_add`
        self._infinities = 0
        self._texts: list[Text] = []
        self._problems: list[Problem] = []
        self._clear()

    @property
    def offset(self) -> int:
        """Bytes that have been read."""
        return self._records.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        self._read_header(file)
        self._decode(self._records.take(file, budget))
        return self._batch()

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the last `length` bytes."""
        self._read_header(file)
        peek = SwanlabReader(self._path)
        peek._version, peek._tags = self._version, self._tags
        peek._axes, peek._system = dict(self._axes), set(self._system)
        peek._decode(self._records.newest(file, length))
        peek._add_pending()
        return peek._batch().points()

    def finish(self, file: File) -> Batch:
        """Read the rest, and report a torn last record."""
        self._read_header(file)
        self._decode(self._records.rest(file))
        self._add_pending()
        return self._batch(file)

    def _read_header(self, file: File) -> None:
        if self._version is None:
            head = file.read_at(0, 7)
            if len(head) == 7:
                self._version = head[6]
                if self._version not in (1, 2):
                    message = f"SwanLab's format version {self._version} is not known; read as version 2"
                    self._problems.append(Problem("warning", "unknown-version", self._path, message, 6))

    def _clear(self) -> None:
        self._tag: list[int] = []
        self._at: list[int] = []
        self._wall: list[float] = []
        self._value: list[bytes] = []  # little-endian doubles

    def _decode(self, payloads: list[bytes]) -> None:
        plain = self._version != 1
        take = self._take if plain else self._take_json
        match, keys = _SCALAR_RECORD.match, self._plain_keys
        for payload in payloads:
            # Nearly all records are scalars in one encoding; keys, steps and times repeat.
            try:
                found = match(payload) if plain else None
                if found is not None:
                    key, step, time, value = found.groups()
                    tag = keys.get(key)
                    if tag is None:
                        tag = self._plain_key(key)
                    if tag >= 0:
                        at, wall = _step(step), _time(time)
                        self._tag.append(tag)
                        self._at.append(at)
                        self._wall.append(wall)
                        self._value.append(value)
                        continue
                take(payload)
            except (MalformedError, ValueError, KeyError, TypeError, IndexError, struct.error):
                self._records.malformed += 1

    def _plain_key(self, raw: bytes) -> int:
        """The tag of a metric; -1 if x axes or system metrics may be involved."""
        key = raw[1:].decode()
        plain = raw[0] == len(key) and not self._axes and not self._is_system(key)
        place = self._plain_keys[raw] = self._tags.index(key) if plain else -1
        return place

    def _is_system(self, key: str) -> bool:
        return key in self._system or key.startswith("__swanlab__")

    def _take(self, payload: bytes) -> None:
        """One record of version 2."""
        for number, kind, begin, end in fields(payload, 0, len(payload)):
            if kind != 2:
                continue
            if number == _SCALAR:
                self._scalar(payload, begin, end)
            elif number == _COLUMN:
                self._column(payload, begin, end)
            elif number == _START:
                self._start(payload, begin, end)
            elif number == _FINISH:
                self._finish_record(payload, begin, end)

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
        self._add(key, step, wall, value)

    def _column(self, data: bytes, begin: int, end: int) -> None:
        texts_by_field = texts(data, begin, end)
        key, axis = texts_by_field.get(3, ""), texts_by_field.get(13, "")
        system = integers(data, begin, end).get(1) == 2
        if system:
            self._system.add(key)
        if axis and axis != key:
            self._axes[key] = axis
        self._plain_keys.clear()

    def _start(self, data: bytes, begin: int, end: int) -> None:
        names = {1: "project", 4: "name", 5: "description", 6: "group", 10: "id"}
        texts_by_field = texts(data, begin, end).items()
        self._report_config({names[number]: text for number, text in texts_by_field if number in names})

    def _finish_record(self, data: bytes, begin: int, end: int) -> None:
        code = _STATES.get(integers(data, begin, end).get(1, 0))
        if code is not None:
            self._texts.append(Text("exit", self._newest_step(), math.nan, "exit-code", code))

    def _report_config(self, about: dict[str, object]) -> None:
        self._texts.append(Text("config", 0, math.nan, "hparams", json.dumps({"swanlab": about})))

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
            self._add(data["key"], step, iso_time(str(metric.get("create_time"))), float(value))
        elif model == "Experiment":
            keys = ("id", "name", "description", "tags")
            self._report_config({key: data[key] for key in keys if data.get(key)})
        elif model == "Column" and data.get("column_class") == "SYSTEM":
            self._system.add(data["key"])
        elif model == "Footer":
            code = "0" if data.get("success") else "1"
            self._texts.append(Text("exit", self._newest_step(), math.nan, "exit-code", code))

    def _add(self, key: str, step: int, wall: float, value: float) -> None:
        if self._is_system(key):
            tag = self._tags.index(f"system/{key.removeprefix('__swanlab__.')}")
            step = self._newest_step()  # hardware metrics count their own samples
        else:
            tag = self._tags.index(key)
            if self._axes and self._placed_on_axis(key, tag, step, wall, value):
                return
        self._append(tag, step, wall, value)

    def _newest_step(self) -> int:
        """The step of the latest point."""
        return self._at[-1] if self._at else self._last

    def _placed_on_axis(self, key: str, tag: int, step: int, wall: float, value: float) -> bool:
        """Whether the metric has or is an x axis; then the point was added, or waits for its axis."""
        axis = self._axes.get(key)
        if axis is not None:
            x = self._axis_values.get((axis, step))
            if x is not None:
                self._append(tag, x, wall, value)
            else:
                self._pending.setdefault((axis, step), []).append((tag, wall, value))
                self._pending_count += 1
                if self._pending_count > _MAX_PENDING:
                    self._add_pending()
            return True
        if key in self._axes.values():
            x = int(value) if value.is_integer() and abs(value) < 2.0**63 else step
            self._axis_values[key, step] = x
            for each in self._pending.pop((key, step), ()):
                self._append(each[0], x, each[1], each[2])
            if len(self._axis_values) > _MAX_PENDING:
                self._axis_values = {(key, step): x}
            self._append(tag, x, wall, value)
            return True
        return False

    def _add_pending(self) -> None:
        """Add the points whose axis was not logged at their step, with that step."""
        for (_, step), points in self._pending.items():
            for tag, wall, value in points:
                self._append(tag, step, wall, value)
        self._pending, self._pending_count = {}, 0

    def _append(self, tag: int, step: int, wall: float, value: float) -> None:
        if tag >= 0:
            self._tag.append(tag)
            self._at.append(step)
            self._wall.append(wall)
            self._value.append(_DOUBLE.pack(value))

    def _batch(self, end: File | None = None) -> Batch:
        problems = [*self._problems, *self._records.problems(end)]
        self._problems = []
        if self._infinities:
            message = "infinities lost their sign when they were written; they are taken as positive"
            problems.append(Problem("info", "sign-lost", self._path, message, None, self._infinities))
            self._infinities = 0
        if full := self._tags.problem():
            problems.append(full)
        texts, self._texts = self._texts, []
        values = np.frombuffer(b"".join(self._value), "<f8")
        batch = Batch.of_doubles(
            self._tags.names, self._tag, self._at, self._wall, values, texts=texts, problems=problems
        )
        self._last = self._newest_step()
        self._clear()
        return batch


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
