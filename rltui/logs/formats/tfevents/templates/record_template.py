"""Record templates: the bytes that stay the same from one point of a tag to its next.

Nearly every record of an event file says ``09 wall_time 10 step  2a .. 0a .. tag .. value``. Between the step
and the value, and behind the value, all points of a tag have the same bytes. A template is those bytes.
Whoever has parsed one record field by field can read all others of its template by comparing: same bytes,
same parse, and only wall time, step and value are left to fetch.

The templates of all logs are kept in one registry, since runs of one program write the same records.
"""

from __future__ import annotations

import threading

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.tfevents.event_tags import SCALARS
from rltui.logs.formats.tfevents.message.event import Event

WALL_KEY, STEP_KEY = 0x09, 0x10  # the protobuf keys of wall_time and step, one byte each
BODY = 9  # where the step, or without one the body, begins

_TEMPLATES_CAP = 100_000  # a program that never repeats itself must not fill the memory
_LONGEST = 1024  # bytes of a template, likewise: records with longer names are parsed each time


class ValueLayout(NamedTuple):
    """Where the value stands: `after` bytes stand behind it; it is `width` bytes long (4 float, 8 double)."""

    after: int
    width: int


SIMPLE_VALUE = ValueLayout(0, 4)  # the float is the last thing in the record


class RecordTemplate(NamedTuple):
    """One tag's records. `declared`: they say that they are scalars; if not, the tag's metadata must."""

    tag: bytes
    layout: ValueLayout
    constant: bytes  # from the step to the value, and behind the value
    declared: bool
    plugin: bytes | None  # that the record names itself


class TemplateRegistry:
    """All templates seen in this process, numbered. Adding takes a lock, looking up takes none."""

    def __init__(self) -> None:
        self.templates: list[RecordTemplate] = []
        self.numbers: dict[ValueLayout, dict[bytes, int]] = {}  # by layout and constant
        self._lock = threading.Lock()

    def add(self, template: RecordTemplate) -> int:
        """The number of a template, new or known; -1 when the registry is full."""
        with self._lock:
            numbers = self.numbers.setdefault(template.layout, {})
            number = numbers.get(template.constant)
            if number is None:
                if len(self.templates) >= _TEMPLATES_CAP:
                    return -1
                number = len(self.templates)
                self.templates.append(template)
                numbers[template.constant] = number
            return number


ALL_TEMPLATES = TemplateRegistry()


def is_one_summary(parsed: Event, data: bytes) -> bool:
    """Whether a record is wall time, perhaps a step, and one summary, with keys of one byte."""
    return parsed.in_order and data[0] == WALL_KEY and (parsed.body == BODY or data[BODY] == STEP_KEY)


def template_of(parsed: Event, data: bytes) -> RecordTemplate | None:
    """The template of a record with exactly one value that stands at a fixed place; None for all others."""
    if len(parsed.values) != 1 or not is_one_summary(parsed, data):
        return None
    value = parsed.values[0]
    if value.number is None or not value.number.width:
        return None
    if not value.simple and value.plugin not in (None, SCALARS):
        return None
    at, width = value.number.at, value.number.width
    if len(data) - parsed.body - width > _LONGEST:
        return None
    return RecordTemplate(
        value.tag,
        ValueLayout(len(data) - at - width, width),
        data[parsed.body : at] + data[at + width :],
        value.simple or value.plugin == SCALARS,
        value.plugin,
    )
