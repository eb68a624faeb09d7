"""Collects the content of events and builds a batch from it."""

from __future__ import annotations

import struct
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rltui.logs.batch import Batch, Histogram, SessionStart, Text
from rltui.logs.formats.tfevents.event_tags import SCALARS, EventTags
from rltui.logs.formats.tfevents.message import event, histogram, texts
from rltui.logs.records.histogram_quantiles import Quantiles
from rltui.logs.records.tag_table import name_of

_pack_double = struct.Struct("<d").pack


class ScalarRows:
    """The content of events: columns of points in file order, texts, histograms and restarts.

    wall_time: the eight bytes in the file. wide: the indices of points that were no float32.
    """

    __slots__ = ("histograms", "starts", "step", "tag", "texts", "value", "wall_time", "wide")

    def __init__(self) -> None:
        self.tag: list[int] = []
        self.step: list[int] = []
        self.wall_time: list[bytes] = []
        self.value: list[float] = []
        self.wide: list[int] = []
        self.starts: list[SessionStart] = []
        self.texts: list[Text] = []
        self.histograms: list[Histogram] = []

    def __len__(self) -> int:
        return len(self.tag)

    def add(self, number: int, step: int, wall_time: bytes, value: float, single: bool) -> None:
        """Add one point."""
        if not single:
            self.wide.append(len(self.tag))
        self.tag.append(number)
        self.step.append(step)
        self.wall_time.append(wall_time)
        self.value.append(value)

    def take(self, parsed: event.Event, data: bytes, tags: EventTags) -> None:
        """Add the content of an event. data: the record from which it was parsed."""
        if parsed.starts_session:
            self.starts.append(SessionStart(len(self.tag), parsed.step))
        for value in parsed.values:
            plugin = tags.plugin_for(value)
            if value.number is not None:
                if value.simple or plugin == SCALARS:
                    wall_time = _pack_double(parsed.wall_time)
                    number = value.number
                    self.add(tags.number(value.tag), parsed.step, wall_time, number.value, number.single)
            elif value.histogram is not None:
                self._add_histogram(parsed, value, histogram.parse(data, *value.histogram))
            elif plugin == b"histograms" and value.doubles is not None:
                self._add_histogram(parsed, value, histogram.parse_tensor(data, *value.doubles))
            elif plugin == b"text" and value.strings:
                self._add_text(parsed, value, "text", texts.text_body(data, value.strings))
            elif plugin == b"hparams":
                body = texts.hparams_body(data, value.content)
                if body:
                    self._add_text(parsed, value, "hparams", body)

    def _add_text(
        self, parsed: event.Event, value: event.Value, kind: Literal["text", "hparams"], body: str
    ) -> None:
        tag = name_of(value.tag.decode("utf-8", "replace"))
        self.texts.append(Text(tag, parsed.step, parsed.wall_time, kind, body))

    def _add_histogram(self, parsed: event.Event, value: event.Value, found: Quantiles | None) -> None:
        if found is not None:
            tag = name_of(value.tag.decode("utf-8", "replace"))
            self.histograms.append(Histogram(tag, parsed.step, parsed.wall_time, *found))

    def wall_times(self) -> NDArray[np.float64]:
        """(n,) the wall times."""
        return np.frombuffer(b"".join(self.wall_time), np.float64)

    def single(self) -> NDArray[np.bool_]:
        """(n,) whether each point was a float32."""
        single = np.ones(len(self.tag), np.bool_)
        if self.wide:
            single[self.wide] = False
        return single

    def batch(self, tags: EventTags) -> Batch:
        """The batch of everything added."""
        return Batch(
            tags.names,
            np.array(self.tag, np.uint32),
            np.array(self.step, np.int64),
            self.wall_times(),
            np.array(self.value, np.float64),
            self.single(),
            tuple(self.starts),
            tuple(self.texts),
            histograms=tuple(self.histograms),
        )
