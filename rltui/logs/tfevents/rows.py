"""Scalars of one look, gathered event by event, and made into a batch."""

from __future__ import annotations

import numpy as np

from rltui.logs.tfevents import event, words
from rltui.logs.tfevents.tags import SCALARS, Tags
from rltui.scalars import Batch, Problem, SessionStart, Text
from rltui.text import clean


class Rows:
    """Growing columns: tag numbers, steps, wall times, values, float32 marks; and what else was said."""

    __slots__ = ("single", "starts", "step", "tag", "texts", "value", "wall_time")

    def __init__(self) -> None:
        self.tag: list[int] = []
        self.step: list[int] = []
        self.wall_time: list[float] = []
        self.value: list[float] = []
        self.single: list[bool] = []
        self.starts: list[SessionStart] = []
        self.texts: list[Text] = []

    def take(self, parsed: event.Event, data: bytes, tags: Tags) -> None:
        """Add all that `parsed` says; `data` is the record that it was parsed from."""
        if parsed.starts:
            self.starts.append(SessionStart(len(self.tag), parsed.step))
        for value in parsed.values:
            plugin = tags.learn(value)
            if value.number is not None:
                if value.simple or plugin == SCALARS:
                    self.tag.append(tags.number(value.tag))
                    self.step.append(parsed.step)
                    self.wall_time.append(parsed.wall_time)
                    self.value.append(value.number.value)
                    self.single.append(value.number.single)
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
        return Batch(
            tags=tags.names,
            tag=np.array(self.tag, np.uint32),
            step=np.array(self.step, np.int64),
            wall_time=np.array(self.wall_time, np.float64),
            value=np.array(self.value, np.float64),
            single=np.array(self.single, np.bool_),
            starts=tuple(self.starts),
            texts=tuple(self.texts),
            problems=problems,
        )
