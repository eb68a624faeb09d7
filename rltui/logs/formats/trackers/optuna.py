"""Optuna: studies in an SQLite database or in a journal, each a run with one point per finished trial.

The values of trials and numeric parameters are read (optuna/storages/_rdb/models.py). Parallel trials end in
any order: steps count finished trials, and the number of a trial is a series. A journal has one operation of
a worker per line (`JournalFileBackend("journal.log")`, optuna/storages/journal/_storage.py @ v4.1).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rltui.logs.formats.container import Parts
from rltui.logs.formats.trackers.database_run import DatabaseRun, Record, Rows, Schema, columns_of
from rltui.logs.formats.trackers.part_reader import unique_names
from rltui.logs.records.parse_number import wall_time

if TYPE_CHECKING:
    import sqlite3
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines.line_reader import LineParser, LineReader
from rltui.logs.records.record_batcher import RecordBatcher

_OF_TRIAL = "FROM trials AS t WHERE t.trial_id = r.trial_id"
# An infinite value is stored as a type and an empty value; the oldest databases have no column of types.
_VALUE = "CASE value_type WHEN 'INF_POS' THEN 9e999 WHEN 'INF_NEG' THEN -9e999 ELSE value END"


def _record(
    step: int, objective: int, objectives: int, value: float | None, number: int, ended: str, params: str
) -> Record | None:
    """The value of one objective of a trial; the first one also has its number and its parameters."""
    if not isinstance(value, int | float):
        return None
    values: dict[str, object] = {f"objective_{objective}" if objectives > 1 else "objective": value}
    if objective == 0:
        values["trial"] = number
        values.update((f"params/{name}", each) for name, each in json.loads(params).items())
    return step, wall_time(ended), values


def _schema(value: str) -> Schema:
    columns = (
        "(SELECT min(v.rowid) FROM trial_values AS v WHERE v.trial_id = r.trial_id), objective,"
        " (SELECT count(*) FROM trial_values AS v WHERE v.trial_id = r.trial_id),"
        f" {value}, (SELECT t.number {_OF_TRIAL}), (SELECT t.datetime_complete {_OF_TRIAL}),"
        " (SELECT json_group_object(p.param_name, p.param_value) FROM trial_params AS p"
        # the value of a categorical parameter is an index
        " WHERE p.trial_id = r.trial_id AND p.distribution_json NOT LIKE '%Categorical%')"
    )
    run = f"(SELECT CAST(t.study_id AS TEXT) {_OF_TRIAL})"
    return Schema("optuna", (Rows("trial_values", run, "24", columns, _record),), _about)


def _about(base: sqlite3.Connection, key: str) -> tuple[dict[str, object], str]:
    """Name and directions of a study, which has no exit code."""
    name = base.execute("SELECT study_name FROM studies WHERE study_id = ?", (int(key),)).fetchone()
    sql = "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective"
    directions = [str(row[0]) for row in base.execute(sql, (int(key),))]
    return {"optuna": {"study": str(name[0]) if name else "", "directions": directions}}, ""


def parts_of_database(place: str, base: sqlite3.Connection) -> Parts | None:
    """The studies in a database; None if it is one of another tracker."""
    columns = columns_of(base, "trial_values")
    if not {"trial_id", "objective", "value"} <= columns or "study_name" not in columns_of(base, "studies"):
        return None
    rows = base.execute("SELECT study_id, study_name FROM studies ORDER BY study_id").fetchall()
    names = unique_names([(str(key), str(name)) for key, name in rows])
    schema = _schema(_VALUE if "value_type" in columns else "value")
    return Parts(tuple(DatabaseRun(place, key, name, schema) for key, name in names.items()))


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


def _is_journal(name: str, head: bytes) -> bool:
    return not name.startswith(".") and head.startswith(_BEGINNING) and b'"worker_id"' in head[:200]


JOURNAL = Format("optuna", _is_journal, lambda path, _: LineReader(path, JournalParser(path)))
