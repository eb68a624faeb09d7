"""Record templates: the bytes that are equal in all records of a tag.

Nearly every record of an event file is ``09 wall_time 10 step  2a .. 0a .. tag .. value``. Between the step
and the value, and after the value, all points of a tag have the same bytes. A template consists of these
bytes. After one record has been parsed field by field, all others with the same template only need a
comparison, and only wall time, step and value are extracted.

The templates of all logs are kept in one registry, since runs of one program write the same records.

A log of TF1 has several values in each record: there is one template for all records with the same tags.
Without these, a file of such records takes sixty times as long (300,000 values: 1.9 s instead of 31 ms).
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.tfevents.event_tags import SCALARS, EventTags
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


_MAX_PER_LENGTH = 4  # templates for bodies of one length
_MAX_LENGTHS = 64
_MAX_BODY = 1 << 17  # bytes


class MultiValueTemplate(NamedTuple):
    """The body of a record, a mask of the bytes that are not values, and the offsets of the values.

    constant, mask: (body,) uint8. at: (k,) offsets of values in the body. tags: (k,) their numbers.
    Bodies of the same length that are equal under the mask have values of the same tags at the same offsets.
    """

    constant: NDArray[np.uint8]
    mask: NDArray[np.uint8]
    at: NDArray[np.intp]
    width: int
    tags: NDArray[np.uint32]


def multi_value_template(parsed: Event, data: bytes, tags: EventTags) -> MultiValueTemplate | None:
    """The template of a record whose values were just added; None if they are not all scalars."""
    body = len(data) - parsed.body
    if len(parsed.values) < 2 or body > _MAX_BODY or not is_one_summary(parsed, data):
        return None
    widths = set()
    for value in parsed.values:
        if value.number is None or not (
            value.simple or (value.plugin or tags.plugin_of(value.tag)) == SCALARS
        ):
            return None
        widths.add(value.number.width)
    width = widths.pop()
    if widths or not width:
        return None
    at = np.array([value.number.at - parsed.body for value in parsed.values if value.number], np.intp)
    mask = np.full(body, 0xFF, np.uint8)
    mask[at[:, None] + np.arange(width)] = 0
    constant = np.frombuffer(data, np.uint8)[parsed.body :] & mask
    numbers = np.array([tags.number(value.tag) for value in parsed.values], np.uint32)
    return MultiValueTemplate(constant, mask, at, width, numbers)


class MultiValueTemplates:
    """The templates of one log, by length of the body; the first ones are kept."""

    def __init__(self) -> None:
        self._by_length: dict[int, list[MultiValueTemplate]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_length)

    def of_length(self, length: int) -> list[MultiValueTemplate]:
        """The templates of bodies with this many bytes."""
        return self._by_length.get(length, [])

    def add(self, template: MultiValueTemplate) -> bool:
        """Keep a template if there is room; whether it was kept."""
        length = len(template.constant)
        if len(self._by_length) >= _MAX_LENGTHS and length not in self._by_length:
            return False
        same = self._by_length.setdefault(length, [])
        if len(same) >= _MAX_PER_LENGTH:
            return False
        same.append(template)
        return True


_LAYOUTS_TRIED = 6


class TemplateCache:
    """The templates of one log.

    layouts: those that occurred, the latest first, since it is the most likely one. tag_numbers: by layout,
    the numbers of tags by the constant bytes of templates. multi_value: templates of records with several
    values. learned: number of templates learned or adopted so far.
    """

    def __init__(self, tags: EventTags) -> None:
        self.tags = tags
        self.layouts = [SIMPLE_VALUE]
        self.tag_numbers: dict[ValueLayout, dict[bytes, int]] = {SIMPLE_VALUE: {}}
        self.multi_value = MultiValueTemplates()
        self.learned = 0
        self._tag_of_template: dict[int, int] = {}  # by the template's number in the registry
        self._column: tuple[int, NDArray[np.int32]] | None = None

    def learn(self, parsed: Event, data: bytes) -> None:
        """Keep the template of a record whose scalars were just added, and its meaning in this log."""
        several = multi_value_template(parsed, data, self.tags)
        if several is not None:
            self.learned += self.multi_value.add(several)
            return
        template = template_of(parsed, data)
        if template is None or not (template.declared or self.tags.is_scalar(template.tag)):
            return
        number = ALL_TEMPLATES.add(template)
        if number >= 0:
            self._adopt_one(number, template)

    def tag_of(self, layout: ValueLayout, constant: bytes) -> int | None:
        """The tag of a record with these bytes, which may be known from other logs only.

        None if the template is unknown, or if it is new in this log and does not declare a scalar itself.
        """
        tag = self.tag_numbers.setdefault(layout, {}).get(constant)
        if tag is not None:
            return tag
        number = ALL_TEMPLATES.numbers.get(layout, {}).get(constant)
        if number is None:
            return None
        template = ALL_TEMPLATES.templates[number]
        return self._adopt_one(number, template) if template.declared else None

    def adopt(self, numbers: list[int]) -> int:
        """Adopt templates by their numbers in the registry, up to one that depends on metadata.

        Returns the number of adopted templates.
        """
        templates = ALL_TEMPLATES.templates
        for count, number in enumerate(numbers):
            template = templates[number]
            if template.plugin is not None or not template.declared:
                return count
            self._adopt_one(number, template)
        return len(numbers)

    def _adopt_one(self, number: int, template: RecordTemplate) -> int:
        name, layout, constant, _, plugin = template
        if plugin is not None:
            self.tags.plugins.setdefault(name, plugin)
        tag = self._tag_of_template[number] = self.tags.number(name)
        self.learned += 1
        if self.layouts[0] is not layout and self.layouts[0] != layout:
            self.layouts = [layout, *(other for other in self.layouts if other != layout)][:_LAYOUTS_TRIED]
        tags = self.tag_numbers.get(layout)
        if tags is None:
            tags = self.tag_numbers[layout] = {}
        tags[constant] = tag
        return tag

    def tag_column(self) -> NDArray[np.int32]:
        """(templates of the registry,): the number of the tag, -1 if it has not occurred in this log."""
        size = len(ALL_TEMPLATES.templates)
        if self._column is None or self._column[0] != self.learned or len(self._column[1]) < size:
            column = np.full(size, -1, np.int32)
            count = len(self._tag_of_template)
            column[np.fromiter(self._tag_of_template, np.intp, count)] = np.fromiter(
                self._tag_of_template.values(), np.int32, count
            )
            self._column = (self.learned, column)
        return self._column[1]

    def drop_column(self) -> None:
        """Free the column, which is quickly rebuilt: a thousand quiet logs must not keep one each."""
        self._column = None
