"""Journals of Optuna: one operation of a worker per line; a run has one point per finished trial.

`JournalStorage(JournalFileBackend("journal.log"))`, optuna/storages/journal/_storage.py @ v4.1. The names are
those of a study in a database (`trackers.optuna`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.records.parse_number import wall_time
from rltui.logs.records.record_batcher import RecordBatcher

_CREATE_STUDY, _CREATE_TRIAL, _SET_PARAM, _SET_STATE = 0, 4, 5, 6
_COMPLETE = 1
_BEGINNING = b'{"op_code":'


@dataclass(slots=True)
class _Trial:
    study: int
    number: int
    params: dict[str, object] = field(default_factory=dict)


class JournalParser(LineParser):
    """The `LineParser` of journals."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._studies: list[str] = []
        self._trials: list[_Trial] = []
        self._counts: Counter[int] = Counter()  # trials of each study
        self._finished = 0

    def parse(self, lines: Sequence[bytes], start: int, records: RecordBatcher) -> None:
        """Apply the operations of complete lines; other lines are ignored."""
        for line in lines:
            try:
                operation = orjson.loads(line)
                code = operation["op_code"]
                if code == _CREATE_STUDY:
                    self._studies.append(str(operation["study_name"]))
                elif code == _CREATE_TRIAL:
                    self._create(int(operation["study_id"]))
                elif code == _SET_PARAM and "Categorical" not in operation["distribution"]:
                    value = operation["param_value_internal"]
                    self._trials[operation["trial_id"]].params[f"params/{operation['param_name']}"] = value
                elif code == _SET_STATE and operation["state"] == _COMPLETE and operation["values"]:
                    self._finish(self._trials[operation["trial_id"]], operation, records)
            except (ValueError, KeyError, IndexError, TypeError):
                continue

    def _create(self, study: int) -> None:
        self._trials.append(_Trial(study, self._counts[study]))
        self._counts[study] += 1

    def _finish(self, trial: _Trial, operation: dict[str, object], records: RecordBatcher) -> None:
        values = operation["values"]
        if not isinstance(values, list):
            return
        names = [f"objective_{place}" for place in range(len(values))] if len(values) > 1 else ["objective"]
        record = {**dict(zip(names, values, strict=True)), "trial": trial.number, **trial.params}
        if trial.study:  # of another study in the same file
            record = {f"{self._studies[trial.study]}/{name}": value for name, value in record.items()}
        self._finished += 1
        wall = operation.get("datetime_complete")
        records.add(record, (self._finished, wall_time(wall) if isinstance(wall, str) else math.nan))


def _matches(name: str, head: bytes) -> bool:
    return not name.startswith(".") and head.startswith(_BEGINNING) and b'"worker_id"' in head[:200]


FORMAT = Format("optuna", _matches, lambda path, _: LineReader(path, JournalParser(path)))
