"""Records with several values, such as TF1 writes: one template for all records that log the same tags.

A template is the body of one record that was parsed by the book, a mask of the bytes that are not
values, and where the values stand. Bodies of the same length that agree under the mask have the same
values at the same places.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.tfevents.bulk.block import Block, Places, distinct
from rltui.logs.formats.tfevents.event_tags import SCALARS, EventTags
from rltui.logs.formats.tfevents.message import event
from rltui.logs.formats.tfevents.templates.record_template import is_usual

_PER_LENGTH = 4  # templates for bodies of one length
_LENGTHS = 64
_LONGEST = 1 << 17


class Template(NamedTuple):
    """constant, mask: (body,) uint8. at: (k,) where values begin in the body. numbers: (k,) their tags."""

    constant: NDArray[np.uint8]
    mask: NDArray[np.uint8]
    at: Places
    width: int
    numbers: NDArray[np.uint32]


class Settled(NamedTuple):
    """Records that a template read: (m,) which ones, and (m, k) their values."""

    record: Places
    template: Template
    value: NDArray[np.float64]


def template_of(parsed: event.Event, data: bytes, tags: EventTags) -> Template | None:
    """The template that a record gives whose values were just taken; None where it is not all scalars."""
    body = len(data) - parsed.body
    if len(parsed.values) < 2 or body > _LONGEST or not is_usual(parsed, data):
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
    return Template(constant, mask, at, width, numbers)


class Templates:
    """The templates of one log, by length of the body; the first come stay."""

    def __init__(self) -> None:
        self._by_length: dict[int, list[Template]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_length)

    def add(self, template: Template) -> bool:
        """Keep a template if there is room; whether it was kept."""
        if len(self._by_length) >= _LENGTHS and len(template.constant) not in self._by_length:
            return False
        same = self._by_length.setdefault(len(template.constant), [])
        if len(same) >= _PER_LENGTH:
            return False
        same.append(template)
        return True

    def settle(self, block: Block, record: Places, end: Places, body: Places) -> list[Settled]:
        """Read those of the records whose bodies fit a template. end, body: as in `Table.find`."""
        settled = []
        for length in distinct(body)[0].tolist():
            for template in self._by_length.get(length, ()):
                mine = np.flatnonzero(body == length)
                start = end[mine] - length
                rows = block.gather(start, length)
                fits = ((rows & template.mask) == template.constant).all(axis=1)
                mine, start = mine[fits], start[fits]
                if not len(mine):
                    continue
                places = (start[:, None] + template.at).ravel()
                floats = block.gather(places, template.width).view(f"<f{template.width}")
                values = floats.reshape(len(mine), -1).astype(np.float64)
                settled.append(Settled(record[mine], template, values))
        return settled

    def copy(self) -> Templates:
        """The same templates, apart."""
        other = Templates()
        other._by_length = {length: list(same) for length, same in self._by_length.items()}
        return other
