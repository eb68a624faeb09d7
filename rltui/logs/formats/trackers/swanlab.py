"""SwanLab: `run-<id>.swanlab` (version 2, protobuf) and `backup.swanlab` (version 1, JSON lines).

Both are record logs as Weights & Biases writes them, with another header. Version 1 writes `INF` for
both infinities: the sign is lost, and positive infinity is assumed. A metric whose column names an x axis
takes the value of that metric at the same step as its step, where it is whole.
"""

from __future__ import annotations

import json
import math
import re
import struct

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
_PENDING = 10_000  # points that wait for the value of their x axis
_DOUBLE = struct.Struct("<d")

# A scalar as version 2 writes it: number and time of the record, then
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
    """One `.swanlab` file being read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordLog(path, "not written by SwanLab")
        self._version: int | None = None  # until the header is there
        self._tags = TagTable(path)
        self._axes: dict[str, str] = {}  # metric -> the metric whose value is its x
        self._system: set[str] = set()
        self._waiting: dict[tuple[str, int], list[tuple[int, float, float]]] = {}
        self._waits = 0
        self._axis_values: dict[tuple[str, int], int] = {}
        self._last = 0  # the newest step
        self._plain_keys: dict[bytes, int] = {}  # length and key of a scalar -> tag, -1: read with care
        self._steps: dict[bytes, int] = {}  # varint -> step
        self._times: dict[bytes, float] = {}  # message -> seconds
        self._unsigned = 0
        self._texts: list[Text] = []
        self._problems: list[Problem] = []
        self._clear()

    @property
    def offset(self) -> int:
        """Bytes settled."""
        return self._records.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        self._look(file)
        self._decode(self._records.take(file, budget))
        return self._batch()

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the last `length` bytes."""
        self._look(file)
        peek = SwanlabReader(self._path)
        peek._version, peek._tags = self._version, self._tags
        peek._axes, peek._system = dict(self._axes), set(self._system)
        peek._decode(self._records.newest(file, length))
        peek._settle_waiting()
        return peek._batch().points()

    def finish(self, file: File) -> Batch:
        """Take what is left; a torn last record is reported."""
        self._look(file)
        self._decode(self._records.rest(file))
        self._settle_waiting()
        return self._batch(file)

    def _look(self, file: File) -> None:
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
        steps, times = self._steps, self._times
        for payload in payloads:
            # Nearly all records are scalars of one form; keys, steps and times repeat.
            try:
                found = match(payload) if plain else None
                if found is not None:
                    key, step, time, value = found.groups()
                    tag = keys.get(key)
                    if tag is None:
                        tag = self._plain_key(key)
                    if tag >= 0:
                        at = steps[step] if step in steps else self._step_of(step)
                        wall = times[time] if time in times else self._time_of(time)
                        self._tag.append(tag)
                        self._at.append(at)
                        self._wall.append(wall)
                        self._value.append(value)
                        continue
                take(payload)
            except (MalformedError, ValueError, KeyError, TypeError, IndexError, struct.error):
                self._records.malformed += 1

    def _plain_key(self, raw: bytes) -> int:
        """The tag of a metric with no axis in play, -1 where a point needs more care."""
        key = raw[1:].decode()
        plain = raw[0] == len(key) and not self._axes and not self._is_system(key)
        place = self._plain_keys[raw] = self._tags.index(key) if plain else -1
        return place

    def _step_of(self, raw: bytes) -> int:
        if len(self._steps) >= _PENDING:
            self._steps.clear()
        step = self._steps[raw] = signed(varint(raw, 0, len(raw))[0])
        return step

    def _time_of(self, raw: bytes) -> float:
        if len(self._times) >= _PENDING:
            self._times.clear()
        time = self._times[raw] = timestamp(raw, 0, len(raw))
        return time

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
        said = texts(data, begin, end)
        key, axis = said.get(3, ""), said.get(13, "")
        system = integers(data, begin, end).get(1) == 2
        if system:
            self._system.add(key)
        if axis and axis != key:
            self._axes[key] = axis
        self._plain_keys.clear()

    def _start(self, data: bytes, begin: int, end: int) -> None:
        names = {1: "project", 4: "name", 5: "description", 6: "group", 10: "id"}
        said = texts(data, begin, end).items()
        self._say_about({names[number]: text for number, text in said if number in names})

    def _finish_record(self, data: bytes, begin: int, end: int) -> None:
        code = _STATES.get(integers(data, begin, end).get(1, 0))
        if code is not None:
            self._texts.append(Text("exit", self._newest_step(), math.nan, "exit-code", code))

    def _say_about(self, about: dict[str, object]) -> None:
        self._texts.append(Text("config", 0, math.nan, "hparams", json.dumps({"swanlab": about})))

    def _take_json(self, payload: bytes) -> None:
        """One record of version 1: a JSON line that says its model."""
        record = orjson.loads(payload)
        model, data = record["model_type"], record["data"]
        if model == "Scalar":
            metric = data["metric"]
            value = metric["data"]
            if type(value) is str:
                if value.upper() in ("INF", "-INF"):
                    self._unsigned += 1
                value = float(value)
            step = int(data["step"])
            if not -(2**63) <= step < 2**63:
                raise ValueError("no step")
            self._add(data["key"], step, iso_time(str(metric.get("create_time"))), float(value))
        elif model == "Experiment":
            keys = ("id", "name", "description", "tags")
            self._say_about({key: data[key] for key in keys if data.get(key)})
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
            if self._axes and self._placed(key, tag, step, wall, value):
                return
        self._append(tag, step, wall, value)

    def _newest_step(self) -> int:
        """The step of the point taken last."""
        return self._at[-1] if self._at else self._last

    def _placed(self, key: str, tag: int, step: int, wall: float, value: float) -> bool:
        """Whether a point has an axis of its own and was put there, or waits for its axis."""
        axis = self._axes.get(key)
        if axis is not None:
            x = self._axis_values.get((axis, step))
            if x is not None:
                self._append(tag, x, wall, value)
            else:
                self._waiting.setdefault((axis, step), []).append((tag, wall, value))
                self._waits += 1
                if self._waits > _PENDING:
                    self._settle_waiting()
            return True
        if key in self._axes.values():
            x = int(value) if value.is_integer() and abs(value) < 2.0**63 else step
            self._axis_values[key, step] = x
            for each in self._waiting.pop((key, step), ()):
                self._append(each[0], x, each[1], each[2])
            if len(self._axis_values) > _PENDING:
                self._axis_values = {(key, step): x}
            self._append(tag, x, wall, value)
            return True
        return False

    def _settle_waiting(self) -> None:
        """Points whose axis was not logged at their step keep their step."""
        for (_, step), points in self._waiting.items():
            for tag, wall, value in points:
                self._append(tag, step, wall, value)
        self._waiting, self._waits = {}, 0

    def _append(self, tag: int, step: int, wall: float, value: float) -> None:
        if tag >= 0:
            self._tag.append(tag)
            self._at.append(step)
            self._wall.append(wall)
            self._value.append(_DOUBLE.pack(value))

    def _batch(self, end: File | None = None) -> Batch:
        problems = [*self._problems, *self._records.problems(end)]
        self._problems = []
        if self._unsigned:
            message = "infinities lost their sign when they were written; they are taken as positive"
            problems.append(Problem("info", "sign-lost", self._path, message, None, self._unsigned))
            self._unsigned = 0
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


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the header."""
    return name.endswith(".swanlab") and (not head or MAGIC.startswith(head[:6]))


FORMAT = Format("swanlab", _matches, lambda path, _: SwanlabReader(path))
