"""Many small logs at once: read as one block of columns, then cut into what each of them says.

The columns of `bulk` cost the same few hundred microseconds for a log of ten records as for one of a
thousand. So the logs of many short runs are laid end to end, and framing, varints, shapes and values are
found for all of them together. What is left for each log is to know that it is plain: records that
follow each other, of shapes in the book, behind the one that states the version. Then its columns are
slices of the common ones, and what it knows is what another log knows that met the same shapes.

A log that is not plain is left to `bulk` or `tail`. Either way it says the same as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rltui.batch import Batch
from rltui.logs.formats.tfevents import event, protobuf
from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.bulk.byte_columns import Block, Places, distinct
from rltui.logs.formats.tfevents.bulk.record_shape import BODY, BOOK
from rltui.logs.formats.tfevents.bulk.shape_table import TABLES, ShapeTable
from rltui.logs.formats.tfevents.bulk.template_cache import TemplateCache
from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.framing import block_framing, masked_crc, tail_preview, tf_record
from rltui.logs.formats.tfevents.framing.tf_record import FRAME, HEADER
from rltui.logs.formats.tfevents.record_decoder import Decoded

_Alone = Callable[[bytes, TemplateCache, bool], Decoded]

_ROUNDS = 3  # of which each may teach shapes to the next
_TELLING = 64  # shapes at the beginning of a log by which a log that met the same ones is found
_LESSONS_KEPT = 64
_OPENINGS_KEPT = 64


class Beginning(NamedTuple):
    """What the first bytes of a log gave, and what it knows by then: shared, to be copied before it grows."""

    decoded: Decoded
    known: TemplateCache


class _Lesson(NamedTuple):
    """What logs know that met the same shapes in the same order.

    met: the shapes of their first `reach` records, up to the first record of the last shape that was new.
    """

    met: bytes
    reach: int
    known: TemplateCache


_LESSONS: dict[bytes, _Lesson] = {}  # by the first shapes of a log
_MUTE: dict[bytes, bool] = {}  # by its bytes behind the wall time: whether an opening record says nothing


def decode(contents: Sequence[bytes], verify: bool = False) -> list[Beginning]:
    """The first bytes of new logs, decoded together; each as `bulk.decode_any` would alone.

    The contents begin with a record. verify: as in `bulk.decode`.
    """
    return _decode(contents, verify, bulk_reader.decode_any, inside=False)


def newest(contents: Sequence[bytes], verify: bool = False) -> list[Beginning]:
    """The last bytes of new logs, decoded together; each as `ending.decode` would alone."""
    return _decode(contents, verify, _ending_alone, inside=True)


def _decode(contents: Sequence[bytes], verify: bool, alone: _Alone, *, inside: bool) -> list[Beginning]:
    given: dict[int, Beginning] = {}
    left = list(range(len(contents)))
    rounds, known = _ROUNDS, 0
    while left:
        # The first log that is not plain may teach the others what they need.
        if rounds and len(BOOK.shapes) > known:
            rounds, known = rounds - 1, len(BOOK.shapes)
            given.update(_plain(contents, left, verify, inside))
            left = [log for log in left if log not in given]
        for log in left[:1]:
            mine = TemplateCache(EventTags())
            given[log] = Beginning(alone(contents[log], mine, verify), mine)
        left = left[1:]
    return [given[log] for log in range(len(contents))]


def _ending_alone(content: bytes, known: TemplateCache, verify: bool) -> Decoded:
    return Decoded(tail_preview.decode(content, known, verify), len(content), HEADER, [])


def _plain(
    contents: Sequence[bytes], some: Sequence[int], verify: bool, inside: bool
) -> Iterable[tuple[int, Beginning]]:
    """Those among `some` of the logs that are plain, and what they give."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is a value like others
        shelf = _Shelf([contents[log] for log in some], verify, inside)
    for place, log in enumerate(some):
        beginning = shelf.beginning(place)
        if beginning is not None:
            yield log, beginning


class _Shelf:
    """The records of several logs.

    inside: whether the contents begin within a record. low, high: (logs,) the first record of each log and
    the one behind its last. whole: (logs,) whether they follow each other, from the first byte on unless
    `inside`. shape, step, value, single, wall: (n,) as in `bulk`;
    shape -1 where a record has none, or is to be proved and wrong. unknown: (logs,) how many of these.
    """

    def __init__(self, contents: Sequence[bytes], verify: bool, inside: bool) -> None:
        self.contents = contents
        size = np.fromiter(map(len, contents), np.intp, len(contents))
        stop = np.cumsum(size)
        start = stop - size
        self.block = Block(*contents)
        place, length, self.opening = block_framing.candidates(self.block)
        behind = place + length + FRAME
        low, high = np.searchsorted(place, start), np.searchsorted(place, stop)
        if len(place):
            high -= behind[high - 1] > stop  # torn: what stands behind it is of another log
        broken = np.flatnonzero(behind[:-1] != place[1:])
        self.whole = low < high
        at = np.flatnonzero(self.whole)
        # Before a record that begins so near to the first byte there is no room for a longer one. A torn
        # record may hold what looks like another one, torn as well.
        self.whole[at] = (
            (place[low[at]] - start[at] < (masked_crc.SPAN + FRAME if inside else 1))
            & (behind[high[at] - 1] <= stop[at])
            & (np.searchsorted(broken, low[at]) == np.searchsorted(broken, high[at] - 1))
        )
        self.low, self.high, self.starts = low.tolist(), high.tolist(), start.tolist()
        self.length, self.behind = length, behind
        self.end = behind - tf_record.FOOTER
        self.step, self.width, self.encoded, self.body = bulk_reader.steps(self.opening, length)
        self.wall = self.opening[:, 1].copy().view(np.float64)
        self.shape = np.full(len(place), -1, np.intp)
        self.value = np.empty(len(place), np.float64)
        self.single = np.ones(len(place), np.bool_)
        self.proved = self._to_prove(size, verify)
        TABLES.catch_up()
        for table in TABLES.all():
            self._find(table)
        unknown = np.flatnonzero(self.shape < 0)
        self.unknown = (np.searchsorted(unknown, high) - np.searchsorted(unknown, low)).tolist()

    def _to_prove(self, size: Places, verify: bool) -> NDArray[np.bool_]:
        """(n,) which records are read only if their checksums are right: those that `alone` would prove."""
        proved = np.full(len(self.end), verify)
        for log in np.flatnonzero(self.whole).tolist():
            low, high = self.low[log], self.high[log]
            if size[log] < bulk_reader.WORTH:
                proved[low:high] = True
            else:
                proved[low] = proved[high - 1] = True
        return proved

    def _find(self, table: ShapeTable) -> None:
        """Read the records whose shapes are in the table."""
        some = np.flatnonzero(
            (self.shape < 0) & (self.body > table.above) & (self.body <= table.limit) & (self.width <= 7)
        )
        if not len(some):
            return
        everything = len(some) == len(self.end)
        end, body = (self.end, self.body) if everything else (self.end[some], self.body[some])
        shape, row = table.find(self.block, end, body)
        value = bulk_reader.values(self.block, table.layout, end, row)
        doubted = np.flatnonzero(self.proved[some] & (shape >= 0))
        if len(doubted):
            which = some[doubted]
            sound = bulk_reader.PROOFS.sound(
                self.block,
                table.layout,
                shape[doubted],
                end[doubted],
                body[doubted],
                self.opening[which],
                self.width[which],
                self.encoded[which],
            )
            shape[doubted[~sound]] = -1
        if everything:
            self.shape, self.value = shape, value.astype(np.float64)
            self.single[:] = table.layout.width == 4
        else:
            self.shape[some], self.value[some] = shape, value
            self.single[some] = table.layout.width == 4

    def beginning(self, log: int) -> Beginning | None:
        """What one of the logs gives; None when it is not plain."""
        if not self.whole[log]:
            return None
        content, low, high = self.contents[log], self.low[log], self.high[log]
        if self.unknown[log] == 1 and self.shape[low] < 0 and _is_mute(content, int(self.length[low])):
            low += 1
        elif self.unknown[log]:
            return None
        end = int(self.behind[high - 1]) - self.starts[log]
        need = block_framing.next_need(content, end)
        if need is None:
            return None
        learned = _lesson(self.shape[low:high])
        if learned is None:
            return None
        known, number = learned
        mine = slice(low, high)
        batch = Batch(
            known.tags.names,
            number.view(np.uint32),
            self.step[mine],
            self.wall[mine],
            self.value[mine],
            self.single[mine],
        )
        return Beginning(Decoded(batch, end, need, []), known)


def _is_mute(content: bytes, length: int) -> bool:
    """Whether the first record says nothing, as the one that states the version, and is sound."""
    rest = content[HEADER + BODY : HEADER + length]
    mute = _MUTE.get(rest)
    if mute is None:
        try:
            parsed = event.parse(content[HEADER : HEADER + length])
            mute = not (parsed.values or parsed.starts)
        except protobuf.MalformedError:
            mute = False
        if len(_MUTE) < _OPENINGS_KEPT:
            _MUTE[rest] = mute
    return mute and tf_record.sound(content, HEADER, HEADER + length)


def _lesson(shape: NDArray[np.intp]) -> tuple[TemplateCache, NDArray[np.int32]] | None:
    """What a log knows whose records have these shapes, and the numbers of their tags.

    None when what they mean takes more than shapes.
    """
    key = shape[:_TELLING].tobytes()
    lesson = _LESSONS.get(key)
    if lesson is not None and shape[: lesson.reach].tobytes() == lesson.met:
        number = lesson.known.by_shape().take(shape)
        if np.minimum.reduce(number, initial=0) >= 0:
            return lesson.known, number
    shapes, first = distinct(shape)
    known = TemplateCache(EventTags())
    if not all(known.adopt_shape(at) for at in shapes[np.argsort(first)].tolist()):
        return None
    if len(_LESSONS) >= _LESSONS_KEPT:
        _LESSONS.clear()
    reach = int(first.max(initial=-1)) + 1
    _LESSONS[key] = _Lesson(shape[:reach].tobytes(), reach, known)
    return known, known.by_shape().take(shape)
