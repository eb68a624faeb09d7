"""Weights & Biases: `run-<id>.wandb`, which the SDK writes while the run is active, offline and online.

Payloads are messages of wandb's `wandb_internal.proto`. History rows, the x axes declared by `define_metric`,
system statistics, configuration and the exit code are read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache

import numpy as np
import orjson

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.batch import Batch, Histogram, Text
from rltui.logs.formats.interface import BLOCK, File, Format, ReadFromStart
from rltui.logs.formats.protobuf import MalformedError, fields, integers, signed, texts, timestamp, varint
from rltui.logs.formats.trackers.leveldb_record_log import RecordLog
from rltui.logs.records.histogram_quantiles import Quantiles, quantiles_of
from rltui.logs.records.tag_table import TagTable, name_of

MAGIC = b":W&B\xe1\xbe\x00"

_HISTORY, _SUMMARY, _CONFIG, _STATS, _METRIC, _RUN, _EXIT = 2, 3, 5, 7, 12, 17, 18
# The step of rows synced from event files (wandb/sdk/internal/tb_watcher.py @ 0.19.11), after the folder of
# the event file if there are several (`namespaced_tag` in wandb/integration/tensorboard/log.py).
_GLOBAL_STEP = "global_step"
_OWN = ("_step", "_timestamp", "_runtime", "_wandb")  # items added by the tracker

# An item of a history row whose key is ASCII and whose value is a number, each shorter than 128 bytes:
# message {1: key or 2: nested key (once per part), 16: value as JSON}.
_ITEM = rb"\n[\x00-\x7f]((?:[\n\x12][\x01-\x7f][ -~]+)+)\x82\x01[\x01-\x7f]([-+0-9.eENaInfity]+)"
_ITEMS = regex(_ITEM)
_ROW = regex(rb"(?:" + _ITEM + rb")*")
_PART = regex(rb"[\n\x12][\x01-\x7f]([ -~]+)")


class WandbReader(ReadFromStart):
    """Reads one `.wandb` file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordLog(path, "no messages of wandb")
        self._tags = TagTable(path)
        self._tag_of_key: dict[bytes, int] = {}  # by raw key of an item: its tag, -1 if it is no series
        self._axes = _Axes()
        self._config: dict[str, object] = {}
        self._reported_config = ""
        self.tables: dict[str, int] = {}  # by base name of a stored table: the step of its row
        self._step = 0
        self._texts: list[Text] = []
        self._clear()

    @property
    def offset(self) -> int:
        """Bytes that have been read."""
        return self._records.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        return self._decode(self._records.take(file, budget))

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the rows in the last `length` bytes."""
        peek = WandbReader(self._path)
        peek._tags, peek._tag_of_key, peek._axes = self._tags, self._tag_of_key, deepcopy(self._axes)
        return peek._decode(self._records.newest(file, length)).points()

    def finish(self, file: File) -> Batch:
        """Read the rest, and report a torn last record."""
        return self._decode(self._records.rest(file), file)

    def _clear(self) -> None:
        self._tag: list[int] = []
        self._value: list[float] = []
        self._rows: list[tuple[int, float, int]] = []  # step, wall time, number of points
        self._histograms: list[Histogram] = []

    def _decode(self, payloads: list[bytes], end: File | None = None) -> Batch:
        for payload in payloads:
            try:
                self._take(payload)
            except (MalformedError, ValueError, IndexError):
                self._records.malformed += 1
        return self._batch(self._records.problems(end))

    def _take(self, payload: bytes) -> None:
        """One record: `num`, followed by the field of its type."""
        at, stop = 0, len(payload)
        if stop and payload[0] == 0x08:
            _, at = varint(payload, 1, stop)
        if at >= stop or payload[at] == _SUMMARY << 3 | 2:
            return
        if payload[at] == _HISTORY << 3 | 2:
            size, at = varint(payload, at + 1, stop)
            self._history(payload, at, at + size)
            return
        for number, kind, begin, end in fields(payload, at, stop):
            if kind != 2:
                continue
            if number == _HISTORY:
                self._history(payload, begin, end)
            elif number == _STATS:
                self._stats(payload, begin, end)
            elif number == _METRIC:
                self._axes.define(payload, begin, end)
                self._tag_of_key.clear()
            elif number == _CONFIG:
                self._configure(payload, begin, end)
            elif number == _RUN:
                self._run(payload, begin, end)
            elif number == _EXIT:
                self._exit(payload, begin, end)

    def _history(self, data: bytes, begin: int, end: int) -> None:
        row = _ROW.match(data, begin, end)
        stop = row.end() if row else begin
        step, plain = self._row_step(data, stop, end)
        if plain:
            items = dict(_ITEMS.findall(data, begin, stop))
        else:
            mixed = _parse_mixed_row(data, begin, end)
            items, step = mixed.items, mixed.step
        wall = _number(items, b"_timestamp")
        own = _number(items, b"_step")
        if step is None:
            step = int(own) if abs(own) < 2.0**63 else self._step
        self._step = step
        if not plain:
            self.tables.update(dict.fromkeys(mixed.tables, step))
            self._histograms += [Histogram(name_of(tag), step, wall, *of) for tag, of in mixed.histograms]
        if self._axes.any or data.find(b"global_step", begin, end) >= 0:
            for x, points in self._by_axis(items, step).items():
                self._add([tag for tag, _ in points], [value for _, value in points], x, wall)
            return
        tag_of = self._tag_of_key
        try:
            tags = [tag_of[key] for key in items]
        except KeyError:
            tags = [self._tag_of(key) for key in items]
        values = list(map(float, items.values()))
        if -1 in tags:
            kept = [(tag, value) for tag, value in zip(tags, values, strict=True) if tag >= 0]
            tags, values = [tag for tag, _ in kept], [value for _, value in kept]
        self._add(tags, values, step, wall)

    @staticmethod
    def _row_step(data: bytes, at: int, end: int) -> tuple[int | None, bool]:
        """The step after the items of a row, and whether there is nothing else."""
        if at == end:
            return None, True
        try:
            (number, kind, begin, stop), *more = fields(data, at, end)
            if number != 2 or kind != 2 or more:
                return None, False
            for inner, sort, first, last in fields(data, begin, stop):
                if inner == 1 and sort == 0:
                    return signed(varint(data, first, last)[0]), True
        except MalformedError:
            return None, False
        return 0, True

    def _by_axis(self, items: dict[bytes, bytes], step: int) -> dict[int, list[tuple[int, float]]]:
        """Tags and values of a row by step: that of the step metric if it is whole, else the tracker's."""
        named = {_name(key): value for key, value in items.items()}
        by_x: dict[int, list[tuple[int, float]]] = {}
        for key, value in items.items():
            tag = self._tag_of(key)
            if tag < 0:
                continue
            x = step
            name = _name(key)
            axis = self._axes.of(name) or _synced_axis(name, named)
            if axis in named:
                there = float(named[axis])
                x = int(there) if there.is_integer() and abs(there) < 2.0**63 else step
            by_x.setdefault(x, []).append((tag, float(value)))
        return by_x

    def _add(self, tags: list[int], values: list[float], step: int, wall: float) -> None:
        if tags:
            self._tag += tags
            self._value += values
            self._rows.append((step, wall, len(tags)))

    def _tag_of(self, key: bytes) -> int:
        """The tag of an item, by its raw key."""
        place = self._tag_of_key.get(key)
        if place is None:
            name = _name(key)
            own = name in _OWN or name.startswith("_wandb/")
            place = self._tag_of_key[key] = -1 if own else self._tags.index(name)
        return place

    def _stats(self, data: bytes, begin: int, end: int) -> None:
        """System metrics, which have no step: they get that of the latest row."""
        wall, tags, values = math.nan, [], []
        for number, kind, first, last in fields(data, begin, end):
            if number == 2 and kind == 2:
                wall = timestamp(data, first, last)
            elif number == 3 and kind == 2:
                key, value = _item(data, first, last)
                number_of = _finite(value)
                if key and number_of is not None:
                    tag = self._tags.index(f"system/{_name(key)}")
                    if tag >= 0:
                        tags.append(tag)
                        values.append(number_of)
        self._add(tags, values, self._step, wall)

    def _configure(self, data: bytes, begin: int, end: int) -> None:
        for number, kind, first, last in fields(data, begin, end):
            if number == 1 and kind == 2:
                key, value = _item(data, first, last)
                name = _name(key)
                if name.partition("/")[0] != "_wandb":
                    _set_nested(self._config, name, orjson.loads(value))
        self._report_config()

    def _run(self, data: bytes, begin: int, end: int) -> None:
        about: dict[str, object] = {}
        tags: list[str] = []
        for number, kind, first, last in fields(data, begin, end):
            if kind != 2:
                continue
            if number == 4:
                self._configure(data, first, last)
            elif number == 10:
                tags.append(_text(data[first:last]))
            elif number in _ABOUT:
                about[_ABOUT[number]] = _text(data[first:last])
        if tags:
            about["tags"] = tags
        self._config["wandb"] = about
        self._report_config()

    def _report_config(self) -> None:
        body = json.dumps(self._config)
        if self._config and body != self._reported_config:
            self._reported_config = body
            self._texts.append(Text("config", self._step, math.nan, "hparams", body))

    def _exit(self, data: bytes, begin: int, end: int) -> None:
        code = integers(data, begin, end).get(1, 0)
        self._texts.append(Text("exit", self._step, math.nan, "exit-code", str(code)))

    def _batch(self, problems: list[Problem]) -> Batch:
        if full := self._tags.problem():
            problems.append(full)
        texts, self._texts = self._texts, []
        step, wall_time, count = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        batch = Batch.of_doubles(
            self._tags.names,
            self._tag,
            np.repeat(np.array(step, np.int64), count),
            np.repeat(np.array(wall_time, np.float64), count),
            self._value,
            texts=texts,
            problems=problems,
            histograms=self._histograms,
        )
        self._clear()
        return batch


_ABOUT = {1: "id", 3: "project", 6: "group", 7: "job_type", 8: "name", 9: "notes", 13: "host"}


class _Axes:
    """The step metrics declared by `define_metric`: by exact name, else by a glob `prefix*`."""

    def __init__(self) -> None:
        self._numbered: list[str] = []  # names of metric records; later ones refer to their numbers
        self._exact: dict[str, str | None] = {}
        self._globs: list[tuple[str, str]] = []  # prefix, step metric

    @property
    def any(self) -> bool:
        """Whether any metric has a step metric."""
        return bool(self._globs or self._exact)

    def define(self, data: bytes, begin: int, end: int) -> None:
        """Add one MetricRecord."""
        found, place = texts(data, begin, end), integers(data, begin, end).get(5, 0)
        name, glob, axis = (found.get(number, "").replace("\\.", ".") for number in (1, 2, 4))
        if 0 < place <= len(self._numbered):
            axis = self._numbered[place - 1]
        self._numbered.append(name)
        if name and axis:
            self._exact[name] = axis
        if glob and axis:
            self._globs.append((glob.removesuffix("*"), axis))

    def of(self, name: str) -> str | None:
        """The step metric of a metric, or None."""
        if name in self._exact:
            return self._exact[name]
        return next((axis for prefix, axis in reversed(self._globs) if name.startswith(prefix)), None)


def _synced_axis(name: str, row: Mapping[str, bytes]) -> str:
    """The global step from the event file of an item: that of the nearest parent folder of its name."""
    folder = name
    while folder:
        folder = folder.rpartition("/")[0]
        axis = f"{folder}/{_GLOBAL_STEP}" if folder else _GLOBAL_STEP
        if axis in row:
            return axis
    return _GLOBAL_STEP


class _MixedRow(NamedTuple):
    """A row with other values than numbers. tables: base names of their files; histograms: by tag."""

    items: dict[bytes, bytes]
    step: int | None
    tables: list[str]
    histograms: list[tuple[str, Quantiles]]


def _parse_mixed_row(data: bytes, begin: int, end: int) -> _MixedRow:
    """Parse a row with any values.

    A JSON object with `_type` is an image, histogram or table and no series. It is one item, or one for each
    of its parts, depending on the version of wandb.
    """
    items: dict[bytes, bytes] = {}
    objects: dict[str, dict[str, object]] = {}
    parts: dict[str, dict[str, bytes]] = {}  # items that may be parts of objects, by the key before `/`
    step = None
    for number, kind, first, last in fields(data, begin, end):
        if number == 1 and kind == 2:
            key, value = _item(data, first, last)
            name = _name(key)
            prefix, _, part = name.rpartition("/")
            if part in _OBJECT_PARTS:
                parts.setdefault(prefix, {})[part] = value
            elif value[:1] == b"{" and b'"_type"' in value:
                content = _json(value)
                objects[name] = content if isinstance(content, dict) else {}
            items.update(_flat(key, value))
        elif number == 2 and kind == 2:
            step = integers(data, first, last).get(1, 0)
    for prefix, own in parts.items():
        if "_type" in own:
            objects[prefix] = {part: _json(value) for part, value in own.items()}
    if objects:
        prefixes = tuple(f"{name}/" for name in objects)
        items = {key: value for key, value in items.items() if not _name(key).startswith(prefixes)}
    tables, histograms = [], []
    for name, content in objects.items():
        if content.get("_type") == "table-file" and content.get("path"):
            tables.append(str(content["path"]).rpartition("/")[2])
        elif content.get("_type") == "histogram" and (found := _histogram(content)) is not None:
            histograms.append((name, found))
    return _MixedRow(items, step, tables, histograms)


_OBJECT_PARTS = ("_type", "path", "values", "bins")


def _histogram(content: dict[str, object]) -> Quantiles | None:
    """The quantiles of a histogram object: n counts (`values`) between n + 1 edges (`bins`)."""
    try:
        counts, edges = np.array(content["values"], np.float64), np.array(content["bins"], np.float64)
    except (KeyError, TypeError, ValueError):
        return None
    if counts.ndim != 1 or edges.shape != (len(counts) + 1,):
        return None
    return quantiles_of(edges[:-1], edges[1:], counts)


def _json(value: bytes) -> object:
    """A JSON value, perhaps with bare NaN and Infinity as written by wandb; None if it is malformed."""
    try:
        content: object = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return content


def _flat(key: bytes, value: bytes) -> Iterator[tuple[bytes, bytes]]:
    """A number unchanged, an object as its numbers, and nothing for any other value."""
    if value[:1] == b"{":
        try:
            inner = json.loads(value)
        except ValueError:
            return
        if "_type" in inner:
            return
        for name, each in inner.items():
            yield from _flat(key + _part(name), json.dumps(each).encode())
    elif _finite(value) is not None:
        yield key, value


def _part(name: str) -> bytes:
    """A part of a nested key as encoded in a row; only its text matters."""
    return b"\x12\x01" + name.encode("utf-8", "surrogatepass")


def _finite(value: bytes) -> float | None:
    """A number in JSON, including NaN and infinities; None for any other value."""
    if not value or value[:1] not in b"-0123456789NI":
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _item(data: bytes, begin: int, end: int) -> tuple[bytes, bytes]:
    """Raw key and JSON value of an item: {1 key, 2 nested key (repeated), 16 value}."""
    key, value = b"", b""
    for number, kind, first, last in fields(data, begin, end):
        if kind != 2:
            continue
        if number in (1, 2):
            key += b"\x12\x01" + data[first:last]
        elif number == 16:
            value = data[first:last]
    return key, value


@lru_cache(maxsize=10_000)
def _name(key: bytes) -> str:
    """The key of an item: its parts joined by `/`."""
    parts = _PART.findall(key) if key.isascii() else re.split(rb"\x12\x01", key)[1:]
    return "/".join(map(_text, parts))


def _number(items: dict[bytes, bytes], name: bytes) -> float:
    """The value of an item added by the tracker, NaN if it is missing."""
    for lead in (b"\x12" + bytes([len(name)]), b"\n" + bytes([len(name)]), b"\x12\x01"):
        value = items.get(lead + name)
        if value is not None:
            return float(value)
    return math.nan


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _set_nested(config: dict[str, object], name: str, value: object) -> None:
    """Set a key joined by `/` in nested dictionaries."""
    *folders, last = name.split("/")
    for folder in folders:
        inner = config.setdefault(folder, {})
        if not isinstance(inner, dict):
            return
        config = inner
    config[last] = value


def table_steps(file: File) -> dict[str, int]:
    """The step of each table in a `.wandb` file, by the base name of the table's file."""
    log = WandbReader(file.path)
    while len(log.read(file, 4 * BLOCK)):
        pass
    return log.tables


def _matches(name: str, head: bytes) -> bool:
    """By name, then by the header."""
    return name.endswith(".wandb") and (not head or MAGIC.startswith(head[:7]) or head.startswith(MAGIC))


FORMAT = Format("wandb", _matches, lambda path, _: WandbReader(path))
