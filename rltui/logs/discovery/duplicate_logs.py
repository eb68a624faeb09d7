"""Detects duplicate logs: a training that is logged in several formats at once is one run.

Two logs of different formats are duplicates if they have equal values at equal steps. Tags are not compared:
a framework uses other names for the same quantity in each of its logs. Some values agree between different
runs, too (learning rates, counters), so most of the values that both have at a step must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise, takewhile

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import distinct, in_both
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.formats.interface import File, Format
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.log_file_names import TRAINER_STATE, is_events, is_table, names, stem_of
from rltui.logs.records.record_keys import compared, is_small

SAMPLE_BYTES = 256 << 10  # of each log that are compared
SAMPLE_STEPS = 8
_FIRST_PIECE = 16 << 10  # bytes; enough for so many steps of most logs
TOLERANCE = 2e-5  # relative: event files hold float32, tables often five or six digits
_DIGITS = regex(r"\d+")
_NUMBERED = regex(r"([a-z]+)[ _-]?0*(\d+)")
_COUNTED = ("counted-steps", "no-step")  # codes of problems of logs without steps
ENOUGH = 4  # values at equal steps that are needed for a decision
AGREEING = 0.5  # share of these that must agree
AGREEING_COPY = 0.95  # the same for two logs of one format: a copy has all values
ENOUGH_ROUNDED, AGREEING_ROUNDED = 8, 0.8  # the same if one of them was printed with few digits
ENOUGH_WHOLE, AGREEING_WHOLE = 6, 0.8  # the same for logs of one folder, including whole numbers
_SCHEDULES = {"epoch", "train/epoch"}
_SERIES_RATIO = 3  # a console with that many times the series of a log is no copy of it
_MACHINE = "system/"  # measurements by a tracker's client, at separate steps and in no other log


class LogBeginning(NamedTuple):
    """The values in the beginning of a log."""

    rows: dict[int, NDArray[np.float64]]  # step: sorted distinct values
    tags: tuple[str, ...]
    hparams: bool  # whether it has hparams records
    complete: bool  # whether reading more of the log would not change it
    rounded: bool = False  # whether its values were printed with few digits
    counted: bool = False  # whether its steps are numbers of rows

    @property
    def empty(self) -> bool:
        """Whether it has no points."""
        return not self.tags


class LogParts(NamedTuple):
    """The first and the newest values of a log."""

    beginning: LogBeginning
    end: LogBeginning
    size: int  # bytes

    @property
    def tags(self) -> set[str]:
        """The tags that are known of it."""
        return {*self.beginning.tags, *filter(_is_distinctive, self.end.tags)}


def sample(known: Format, file: File) -> LogBeginning:
    """Read the beginning of a log with a separate reader. Raises OSError."""
    log = known.open(file.path)
    steps: dict[int, list[NDArray[np.float64]]] = {}
    tags: Sequence[str] = ()
    hparams = False
    codes: set[str] = set()
    complete = False
    used = np.zeros(0, np.bool_)  # by tag
    try:
        while True:
            before = log.offset
            batch = log.read(file, max(_FIRST_PIECE, min(log.offset, SAMPLE_BYTES // 4)))
            codes.update(problem.code for problem in batch.problems)
            hparams = hparams or any(text.kind == "hparams" for text in batch.texts)
            batch = batch.where(np.array([_is_distinctive(tag) for tag in batch.tags])[batch.tag])
            if len(batch):
                tags = batch.tags
                counted = np.bincount(batch.tag, minlength=len(used)) > 0
                counted[: len(used)] |= used
                used = counted
            _collect(batch.step, batch.value, steps)
            complete = len(steps) > SAMPLE_STEPS or log.offset >= SAMPLE_BYTES
            if complete or log.offset == before:
                break
    finally:
        log.close()
    # The last step may be incomplete at the end of the sample.
    chosen = sorted(steps)[:SAMPLE_STEPS]
    rows = {step: distinct(np.concatenate(steps[step])) for step in chosen}
    with_points = tuple(tags[index] for index in np.flatnonzero(used).tolist())
    return LogBeginning(
        rows, with_points, hparams, complete, "rounded" in codes, not codes.isdisjoint(_COUNTED)
    )


def _is_distinctive(tag: str) -> bool:
    """Whether values of a tag differ between trainings with the same settings: those of schedules do not."""
    return not (tag.startswith(_MACHINE) or is_small(tag) or compared(tag) in _SCHEDULES)


def ending(known: Format, file: File) -> LogBeginning:
    """Read the newest steps of a log. Raises OSError.

    The beginnings of duplicates differ if a restart truncated one of them and the other continued.
    """
    log = known.open(file.path)
    try:
        batch = log.newest(file, SAMPLE_BYTES)
    finally:
        log.close()
    steps: dict[int, list[NDArray[np.float64]]] = {}
    newest = sorted(set(batch.step.tolist()))[-8 * SAMPLE_STEPS :]
    if newest:
        kept = batch.step >= newest[0]
        _collect(batch.step[kept], batch.value[kept], steps)
    rows = {step: distinct(np.concatenate(values)) for step, values in steps.items()}
    return LogBeginning(rows, tuple(batch.tags), False, False)


def _collect(
    step: NDArray[np.int64], value: NDArray[np.float64], steps: dict[int, list[NDArray[np.float64]]]
) -> None:
    counts = np.isfinite(value) & (value != step)
    step, value = step[counts], value[counts]
    if not len(step):
        return
    order = np.argsort(step, kind="stable")
    step, value = step[order], value[order]
    begins = np.flatnonzero(np.concatenate(([True], step[1:] != step[:-1])))
    ends = np.append(begins[1:], len(step))
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        each = int(step[begin])
        if each in steps or len(steps) < 8 * SAMPLE_STEPS:
            steps.setdefault(each, []).append(value[begin:end])


def same(one: LogBeginning, other: LogBeginning, *, beside: bool = False, copy: bool = False) -> bool | None:
    """Whether two logs are of the same training; None if they have too few values for a decision yet.

    beside: they are in one folder, so that whole numbers count, too (lengths and returns of some games).
    copy: they have the same format, so that one can only be a copy of the other.
    """
    if one.rounded != other.rounded:
        return _same_but_rounded(*((one, other) if one.rounded else (other, one)), beside=beside)
    if beside and one.counted != other.counted and _same_in_rows(one, other):
        return True
    if copy:
        one, other = _varying(one), _varying(other)
    shared = agreed = whole = whole_agreed = 0
    for pair in _rows_of_both(one, other):
        few, many = sorted(pair, key=len)
        if not len(few):
            continue
        right = np.clip(np.searchsorted(many, few), 0, len(many) - 1)
        left = np.maximum(right - 1, 0)
        distance = np.minimum(np.abs(many[right] - few), np.abs(many[left] - few))
        hit = distance <= TOLERANCE * np.abs(few)
        telling = few != np.rint(few)  # counters and constants agree between different runs
        shared += int(np.count_nonzero(telling))
        agreed += int(np.count_nonzero(telling & hit))
        whole += len(few)
        whole_agreed += int(np.count_nonzero(hit))
    if _count_otherwise(one, other):
        return agreed >= AGREEING_ROUNDED * shared if shared >= ENOUGH_ROUNDED else None
    if copy and shared >= ENOUGH:  # rewards that are whole numbers, too: schedules agree between trainings
        return whole_agreed >= AGREEING_COPY * whole
    if shared >= ENOUGH:
        return agreed >= AGREEING * shared
    if beside and whole >= ENOUGH_WHOLE:
        return whole_agreed >= AGREEING_WHOLE * whole
    return False if one.complete and other.complete else None


def _same_in_rows(one: LogBeginning, other: LogBeginning) -> bool:
    """Whether a log without steps has the values of another one, row by row: a list beside a table.

    The number of a row is the step, or differs from it by one where steps begin with zero.
    """
    listed, stepped = (one, other) if one.counted else (other, one)
    for shift in (0, -1, 1):
        rows = [
            (row, stepped.rows[step + shift])
            for step, row in listed.rows.items()
            if step + shift in stepped.rows
        ]
        telling = [
            (value, row) for values, row in rows for value in values[values != np.rint(values)].tolist()
        ]
        hits = sum(bool(np.any(np.abs(row - value) <= TOLERANCE * abs(value))) for value, row in telling)
        if len(telling) >= ENOUGH and hits >= AGREEING_COPY * len(telling):
            return True
    return False


def same_end(one: LogBeginning, other: LogBeginning) -> bool | None:
    """Whether logs of one training end with the same values; None if they have too few at equal steps."""
    if _count_otherwise(one, other):
        return None
    newest = sorted(one.rows.keys() & other.rows.keys())[-SAMPLE_STEPS:]
    ends = (log._replace(rows={step: log.rows[step] for step in newest}) for log in (one, other))
    return same(*ends, beside=True)


def _same_but_rounded(printed: LogBeginning, exact: LogBeginning, *, beside: bool) -> bool | None:
    """The same if one log has printed values, each of which stands for all values that round to it."""
    shared = agreed = 0
    beside = beside and not _count_otherwise(printed, exact)
    for values, exact_values in _rows_of_both(printed, exact):
        if not beside:  # counters and constants agree between different runs
            values = values[values != np.rint(values)]
        shared += len(values)
        for value in values.tolist():
            mantissa, _, exponent = repr(value).partition("e")
            last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))  # worth of its last digit
            reach = max(0.501 * last, TOLERANCE * abs(value))
            agreed += bool(np.any(np.abs(exact_values - value) <= reach))
    if shared >= ENOUGH_ROUNDED:
        return agreed >= AGREEING_ROUNDED * shared
    return False if printed.complete and exact.complete else None


def _varying(log: LogBeginning) -> LogBeginning:
    """A log without the values that it has at each step: those of trainings that fail alike are the same."""
    rows = list(log.rows.values())
    if len(rows) < 2:
        return log
    constant = reduce(in_both, rows)
    return log._replace(
        rows={step: np.setdiff1d(row, constant, assume_unique=True) for step, row in log.rows.items()}
    )


def _count_otherwise(one: LogBeginning, other: LogBeginning) -> bool:
    """Whether only one has steps, or one has iterations and the other steps of the environment (RLlib)."""
    return one.counted != other.counted or one.rows.keys().isdisjoint(other.rows)


def _rows_of_both(
    one: LogBeginning, other: LogBeginning
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The values of both at each step; if they count differently, the new values of successive rows."""
    if _count_otherwise(one, other):
        yield from zip(_new_values(one), _new_values(other), strict=False)
    else:
        yield from ((one.rows[step], other.rows[step]) for step in one.rows.keys() & other.rows.keys())


def _new_values(log: LogBeginning) -> Iterator[NDArray[np.float64]]:
    """The values of each row that are not in the row before: constants agree between different runs."""
    rows = [row for _, row in sorted(log.rows.items())]
    return (np.setdiff1d(row, before, assume_unique=True) for before, row in pairwise(rows))


def covers(one: LogParts, other: LogParts, late: int = 0) -> bool:
    """Whether a log has every tag, step and value that is known of another one with the same values.

    late: so many steps at the end of the other may be missing, as one of two logs is written first. Rows
    without steps are not counted at the end of a log: of two with the same tags the longer one has more.
    """
    if one.beginning.counted or other.beginning.counted:
        return one.tags == other.tags and one.size >= other.size
    ends = sorted(other.end.rows)
    if not one.tags >= other.tags or min(one.beginning.rows) > min(other.beginning.rows):
        return False
    if one.end.rows and sum(step > max(one.end.rows) for step in ends) > late:
        return False
    return not (_lacks(one.beginning, other.beginning) or _lacks(one.end, other.end))


def _lacks(one: LogBeginning, other: LogBeginning) -> bool:
    """Whether a log lacks values of another one at steps read of both, but for the last of these."""
    if not (one.rows and other.rows):
        return False
    first, last = max(min(one.rows), min(other.rows)), min(max(one.rows), max(other.rows))
    return any(
        step not in one.rows or len(one.rows[step]) < len(values)
        for step, values in other.rows.items()
        if first <= step < last
    )


def has_less_than_table(one: LogBeginning, other: LogBeginning) -> bool:
    """Whether a log is a list without steps, of which another log has more series and the steps."""
    return one.counted and not other.counted and len(one.tags) < len(other.tags)


def rank(known: Format, name: str) -> int:
    """The rank of a log: of duplicates, the one with the lowest rank has most data and is the main log."""
    table = names()
    if stem_of(name) in table.richest_stems and known.name not in table.poorer_formats:
        return -1
    if is_events(name):
        return 0
    order = table.richest_formats
    return order.index(known.name) if known.name in order else len(order) - 2


def are_numbered_apart(one: str, other: str) -> bool:
    """Whether the numbers in two paths are those of two trainings, not of workers of one.

    They follow the same word, such as in `exp7.log` and `exp8.json`, or are all in which the paths differ.
    """
    first, second = (
        {word: {number for each, number in found if each == word} for word, _ in found}
        for found in (_NUMBERED.findall(path.lower()) for path in (one, other))
    )
    differ = {word for word in first.keys() & second.keys() if first[word].isdisjoint(second[word])}
    if differ and differ <= names().worker_words:
        return False
    return bool(differ) or (one != other and _DIGITS.sub("#", one) == _DIGITS.sub("#", other))


def names_of(folder: str, name: str) -> tuple[str, ...]:
    """The name by which logs of another format may be found: the stem, or the folder of an event file."""
    shared = folder.rpartition("/")[2] if is_events(name) else stem_of(name)
    return (shared.lower(),) if shared else ()


def distance(one: FoundFile, other: FoundFile) -> tuple[int, int, str, str]:
    """Sorts the logs that may be duplicates, nearest first: by common folders and name."""
    parts, its_parts = _parts(one.folder), _parts(other.folder)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, its_parts, strict=False)))
    its_names = (stem_of(other.name).lower(), its_parts[-1].lower() if its_parts else "")
    same_name = stem_of(one.name).lower() in its_names
    return (-common - 4 * same_name, len(parts) + len(its_parts) - 2 * common, other.folder, other.name)


def may_be_copy(form: str, one: FoundFile, other: FoundFile) -> bool:
    """Whether two logs of one format may be copies by their paths: one folder is above the other.

    Two folders side by side are two trainings, which may have equal values if they have the same seed.
    """
    if one.name == other.name == TRAINER_STATE:  # of checkpoints of one training, each longer than the last
        return one.run == other.run
    if {stem_of(one.name), stem_of(other.name)} == names().partial_copies:
        return one.folder == other.folder
    if uncopied(one.name) == uncopied(other.name):
        return one.folder == other.folder
    if are_numbered_apart(one.path, other.path):
        return False
    if one.folder == other.folder and (
        form in names().repeated_formats or is_misnamed(form, one.name) != is_misnamed(form, other.name)
    ):
        return True
    return form in names().copied_formats and _one_above_other(one, other)


def may_repeat(known: Format) -> bool:
    """Whether one log of a format may repeat some columns of another in its folder."""
    return known.name in names().repeated_formats


def is_misnamed(form: str, name: str) -> bool:
    """Whether a log is named as one of another format: JSON lines in a file named as a table.

    Such a log may be a duplicate of a log of its own format that is named properly.
    """
    return form == "jsonl" and is_table(name)


def uncopied(name: str) -> str:
    """The original name of a numbered copy that a browser or a shared folder made: `monitor (1).csv`."""
    return names().numbered_copy.sub("", name)


def is_copy(log: LogFile) -> bool:
    """Whether a log is such a copy, by its name."""
    return uncopied(log.found.name) != log.found.name


def has_less_than_console(
    one: LogFile,
    other: LogFile,
    sample: LogBeginning,
    its: LogBeginning,
) -> bool:
    """Whether one is a console and the other has less data: that of evaluations, or few series."""
    first, second = (log.format and log.format.name in names().copied_formats for log in (one, other))
    if bool(first) == bool(second):
        return False
    (_, printed), (proper, logged) = ((one, sample), (other, its)) if first else ((other, its), (one, sample))
    evaluates = names().evaluation.search(proper.found.name) is not None
    return evaluates or _SERIES_RATIO * len(logged.tags) <= len(printed.tags)


def prints_by(one: LogFile, other: LogFile) -> bool:
    """Whether one is the printed output of a training, and the other a proper log of it, by their paths.

    Such a console has few digits and other axes, so its values need not agree with those of the log.
    """
    consoles = [
        log for log in (one, other) if log.format is None or log.format.name in names().copied_formats
    ]
    if len(consoles) != 1 or consoles[0].format is None or not prints(consoles[0].format):
        return False  # two consoles in one folder are those of two programs
    return _one_above_other(one.found, other.found) and not are_numbered_apart(
        one.found.path, other.found.path
    )


def is_console_of_tracker(one: LogFile, other: LogFile) -> bool:
    """Whether one is the console that a tracker's client saves with the other, the log of the same run."""
    consoles = [log for log in (one, other) if log.format and log.format.name in names().copied_formats]
    trackers = [log for log in (one, other) if log.found.name.endswith(names().tracker_endings)]
    return one.found.run == other.found.run and len(consoles) == len(trackers) == 1


def prints(known: Format) -> bool:
    """Whether a format is that of printed output, which is no run of its own beside a log."""
    return known.name in names().printed_formats


def _one_above_other(one: FoundFile, other: FoundFile) -> bool:
    upper, lower = sorted((_parts(one.folder), _parts(other.folder)), key=len)
    return lower[: len(upper)] == upper


def _parts(folder: str) -> list[str]:
    return folder.split("/") if folder else []
