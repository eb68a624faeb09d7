"""Runs with one text file per metric: of MLflow, DVCLive, d3rlpy, TorchRL, and exports of TensorBoard."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence

from rltui.common.regex import regex
from rltui.logs.formats.container import Container, NewRows, Part, Parts, whole_lines
from rltui.logs.formats.interface import HEAD
from rltui.logs.log_file_names import are_saved_columns, is_plain, is_telling, names, stem_of
from rltui.logs.records.parse_number import step_of

MetricLine = tuple[int, float, float]  # step, wall time, value
_JOINTS = " ._-"  # between the names of a run and of a metric
Cursor = tuple[tuple[str, tuple[int, int]], ...]  # by path: offset, and the number of points before it
_HEAD = 1 << 12  # bytes by which a table without header is recognised
_MAX_READ = 1 << 20  # bytes of one file in one call


class MetricFiles(Part[Cursor]):
    """A `Part`: the files below a folder, each named after its metric.

    line_of: parses a line into a point, given the step for lines without one, which are counted from the
    lowest first step of the files. about: hparams and exit code of the run. related_paths: other paths that
    these are read from. names: of the files, if there are others with the same ending. shared: the part of
    the names of all files that is no part of the names of metrics.
    """

    def __init__(
        self,
        form: str,
        place: str,
        folder: str,
        line_of: Callable[[bytes, int], MetricLine | None],
        *,
        run: str = "",
        about: Callable[[], tuple[dict[str, object], str]] = lambda: ({}, ""),
        ending: str = "",
        related_paths: tuple[str, ...] = (),
        names: frozenset[str] | None = None,
        shared: str = "",
    ) -> None:
        super().__init__(form, (place,), run=run)
        self._related_paths = related_paths
        self._folder = folder
        self._line_of = line_of
        self._about = about
        self._ending = ending
        self._names = names
        self._shared = shared
        self._first: int | None = None  # the lowest first step

    def size(self) -> int:
        """Bytes of all files. Raises OSError."""
        return sum(status.st_size for _, status in self._files())

    def stamp(self) -> tuple[int, ...]:
        """Sizes and times of all files, and of the file with the state of the run. Raises OSError."""
        about = os.stat(self.place)  # noqa: PTH116 - a string is what is kept
        found = [about.st_mtime_ns, about.st_size]
        for _, status in self._files():
            found += [status.st_size, status.st_mtime_ns]
        return tuple(found)

    def modified(self) -> float:
        """When the newest file was written, or the folder if there is none. Raises OSError."""
        about = os.stat(self.place)  # noqa: PTH116
        times = [status.st_mtime for _, status in self._files()]
        # The time of a folder changes with its entries, and in a copy it is the time of copying.
        return max(times) if times and stat.S_ISDIR(about.st_mode) else max([about.st_mtime, *times])

    def files(self) -> tuple[str, ...]:
        """The files, their folders, and the files of hparams and exit code."""
        found = [self.place, *self._related_paths]
        for top in (self._folder, *self._related_paths):
            for folder, _, listed in os.walk(top):
                found += [folder, *(f"{folder}/{name}" for name in listed)]
        return tuple(path for path in dict.fromkeys(found) if os.path.exists(path))  # noqa: PTH110

    def read(self, cursor: Cursor | None, budget: int) -> NewRows[Cursor] | None:
        """The complete lines after `cursor`, the offset in each file, ordered by step. Raises OSError."""
        offsets = dict(cursor or ())
        first = self._first_step()
        new = NewRows[Cursor]()
        for path, status in self._files():
            offset, count = offsets.get(path, (0, 0))
            if status.st_size <= offset:
                continue
            data = whole_lines(path, offset, _MAX_READ)
            new.bytes_read += len(data)
            tag = os.path.relpath(path, self._folder).removesuffix(self._ending)
            if self._shared:
                tag = tag.removeprefix(self._shared).removesuffix(self._shared).strip(_JOINTS) or tag
            for line in data.splitlines():
                point = self._line_of(line, first + count)
                if point is not None and step_of(point[0]) is None:
                    new.skipped += 1  # a step beyond 64 bits
                elif point is not None:
                    count += 1
                    new.records.append((point[0], point[1], {tag: point[2]}))
            offsets[path] = offset + len(data), count
        # One metric after the other would look like restarts.
        new.records.sort(key=lambda record: record[0])
        new.cursor = tuple(offsets.items())
        new.hparams, new.exit_code = self._about()
        return new

    def _first_step(self) -> int:
        """The lowest first step of the files; 0 if their lines have no step."""
        if self._first is None:
            begins = [step for path, _ in self._files() if (step := self._first_step_in(path)) is not None]
            self._first = min(begins, default=None)
        return self._first or 0

    def _first_step_in(self, path: str) -> int | None:
        """The step of the first point of a file; None if its lines have no step."""
        with open(path, "rb") as file:  # noqa: PTH123
            lines = file.read(HEAD).splitlines()[:2]
        for line in lines:
            named, unnamed = self._line_of(line, 0), self._line_of(line, 1)
            if named is not None and unnamed is not None:
                return named[0] if named[0] == unnamed[0] else None
        return None

    def _files(self) -> list[tuple[str, os.stat_result]]:
        found = []
        for folder, _, listed in os.walk(self._folder):
            for name in listed:
                wanted = name.endswith(self._ending) if self._names is None else name in self._names
                if wanted and not name.startswith("."):
                    path = f"{folder}/{name}"
                    found.append((path, os.stat(path)))  # noqa: PTH116
        return sorted(found)


_TSV = regex(rb"(-?\d+)\t(\S+)\Z")
_TSV_WITH_TIME = regex(rb"(\d{10,})\t(-?\d+)\t(\S+)\Z")


def _dvclive_parts(place: str) -> Parts | None:
    """The run of DVCLive's `plots/metrics/<key>.tsv`, which is that of the parent folder."""
    if not os.path.isdir(f"{place}/metrics"):  # noqa: PTH112
        return None
    part = MetricFiles("dvclive", place, f"{place}/metrics", _dvclive_line, ending=".tsv")
    return Parts((part,), ("plots",))


DVCLIVE = Container(lambda place: place.endswith("/plots"), _dvclive_parts)


def _dvclive_line(line: bytes, step: int) -> MetricLine | None:
    """Step and value of a line `step value` or, in older files, `timestamp step value`; None for headings.

    The file of a metric named `step` has no column of steps.
    """
    try:
        if match := _TSV_WITH_TIME.match(line):
            return int(match[2]), int(match[1]) / 1000, float(match[3])
        if match := _TSV.match(line):
            return int(match[1]), math.nan, float(match[2])
        return step, math.nan, float(line)
    except ValueError:
        pass
    return None


# Rows of tables without a header: `epoch,step,value` (d3rlpy/logging/file_adapter.py @ 2.8.1), `step,value`
# (torchrl/record/loggers/csv.py @ 0.14.1). The former come with statistics of gradients, with a header; a
# longer number in place of their step is a reading of a clock.
_CSV = regex(r"(?:\A|.*/)(?P<name>[^/]*\.csv)\Z", re.DOTALL)
_EPOCH_ROW = regex(rb"\d{1,9},(?P<step>\d{1,9}),(?P<value>-?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf))\r?\Z")
_STEP_ROW = regex(rb"(?P<step>\d{1,18}),(?P<value>-?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf))\r?\Z")
_STATISTICS = b"epoch,step,min,max,mean,std"


def _row_parser(pattern: re.Pattern[bytes]) -> Callable[[bytes, int], MetricLine | None]:
    """A parser of rows with a step, a value and perhaps a wall time."""

    def parse(line: bytes, _: int) -> MetricLine | None:
        found = pattern.match(line)
        try:
            row = {} if found is None else found.groupdict()
            return (int(row["step"]), float(row.get("wall", math.nan)), float(row["value"])) if row else None
        except ValueError:
            return None

    return parse


def _is_unnamed_table(place: str) -> bool:
    """Whether a path is a table without a common name for all metrics of a program."""
    found = _CSV.match(place)
    return found is not None and not is_plain(found["name"])


def _d3rlpy_parts(place: str) -> Parts | None:
    """The run of a folder's tables in the first of them, no parts in the others; None for other tables."""
    if not _begins_with_row(place) and not _head(place).startswith(_STATISTICS):
        return None
    folder, _, name = place.rpartition("/")
    beside = sorted(filter(_is_unnamed_table, os.listdir(folder)))  # noqa: PTH208
    first = next((each for each in beside if _begins_with_row(f"{folder}/{each}")), None)
    if first is None or not any(map(is_telling, beside)):
        return None
    if name != first:
        return Parts(includes_neighbours=True)
    return Parts(
        (MetricFiles("csv", place, folder, _row_parser(_EPOCH_ROW), ending=".csv"),), includes_neighbours=True
    )


D3RLPY = Container(_is_unnamed_table, _d3rlpy_parts)


# Rows of a table exported from TensorBoard's web page, with the header `Wall time,Step,Value`.
_SAVED_ROW = regex(
    rb"(?P<wall>[\d.]+(?:e\+?\d+)?),(?P<step>\d{1,18}),(?P<value>-?(?:[\d.]+(?:e[-+]?\d+)?|NaN|nan|Infinity|inf))\r?\Z",
    re.IGNORECASE,
)
_saved_line = _row_parser(_SAVED_ROW)
_SIMULTANEOUS = 1.0  # seconds between the first values of the metrics of one run, which are written together


def _may_be_saved(place: str) -> bool:
    """Whether a table lacks the default name of an export, which contains run and tag."""
    found = _CSV.match(place)
    return found is not None and not names().saved_series.match(found["name"])


def _saved_parts(place: str) -> Parts | None:
    """Tables exported from TensorBoard's web page and renamed by the user.

    The name may be that of a metric or of a run. Tables of one folder are metrics of one run if they start at
    the same step and time; the first of them represents the run. Other tables are runs of their own. If there
    are tables of several runs, the name of each is the common part of the names of its tables.
    """
    begins = _saved_beginning(place)
    if begins is None:
        return None
    folder, _, name = place.rpartition("/")
    tables = sorted(filter(_may_be_saved, os.listdir(folder)))  # noqa: PTH208
    saved = {each: start for each in tables if (start := _saved_beginning(f"{folder}/{each}")) is not None}
    alike = [each for each, start in saved.items() if _begin_together(begins, start)]
    if len(alike) < 2:
        return None
    if name != alike[0]:
        return Parts(includes_neighbours=True)
    files = frozenset(alike)
    several = _several_tables({each: start for each, start in saved.items() if each not in files})
    stems = [stem_of(each) for each in alike]
    shared = _shared_name(stems) if several else ""
    # Of runs with the same name, each is called by its first table.
    is_taken = any(shared in other[0] and shared == _shared_name(other) for other in several)
    run = stems[0] if is_taken else shared
    part = MetricFiles("csv", place, folder, _saved_line, run=run, ending=".csv", names=files, shared=shared)
    return Parts((part,), includes_neighbours=True)


def _several_tables(saved: Mapping[str, tuple[int, float]]) -> list[list[str]]:
    """The names without endings of the tables of each run that has several, in order of their beginnings."""
    groups: list[list[str]] = []
    last = None
    for each in sorted(saved, key=saved.__getitem__):
        if last is None or not _begin_together(last, saved[each]):
            groups.append([])
        groups[-1].append(stem_of(each))
        last = saved[each]
    return [group for group in groups if len(group) > 1]


def _shared_name(stems: Sequence[str]) -> str:
    """The longest common prefix or suffix of some names, of whole words; empty if there is none."""
    begin = _common_start(stems)
    end = _common_start([stem[::-1] for stem in stems])[::-1]
    return max(begin, end, key=len).strip(_JOINTS)


def _common_start(stems: Sequence[str]) -> str:
    """The characters with which all names begin, up to the end of a word in each."""
    start = os.path.commonprefix(stems)  # noqa: RUF071 - by characters
    if all(not stem[len(start) :] or stem[len(start)] in _JOINTS for stem in stems):
        return start
    return start[: max(map(start.rfind, _JOINTS)) + 1]


SAVED = Container(_may_be_saved, _saved_parts)


def _torchrl_parts(place: str) -> Parts | None:
    """The run of TorchRL's CSVLogger, a folder `scalars` of tables, which is that of the parent folder."""
    if not os.path.isdir(place):  # noqa: PTH112
        return None
    tables = (f"{each}/{name}" for each, _, listed in os.walk(place) for name in sorted(listed))
    if not any(_CSV.match(table) and _STEP_ROW.match(_head(table).split(b"\n")[0]) for table in tables):
        return None
    return Parts((MetricFiles("csv", place, place, _row_parser(_STEP_ROW), ending=".csv"),), ("scalars",))


TORCHRL = Container(lambda place: place.endswith("/scalars"), _torchrl_parts)


def _head(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(_HEAD)


def _begins_with_row(path: str) -> bool:
    """Whether a table has no header, and its steps increase from row to row."""
    rows = [_EPOCH_ROW.match(line) for line in _head(path).split(b"\n")[:-1]]
    if not rows or not all(rows):
        return False
    steps = [int(row["step"]) for row in rows if row]
    return steps == sorted(steps)


def _saved_beginning(path: str) -> tuple[int, float] | None:
    """Step and wall time of the first row of an exported table; None for any other file."""
    header, _, rest = _head(path).partition(b"\n")
    columns = [column.strip() for column in header.decode("utf-8-sig", "replace").split(",")]
    point = _saved_line(rest.partition(b"\n")[0], 0) if are_saved_columns(columns) else None
    return None if point is None else point[:2]


def _begin_together(one: tuple[int, float], other: tuple[int, float] | None) -> bool:
    return other is not None and one[0] == other[0] and abs(one[1] - other[1]) <= _SIMULTANEOUS
