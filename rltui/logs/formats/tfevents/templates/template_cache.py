"""The record templates that have occurred in one log, and the tag of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.message.event import Event
from rltui.logs.formats.tfevents.templates.multi_value import MultiValueTemplates, multi_value_template
from rltui.logs.formats.tfevents.templates.record_template import (
    ALL_TEMPLATES,
    SIMPLE_VALUE,
    RecordTemplate,
    ValueLayout,
    template_of,
)

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
