"""Detects that a file repeats the evaluations of a training whose log is in another folder.

EvalCallback of Stable-Baselines3 writes the mean of each evaluation to the log of the training, and the
episodes to `evaluations.npz` in a folder of its choice. Evaluations are few, and those of trainings that fail
alike, or solve their task, are equal. So they are of one training only if they vary, and agree at all steps
that both logs have evaluated. A log may call its evaluations anything: where no name says what it is, a
series that agrees in the same way is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rltui.logs.batch import Batch
from rltui.logs.discovery.duplicate_logs import ENOUGH, SAMPLE_BYTES, TOLERANCE
from rltui.logs.formats.interface import File, Format
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file_names import names, stem_of

Evaluations = dict[str, dict[int, list[float]]]  # by tag and step, the finite values
Column = list[tuple[float, list[float]]]  # values of one log, and those of another one at the same steps


def keeps_evaluations(found: FoundFile) -> bool:
    """Whether a log has only the evaluations of a training, by its name."""
    return stem_of(found.name) in names().sparse_stems


def evaluations(known: Format, file: File) -> Evaluations:
    """The evaluations at the beginning and the end of a log, by their tags. Raises OSError."""
    found: Evaluations = {}
    for batch in _batches(known, file):
        held_out = {at: tag for at, tag in enumerate(batch.tags) if names().evaluation.search(tag)}
        batch = batch.where(np.isin(batch.tag, list(held_out)) & np.isfinite(batch.value))
        rows = zip(batch.tag.tolist(), batch.step.tolist(), batch.value.tolist(), strict=True)
        for at, step, value in rows:
            found.setdefault(held_out[at], {}).setdefault(step, []).append(value)
    return found


def series_at(known: Format, file: File, kept: Evaluations) -> Evaluations:
    """All series at the beginning and the end of a log, at the steps of these evaluations. Raises OSError."""
    steps = sorted({step for column in kept.values() for step in column})
    found: Evaluations = {}
    for batch in _batches(known, file):
        near = batch.where(np.isin(batch.step, steps) & np.isfinite(batch.value))
        rows = zip(near.tag.tolist(), near.step.tolist(), near.value.tolist(), strict=True)
        for at, step, value in rows:
            found.setdefault(batch.tags[at], {}).setdefault(step, []).append(value)
    return found


def _batches(known: Format, file: File) -> Iterator[Batch]:
    log = known.open(file.path)
    try:
        before = -1
        while before < log.offset < SAMPLE_BYTES:
            before = log.offset
            yield log.read(file, SAMPLE_BYTES - before)
        if log.offset < file.size():
            yield log.newest(file, SAMPLE_BYTES)
    finally:
        log.close()


def vary(kept: Evaluations) -> bool:
    """Whether any of them have enough different values to be told from those of other trainings."""
    return any(_differ([value for values in column.values() for value in values]) for column in kept.values())


def are_repeated(kept: Evaluations, logged: Evaluations) -> bool | None:
    """Whether the evaluations of a file are those in a log; None if what they have in common is too little.

    Values are compared with those of the same tag, or else with any of the evaluation at that step.
    """
    every: dict[int, list[float]] = {}
    for its in logged.values():
        for step, values in its.items():
            every.setdefault(step, []).extend(values)
    told = False
    for tag, column in kept.items():
        common = _common(column, logged.get(tag, every))
        hits = sum(_has(row, value) for value, row in common)
        if hits < len(common) and (hits or tag in logged):
            return False
        told |= hits > 0 and _differ([value for value, _ in common])
    return True if told else None


def are_a_series(kept: Evaluations, logged: Evaluations) -> bool:
    """Whether a series has the values of these evaluations at all steps of both, and enough of them."""
    for column in kept.values():
        for its in logged.values():
            common = _common(column, its)
            if _differ([value for value, _ in common]) and all(_has(row, value) for value, row in common):
                return True
    return False


def _common(column: dict[int, list[float]], its: dict[int, list[float]]) -> Column:
    return [(value, its[step]) for step, values in column.items() if step in its for value in values]


def _has(row: list[float], value: float) -> bool:
    return any(abs(each - value) <= TOLERANCE * abs(value) for each in row)


def _differ(values: list[float]) -> bool:
    """Whether enough of these values are different ones."""
    ordered = np.sort(np.array(values))
    apart = np.diff(ordered) > 2 * TOLERANCE * np.abs(ordered[1:])
    return 1 + int(np.count_nonzero(apart)) >= ENOUGH
