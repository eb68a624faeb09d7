"""Record templates: the bytes that are equal in all records of a tag.

Nearly every record of an event file is ``09 wall_time 10 step  2a .. 0a .. tag .. value``. Between the step
and the value, and after the value, all points of a tag have the same bytes. A template consists of these
bytes. After one record has been parsed field by field, all others with the same template only need a
comparison, and only wall time, step and value are extracted.

The templates of all logs are kept in one registry, since runs of one program write the same records.
"""

from __future__ import annotations

import threading

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.tfevents.event_tags import SCALARS
from rltui.logs.formats.tfevents.message.event import Event

WALL_KEY, STEP_KEY = 0x09, 0x10  # the protobuf keys of wall_time and step, one byte each
BODY = 9  # offset of the step, or of the body if there is no step

# Bounds on memory: further records, or records with longer names, are parsed each time.
_MAX_TEMPLATES = 100_000
_MAX_BYTES = 1024  # of one template


class ValueLayout(NamedTuple):
    """Position of the value: `after` bytes follow it; it has `width` bytes (4 float, 8 double)."""

    after: int
    width: int


SIMPLE_VALUE = ValueLayout(0, 4)  # the record ends with the float


class RecordTemplate(NamedTuple):
    """The records of one tag. declared: they declare scalars themselves; if not, the tag's metadata must."""

    tag: bytes
    layout: ValueLayout
    constant: bytes  # between step and value, and after the value
    declared: bool
    plugin: bytes | None  # named in the record


class TemplateRegistry:
    """All templates of this process, numbered. Adding takes a lock, lookups do not."""

    def __init__(self) -> None:
        self.templates: list[RecordTemplate] = []
        self.numbers: dict[ValueLayout, dict[bytes, int]] = {}  # by layout and constant
        self._lock = threading.Lock()

    def add(self, template: RecordTemplate) -> int:
        """The number of a template, new or known; -1 if the registry is full."""
        with self._lock:
            numbers = self.numbers.setdefault(template.layout, {})
            number = numbers.get(template.constant)
            if number is None:
                if len(self.templates) >= _MAX_TEMPLATES:
                    return -1
                number = len(self.templates)
                self.templates.append(template)
                numbers[template.constant] = number
            return number


ALL_TEMPLATES = TemplateRegistry()


def is_one_summary(parsed: Event, data: bytes) -> bool:
    """Whether a record consists of wall time, an optional step and one summary, with keys of one byte."""
    return parsed.in_order and data[0] == WALL_KEY and (parsed.body == BODY or data[BODY] == STEP_KEY)


def template_of(parsed: Event, data: bytes) -> RecordTemplate | None:
    """The template of a record with exactly one value at a fixed position; None for all others."""
    if len(parsed.values) != 1 or not is_one_summary(parsed, data):
        return None
    value = parsed.values[0]
    if value.number is None or not value.number.width:
        return None
    if not value.simple and value.plugin not in (None, SCALARS):
        return None
    at, width = value.number.at, value.number.width
    if len(data) - parsed.body - width > _MAX_BYTES:
        return None
    return RecordTemplate(
        value.tag,
        ValueLayout(len(data) - at - width, width),
        data[parsed.body : at] + data[at + width :],
        value.simple or value.plugin == SCALARS,
        value.plugin,
    )
