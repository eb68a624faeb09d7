"""Scalars of one look, gathered event by event, and made into a batch."""

from __future__ import annotations

import numpy as np

from rltui.logs.tfevents import event, words
from rltui.logs.tfevents.tags import SCALARS, Tags
from rltui.scalars import Batch, Problem, SessionStart, Text
from rltui.text import clean

_NONE: tuple[tuple[()], ...] = ((), (), (), (), ())


class Rows:
    """What events say, gathered.

    points: (tag number, step, wall time, value, was it a float32), in file order.
    """

    __slots__ = ("points", "starts", "texts")

    def __init__(self) -> None:
        self.points: list[tuple[int, int, float, float, bool]] = []
        self.starts: list[SessionStart] = []
        self.texts: list[Text] = []

    def take(self, parsed: event.Event, data: bytes, tags: Tags) -> None:
        """Add all that `parsed` says; `data` is the record that it was parsed from."""
        if parsed.starts:
            self.starts.append(SessionStart(len(self.points), parsed.step))
        for value in parsed.values:
            plugin = tags.learn(value)
            if value.number is not None:
                if value.simple or plugin == SCALARS:
                    number, single = tags.number(value.tag), value.number.single
                    point = (number, parsed.step, parsed.wall_time, value.number.value, single)
                    self.points.append(point)
            elif plugin == b"text" and value.strings:
                self._say(parsed, value, "text", words.text_body(data, value.strings))
            elif plugin == b"hparams":
                body = words.hparams_body(data, value.content)
                if body:
                    self._say(parsed, value, "hparams", body)

    def _say(self, parsed: event.Event, value: event.Value, kind: str, body: str) -> None:
        tag = clean(value.tag.decode("utf-8", "replace"))
        self.texts.append(
            Text(tag, parsed.step, parsed.wall_time, "text" if kind == "text" else "hparams", body)
        )

    def batch(self, tags: Tags, problems: tuple[Problem, ...] = ()) -> Batch:
        """The columns as a batch."""
        tag, step, wall_time, value, single = zip(*self.points, strict=True) if self.points else _NONE
        return Batch(
            tags.names,
            np.array(tag, np.uint32),
            np.array(step, np.int64),
            np.array(wall_time, np.float64),
            np.array(value, np.float64),
            np.array(single, np.bool_),
            tuple(self.starts),
            tuple(self.texts),
            problems,
        )
