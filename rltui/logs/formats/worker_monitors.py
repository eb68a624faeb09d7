"""The episodes of all workers of a training as one run: `<rank>.monitor.csv` of Stable-Baselines3.

With `make_vec_env(..., monitor_dir=folder)` (stable_baselines3/common/env_util.py), each worker writes its
own monitor file to one folder, and Stable-Baselines3 itself reads such a folder as one training
(`load_results` in stable_baselines3/common/monitor.py). Trainings that share a folder are separated
(`are_workers`).
"""

from __future__ import annotations

import bisect
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.formats.container import Container, NewRows, Part, Parts, whole_lines
from rltui.logs.formats.interface import BLOCK, HEAD
from rltui.logs.formats.lines.csv_table import CsvParser
from rltui.logs.log_file_names import is_events, is_plain, names

NO_OPS = 30  # highest number of steps of an Atari reset, which may be counted (Machado et al., JAIR 61, 2018)
_NAME = regex(
    r"(?:\A|.*/)(?:(?P<group>\d+\.)|(?P<word>(?:(?P<kind>[A-Za-z]+)[_-])?(?P<worker>[A-Za-z]+))[_-]?)?(?P<rank>\d+)\.monitor\.csv\Z",
    re.DOTALL,
)
_MIN_READ = 64 << 10  # bytes of one file in one call
_MAX_STEP = (1 << 62) - 1

Row = tuple[int, int, float, dict[str, object]]  # steps of its worker, rank, wall time, values


class Beginning(NamedTuple):
    """The first episodes of a monitor file."""

    env: str
    start: float  # seconds since 1970
    ends: list[float]  # of its first episodes, seconds since 1970
    steps: list[int]  # of the worker at these ends


@dataclass(slots=True)
class _Rows:
    """Collects the rows of one monitor file."""

    rank: int
    rows: list[Row] = field(default_factory=list)
    hparams: dict[str, object] = field(default_factory=dict)

    def add_hparams(self, record: dict[str, object]) -> None:
        """Keep the environment, which is that of all workers."""
        self.hparams = record

    def add(self, record: dict[str, object], at: tuple[int, float] | None = None) -> None:
        """Add an episode. at: steps of the worker and wall time."""
        if at is not None:
            self.rows.append((at[0], self.rank, at[1], record))


def beginning(head: bytes) -> Beginning | None:
    """Parse the first bytes of a file; None if it is no monitor file."""
    first, newline, _ = head.partition(b"\n")
    try:
        header = json.loads(first[1:]) if newline and first.startswith(b"#") else None
        start = float(header["t_start"]) if isinstance(header, dict) else math.nan
    except (ValueError, OverflowError, RecursionError, KeyError, TypeError):
        return None
    if not (isinstance(header, dict) and math.isfinite(start)):
        return None
    rows = _Rows(0)
    CsvParser("").parse(head.split(b"\n")[:-1], 0, rows)
    ends = [(wall, steps) for steps, _, wall, _ in rows.rows if wall == wall]
    return Beginning(
        str(header.get("env_id")), start, [wall for wall, _ in ends], [steps for _, steps in ends]
    )


def are_workers(one: Beginning, other: Beginning) -> bool:
    """Whether two monitor files of one folder are of workers of the same training.

    Workers have the same environment, are all created before the first step, and step together: when an
    episode of one ends, the other has taken equally many steps, except for those of resets.
    """
    if one.env != other.env:
        return False
    if one.start > min(other.ends, default=math.inf) or other.start > min(one.ends, default=math.inf):
        return False
    return _keep_pace(one, other) and _keep_pace(other, one)


def _keep_pace(one: Beginning, other: Beginning) -> bool:
    """Whether the steps of `one` at the ends of episodes are between those of `other` before and after."""
    for number, (end, steps) in enumerate(zip(one.ends, one.steps, strict=True), 1):
        after = bisect.bisect_left(other.ends, end)
        slack = NO_OPS * (number + after + 1)
        if after and steps < other.steps[after - 1] - slack:
            return False
        if after < len(other.ends) and steps > other.steps[after] + slack:
            return False
    return True


def _parts(place: str) -> Parts | None:
    """The training of `0.monitor.csv`, `1.monitor.csv`, ... in the first file; no parts in the others.

    None for any other file.
    """
    folder, _, name = place.rpartition("/")
    mine = _beginning_of(place)
    if mine is None:
        return None
    ranked = worker_names(os.listdir(folder))  # noqa: PTH208 - strings are what is kept
    if not mine.ends:  # there are no episodes yet, and more workers may be created
        return Parts(includes_neighbours=True)
    workers = _workers(folder, ranked)
    # A single worker is a run of its own, unless another log belongs to the run of the folder.
    if name not in workers or (len(workers) < 2 and not _has_run(os.listdir(folder))):  # noqa: PTH208
        return None
    first = _beginning_of(f"{folder}/{workers[0]}")
    if name != workers[0] or first is None:
        return Parts(includes_neighbours=True)
    return Parts((WorkersRun(folder, workers, first.start),), includes_neighbours=True)


MONITORS = Container(lambda place: _named(place) is not None, _parts)


def _named(path: str) -> re.Match[str] | None:
    """The parts of the name of a monitor file of a worker; None for others, such as of seeds and settings."""
    match = _NAME.match(path)
    if match is None or match["word"] is None:
        return match
    kind, worker = (match["kind"] or "").lower(), match["worker"].lower()
    known = worker in names().monitor_words and (not kind or kind in names().monitor_kinds)
    return match if known else None


def _has_run(listed: Sequence[str]) -> bool:
    """Whether a folder has a log whose name alone assigns it to the run of the folder."""
    return any(is_events(name) or is_plain(name) for name in listed)


def worker_names(listed: Sequence[str]) -> list[str]:
    """The monitor files in a folder, by rank; none if a rank is missing.

    A loop of one's own may put a word for a worker before the rank; several words are those of several
    things.
    """
    matches = [
        match
        for name in listed
        if (match := _named(name)) and "/" not in name and str(int(match["rank"])) == match["rank"]
    ]
    bare = [match for match in matches if not match["word"]]
    if not bare and len({match["word"] for match in matches}) > 1:
        return []
    found: dict[str, dict[int, str]] = {}
    for match in bare or matches:
        found.setdefault(match["group"] or "", {})[int(match["rank"])] = match[0]
    if not all(set(ranks) == set(range(len(ranks))) for ranks in found.values()):
        return []
    return [found[group][rank] for group in sorted(found, key=lambda each: (len(each), each))
            for rank in sorted(found[group])]  # fmt: skip


def _workers(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    """The monitor files of the same training as the first one. Raises OSError."""
    heads = {name: _beginning_of(f"{folder}/{name}") for name in names}
    first = heads[names[0]] if names else None
    if first is None:
        return ()
    return tuple(name for name, head in heads.items() if head is not None and are_workers(first, head))


def _beginning_of(place: str) -> Beginning | None:
    with open(place, "rb") as file:  # noqa: PTH123
        return beginning(file.read(HEAD))


@dataclass(slots=True)
class MonitorsRead:
    """The position in all monitor files."""

    offsets: list[int]
    parsers: list[CsvParser]
    pending: list[Row] = field(default_factory=list)  # with later steps than were read of other workers


class WorkersRun(Part[MonitorsRead]):
    """A `Part`: the monitor files of all workers, with episodes ordered by step.

    Steps are those of the training: all n workers step together, so an episode of worker k that ends after s
    steps of its own ends at step n(s-1) + k + 1.
    """

    def __init__(self, folder: str, names: Sequence[str], start: float) -> None:
        key = f"{len(names)} workers, {start:.0f}" if len(names) > 1 else ""
        super().__init__("csv", [f"{folder}/{name}" for name in names], key)
        self._folder = folder
        self._names = tuple(names)
        self._start = start

    def read(self, cursor: MonitorsRead | None, budget: int) -> NewRows[MonitorsRead] | None:
        """The episodes after `cursor` up to the steps that were read of all workers. Raises OSError.

        FileNotFoundError if the files are of another training, or turn out to be of several.
        """
        progress = cursor
        if progress is None:
            progress = MonitorsRead([0] * len(self._paths), [CsvParser(name) for name in self._names])
        first = _beginning_of(self.place)
        if first is None or first.start != self._start or _workers(self._folder, self._names) != self._names:
            raise FileNotFoundError(2, "No such training in it any more", self.place)
        size = max(_MIN_READ, min(budget, BLOCK) // len(self._paths))
        ends = [os.stat(place).st_size for place in self._paths]  # noqa: PTH116 - strings are what is kept
        if any(end < offset for end, offset in zip(ends, progress.offsets, strict=True)):
            raise FileNotFoundError(2, "It was begun anew", self.place)
        pieces = [whole_lines(*each, size) for each in zip(self._paths, progress.offsets, strict=True)]
        new, reached = NewRows[MonitorsRead](cursor=progress), math.inf
        for rank, data in enumerate(pieces):
            taken = _Rows(rank)
            parser, offset = progress.parsers[rank], progress.offsets[rank]
            parser.parse(data.split(b"\n")[:-1] if data.endswith(b"\n") else [], offset, taken)
            new.problems += parser.problems()
            progress.offsets[rank] += len(data)
            new.bytes_read += len(data)
            progress.pending += taken.rows
            new.hparams |= taken.hparams
            if ends[rank] > offset + size:  # there is more
                reached = min(reached, max((row[0] for row in taken.rows), default=0))
        ready = [row for row in progress.pending if row[0] <= reached]
        progress.pending = [row for row in progress.pending if row[0] > reached]
        count = len(self._paths)
        for steps, rank, wall, record in sorted(ready, key=lambda row: row[:2]):
            step = min(count * max(steps - 1, 0) + rank + 1, _MAX_STEP)
            new.records.append((step, wall, record))
        return new
