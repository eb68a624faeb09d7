"""Shapes of records: the bytes that stay the same from one point of a tag to its next.

Nearly every record of an event file says ``09 wall_time 10 step  2a .. 0a .. tag .. value``. Between
the step and the value, and behind the value, all points of a tag have the same bytes. A shape is
those bytes. Whoever has parsed one record of a shape by the book can read all others by comparing:
same bytes, same parse, and only wall time, step and value left to fetch.

The shapes of all logs are kept in one book, since runs of one program write the same records.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from rltui.logs.formats.tfevents.event_tags import SCALARS
from rltui.logs.formats.tfevents.message import event

if TYPE_CHECKING:
    from rltui.logs.formats.tfevents.templates.template_cache import TemplateCache

WALL_KEY, STEP_KEY = 0x09, 0x10  # the keys of wall_time and step, always one byte
BODY = 9  # where the step, or without one the body, begins

_SHAPES_KEPT = 100_000  # a program that never repeats itself must not fill the memory
_LONGEST = 1024  # bytes of a shape, likewise: records with longer names are parsed each time


class Layout(NamedTuple):
    """Where the value stands: `after` bytes stand behind it; it is `width` bytes long (4 float, 8 double)."""

    after: int
    width: int


SIMPLE = Layout(0, 4)  # a simple_value: the float is the last thing in the record


class Shape(NamedTuple):
    """One tag's records. `declared`: they say that they are scalars; if not, the tag's metadata must."""

    tag: bytes
    layout: Layout
    constant: bytes  # from the step to the value, and behind the value
    declared: bool
    plugin: bytes | None  # that the record names itself


class ShapeBook:
    """All shapes seen in this process, numbered. Adding takes a lock, looking up takes none."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.by_layout: dict[Layout, dict[bytes, int]] = {}
        self.beginnings: dict[tuple[int, ...], TemplateCache] = {}  # by the first shapes of a log
        self._lock = threading.Lock()

    def add(self, shape: Shape) -> int:
        """The number of a shape, new or known; -1 when the book is full."""
        with self._lock:
            numbers = self.by_layout.setdefault(shape.layout, {})
            known = numbers.get(shape.constant)
            if known is None:
                if len(self.shapes) >= _SHAPES_KEPT:
                    return -1
                known = len(self.shapes)
                self.shapes.append(shape)
                numbers[shape.constant] = known
            return known


BOOK = ShapeBook()


def is_usual(parsed: event.Event, data: bytes) -> bool:
    """Whether a record is wall time, perhaps a step, and one summary, with keys of one byte."""
    return parsed.plain and data[0] == WALL_KEY and (parsed.body == BODY or data[BODY] == STEP_KEY)


def shape_of(parsed: event.Event, data: bytes) -> Shape | None:
    """The shape of a record with exactly one value that stands at a fixed place; None for all others."""
    if len(parsed.values) != 1 or not is_usual(parsed, data):
        return None
    value = parsed.values[0]
    if value.number is None or not value.number.width:
        return None
    if not value.simple and value.plugin not in (None, SCALARS):
        return None
    at, width = value.number.at, value.number.width
    if len(data) - parsed.body - width > _LONGEST:
        return None
    return Shape(
        value.tag,
        Layout(len(data) - at - width, width),
        data[parsed.body : at] + data[at + width :],
        value.simple or value.plugin == SCALARS,
        value.plugin,
    )
