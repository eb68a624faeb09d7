"""Reads a part of a container: new rows, hparams and the exit code of the run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import CountedProblem, Problem, ProblemLevel
from rltui.common.text import count_of
from rltui.logs.batch import EMPTY, Batch
from rltui.logs.formats.container import Part, part_file
from rltui.logs.formats.interface import BLOCK, File, Format, ReadFromStart
from rltui.logs.records.record_batcher import RecordBatcher

C = TypeVar("C")  # position at which the next read continues


class TrackerAlert(NamedTuple):
    """An alert that the training sent through its tracker. number: of its row in the database."""

    number: int
    level: ProblemLevel
    text: str


@dataclass(slots=True)
class Look(Generic[C]):
    """The result of reading a part once: records of several values, or single ones."""

    records: list[tuple[int, float, dict[str, object]]] = field(default_factory=list)  # step, wall, values
    values: list[tuple[str, float, tuple[int, float]]] = field(
        default_factory=list
    )  # key, value, step and wall
    cursor: C | None = None  # where the next read continues
    bytes_read: int = 0
    hparams: dict[str, object] = field(default_factory=dict)
    exit_code: str = ""  # empty until the tracker has stored one
    alerts: Sequence[TrackerAlert] = ()  # the newest
    problems: list[Problem] = field(default_factory=list)
    skipped: int = 0  # rows without points


class TrackerPart(Part, Generic[C]):
    """A `Part` that is read from a cursor on. All calls raise OSError."""

    def __init__(self, format_name: str, paths: Sequence[str], key: str = "", run: str = "") -> None:
        super().__init__(paths, key, run)
        self._format_name = format_name

    @property
    def format(self) -> Format:
        """Opens readers for this part. It matches no name: its container finds it."""
        return Format(self._format_name, lambda _name, _head: False, lambda path, _: PartReader(path, self))

    @abstractmethod
    def look(self, cursor: C | None, budget: int) -> Look[C] | None:
        """Read about `budget` bytes after `cursor` (None at first); None if it cannot be read now."""


def _without_points(rows: int) -> str:
    return f"{count_of(rows, 'row')} skipped for holding no numbers of a step"


class PartReader(ReadFromStart, Generic[C]):
    """A `LogReader` of a part."""

    def __init__(self, path: str, part: TrackerPart[C]) -> None:
        self._path = path
        self._part = part
        self._records = RecordBatcher(path)
        self._cursor: C | None = None
        self.offset = 0  # bytes of rows that have been read
        self._reported_exit_code = ""
        self._reported_alert = 0  # the number of the last one
        self._skipped = CountedProblem("bad-row", path, _without_points)

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Read new rows."""
        look = part_file(file).ask(self._part.look, self._cursor, budget)
        if look is None:
            return EMPTY
        self._cursor = look.cursor
        self.offset += look.bytes_read
        for step, wall, values in look.records:
            self._records.add(values, (step, wall))
        for key, value, at in look.values:
            self._records.add_value(key, value, at)
        if look.hparams:
            self._records.add_settings(look.hparams)
        if look.exit_code != self._reported_exit_code:
            self._reported_exit_code = look.exit_code
            self._records.add_exit_code(look.exit_code)
        self._skipped.count += look.skipped
        return self._records.batch([*look.problems, *self._skipped.problems(), *self._alerts(look)])

    def finish(self, file: File) -> Batch:
        """Read the rest; rows are never torn."""
        return self.read(file)

    def _alerts(self, look: Look[C]) -> list[Problem]:
        new = [one for one in look.alerts if one.number > self._reported_alert]
        self._reported_alert = max([self._reported_alert, *(one.number for one in new)])
        return [Problem(one.level, "tracker-alert", self._path, one.text, one.number) for one in new]


def whole_lines(place: str, offset: int, most: int) -> bytes:
    """Complete lines after an offset, at most `most` bytes; the start of a longer line. Raises OSError."""
    with open(place, "rb") as file:  # noqa: PTH123
        file.seek(offset)
        data = file.read(most)
    end = data.rfind(b"\n") + 1
    return data[:end] if end or len(data) < most else data


def unique_names(rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A name for each id, from pairs of id and name, oldest first: repeated names get part of the id."""
    names: dict[str, str] = {}
    for key, name in rows:
        shown = name or key
        names[key] = f"{shown}-{key[:8]}" if shown in names.values() else shown
    return names
