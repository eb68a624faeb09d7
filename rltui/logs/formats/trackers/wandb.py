"""Weights & Biases: `run-<id>.wandb`, which the SDK writes while the run is active, offline and online.

Payloads are messages of wandb's `wandb_internal.proto`. History rows, the x axes declared by `define_metric`,
system statistics, configuration and the exit code are read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache

import numpy as np
import orjson

from rltui.common.regex import regex
from rltui.logs.batch import Histogram
from rltui.logs.formats.interface import BLOCK, File, Format
from rltui.logs.formats.protobuf import BYTES, fields, integers, texts, timestamp
from rltui.logs.formats.trackers.leveldb_record_log import MessageReader
from rltui.logs.records.histogram_quantiles import Quantiles, quantiles_of
from rltui.logs.records.tag_table import name_of

MAGIC = b":W&B\xe1\xbe\x00"

_HISTORY, _CONFIG, _STATS, _METRIC, _RUN, _EXIT = 2, 5, 7, 12, 17, 18
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


class WandbReader(MessageReader):
    """Reads one `.wandb` file."""

    foreign = "no messages of wandb"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._axes = _Axes()
        self._config: dict[str, object] = {}
        self.tables: dict[str, int] = {}  # by base name of a stored table: the step of its row
        self._takes = {
            _HISTORY: self._history,
            _CONFIG: self._configure,
            _STATS: self._stats,
            _METRIC: self._axes.define,
            _RUN: self._run,
            _EXIT: self._exit,
        }

    def _fork(self, peek: MessageReader) -> MessageReader:
        assert isinstance(peek, WandbReader)
        peek._axes = deepcopy(self._axes)
        return peek

    def _take(self, payload: bytes) -> None:
        for number, kind, begin, end in fields(payload, 0, len(payload)):
            if kind == BYTES and number in self._takes:
                self._takes[number](payload, begin, end)

    def _history(self, data: bytes, begin: int, end: int) -> None:
        plain = _ROW.match(data, begin, end)
        stop = plain.end() if plain else begin
        row = _Row({_name(key): float(value) for key, value in _ITEMS.findall(data, begin, stop)})
        step = row.parse(data, stop, end)
        values = row.values
        wall, own = values.get("_timestamp", math.nan), values.get("_step", math.nan)
        if step is None:
            step = int(own) if abs(own) < 2.0**63 else self._step
        self._step = step
        for name, content in row.objects.items():
            if content.get("_type") == "table-file" and content.get("path"):
                self.tables[str(content["path"]).rpartition("/")[2]] = step
            elif content.get("_type") == "histogram" and (found := _histogram(content)) is not None:
                self._histograms.append(Histogram(name_of(name), step, wall, *found))
        if self._axes.any or _GLOBAL_STEP.encode() in data[begin:end]:
            for x, points in self._by_axis(values, step).items():
                self._add(points, x, wall)
        else:
            self._add({name: value for name, value in values.items() if not _is_own(name)}, step, wall)

    def _by_axis(self, values: dict[str, float], step: int) -> dict[int, dict[str, float]]:
        """The values of a row by step: that of the step metric if it is whole, else the tracker's."""
        by_x: dict[int, dict[str, float]] = {}
        for name, value in values.items():
            if _is_own(name):
                continue
            there = values.get(self._axes.of(name) or _synced_axis(name, values), math.nan)
            x = int(there) if there.is_integer() and abs(there) < 2.0**63 else step
            by_x.setdefault(x, {})[name] = value
        return by_x

    def _stats(self, data: bytes, begin: int, end: int) -> None:
        """System metrics, which have no step: they get that of the latest row."""
        wall, values = math.nan, {}
        for number, kind, first, last in fields(data, begin, end):
            if number == 2 and kind == BYTES:
                wall = timestamp(data, first, last)
            elif number == 3 and kind == BYTES:
                key, text = _item(data, first, last)
                if key and (value := _finite(text)) is not None:
                    values[f"system/{_name(key)}"] = value
        self._add(values, self._step, wall)

    def _configure(self, data: bytes, begin: int, end: int) -> None:
        for number, kind, first, last in fields(data, begin, end):
            if number == 1 and kind == BYTES:
                key, value = _item(data, first, last)
                name = _name(key)
                if name.partition("/")[0] != "_wandb":
                    _set_nested(self._config, name, orjson.loads(value))
        self._records.add_hparams(self._config)

    def _run(self, data: bytes, begin: int, end: int) -> None:
        about: dict[str, object] = {}
        tags: list[str] = []
        for number, kind, first, last in fields(data, begin, end):
            if kind != BYTES:
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
        self._records.add_hparams(self._config)

    def _exit(self, data: bytes, begin: int, end: int) -> None:
        self._records.add_exit_code(str(integers(data, begin, end).get(1, 0)))


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
        found, position = texts(data, begin, end), integers(data, begin, end).get(5, 0)
        name, glob, axis = (found.get(number, "").replace("\\.", ".") for number in (1, 2, 4))
        if 0 < position <= len(self._numbered):
            axis = self._numbered[position - 1]
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


def _is_own(name: str) -> bool:
    """Whether an item was added by the tracker."""
    return name[:1] == "_" and (name in _OWN or name.startswith("_wandb/"))


def _synced_axis(name: str, row: Mapping[str, float]) -> str:
    """The global step from the event file of an item: that of the nearest parent folder of its name."""
    folder = name
    while folder:
        folder = folder.rpartition("/")[0]
        axis = f"{folder}/{_GLOBAL_STEP}" if folder else _GLOBAL_STEP
        if axis in row:
            return axis
    return _GLOBAL_STEP


_OBJECT_PARTS = ("_type", "path", "values", "bins")


class _Row:
    """A row with any values. values: its numbers; objects: its images, histograms and tables, by tag.

    A JSON object with `_type` is one of these and no series. It is one item, or one for each of its parts,
    depending on the version of wandb.
    """

    def __init__(self, values: dict[str, float]) -> None:
        self.values = values
        self.objects: dict[str, dict[str, object]] = {}

    def parse(self, data: bytes, begin: int, end: int) -> int | None:
        """Add further items; the step of the row, if it has one. Raises MalformedError."""
        step = None
        parts: dict[str, dict[str, object]] = {}  # items that may be parts of objects, by the key before `/`
        for number, kind, first, last in fields(data, begin, end):
            if number == 1 and kind == BYTES:
                key, value = _item(data, first, last)
                name = _name(key)
                prefix, _, part = name.rpartition("/")
                if part in _OBJECT_PARTS:
                    parts.setdefault(prefix, {})[part] = _json(value)
                self._add(name, value)
            elif number == 2 and kind == BYTES:
                step = integers(data, first, last).get(1, 0)
        self.objects.update({prefix: own for prefix, own in parts.items() if "_type" in own})
        if self.objects:
            prefixes = tuple(f"{name}/" for name in self.objects)
            self.values = {
                name: value for name, value in self.values.items() if not name.startswith(prefixes)
            }
        return step

    def _add(self, name: str, value: bytes) -> None:
        """A number unchanged, an object as its numbers, and nothing for any other value."""
        if value[:1] == b"{":
            content = _json(value)
            if isinstance(content, dict) and "_type" in content:
                self.objects[name] = content
            elif isinstance(content, dict):
                for inner, each in content.items():
                    self._add(f"{name}/{inner}", json.dumps(each).encode())
        elif (number := _finite(value)) is not None:
            self.values[name] = number


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
