"""What one log knows: the shapes of record that have occurred in it, and the tag that each means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.message import event
from rltui.logs.formats.tfevents.templates import record_template
from rltui.logs.formats.tfevents.templates.multi_value import Templates, template_of
from rltui.logs.formats.tfevents.templates.record_template import SIMPLE, Layout

_LAYOUTS_TRIED = 6
_BEGINNINGS_KEPT = 64
_FEW = 4  # shapes that a log may have met one by one before
_THEN = -1  # between those and the ones taken over


class TemplateCache:
    """The shapes of one log.

    layouts: those that occurred, the last one first, since it will most likely come again.
    constants: for each layout, the constant bytes of a shape -> the number of its tag.
    numbers: the same by number of the shape in the book. templates: of records with several values.
    lessons: how often something was learned.
    """

    def __init__(self, tags: EventTags, book: record_template.ShapeBook = record_template.BOOK) -> None:
        self.tags = tags
        self.book = book
        self.layouts = [SIMPLE]
        self.constants: dict[Layout, dict[bytes, int]] = {}
        self.numbers: dict[int, int] = {}
        self._by_shape: tuple[int, NDArray[np.int32]] | None = None
        self.templates = Templates()
        self.lessons = 0

    def remember(self, parsed: event.Event, data: bytes) -> None:
        """Keep the shape of a record whose scalar was just taken, and what it means here."""
        template = template_of(parsed, data, self.tags)
        if template is not None:
            self.lessons += self.templates.add(template)
            return
        shape = record_template.shape_of(parsed, data)
        if shape is None or not (shape.declared or self.tags.is_scalar(shape.tag)):
            return
        at = self.book.add(shape)
        if at >= 0:
            self._adopt(at)

    def adopt(self, layout: Layout, constant: bytes) -> int | None:
        """The tag of a record that is new here, if another log taught its shape and it declares itself."""
        at = self.book.by_layout.get(layout, {}).get(constant)
        if at is None or not self.book.shapes[at].declared:
            return None
        return self._adopt(at)

    def adopt_plain(self, shapes_met: list[int]) -> int:
        """Take over shapes by their numbers in the book, up to one whose meaning touches metadata.

        Returns how many. Logs of many runs begin alike: the first one's knowledge is copied for the others.
        """
        tags, known = self.tags, list(self.numbers.values())
        fresh = (
            len(known) <= _FEW
            and known == list(range(len(tags)))  # one shape for each tag, in the order of the tags
            and not (tags.plugins or self.templates)
        )
        key = (*self.numbers, _THEN, *shapes_met) if fresh else ()
        alike = self.book.beginnings.get(key)
        if alike is not None:
            self._begin_like(alike)
            return len(shapes_met)
        for count, at in enumerate(shapes_met):
            shape = self.book.shapes[at]
            if not shape.declared or shape.plugin is not None:
                return count
            self._adopt(at)
        if fresh and len(self.book.beginnings) < _BEGINNINGS_KEPT:
            copied = TemplateCache(EventTags(), self.book)
            copied._begin_like(self)
            self.book.beginnings[key] = copied
        return len(shapes_met)

    def _begin_like(self, other: TemplateCache) -> None:
        """Know what another log knew when it had taken over its first shapes, having begun like this one."""
        self.lessons += len(other.numbers) - len(self.numbers)
        self.tags.begin_like(other.tags)
        self.layouts, self.numbers = list(other.layouts), dict(other.numbers)
        self.constants = {layout: dict(constants) for layout, constants in other.constants.items()}

    def _adopt(self, at: int) -> int:
        shape = self.book.shapes[at]
        if shape.plugin is not None:
            self.tags.plugins.setdefault(shape.tag, shape.plugin)
        number = self.tags.number(shape.tag)
        self.numbers[at] = number
        self.lessons += 1
        layout = shape.layout
        self.constants.setdefault(layout, {})[shape.constant] = number
        if self.layouts[0] != layout:
            self.layouts = [layout, *(other for other in self.layouts if other != layout)][:_LAYOUTS_TRIED]
        return number

    def by_shape(self) -> NDArray[np.int32]:
        """(shapes of the book,): the number of the tag, -1 where the shape has not occurred in this log."""
        if self._by_shape is None or self._by_shape[0] != self.lessons:
            column = np.full(len(self.book.shapes), -1, np.int32)
            count = len(self.numbers)
            column[np.fromiter(self.numbers, np.intp, count)] = np.fromiter(
                self.numbers.values(), np.int32, count
            )
            self._by_shape = (self.lessons, column)
        column = self._by_shape[1]
        if len(column) < len(self.book.shapes):
            news = len(self.book.shapes) - len(column)
            column = np.concatenate([column, np.full(news, -1, np.int32)])
            self._by_shape = (self.lessons, column)
        return column

    def rest(self) -> None:
        """Let go of what is quickly made again: a thousand quiet logs must not hold a column each."""
        self._by_shape = None

    def fork(self) -> TemplateCache:
        """The same knowledge, for a look ahead: the reading learns nothing by it but the numbers of tags."""
        other = TemplateCache(self.tags.fork(), self.book)
        other.layouts, other.numbers = list(self.layouts), dict(self.numbers)
        other.constants = {layout: dict(constants) for layout, constants in self.constants.items()}
        other.templates, other.lessons = self.templates.copy(), self.lessons
        return other
