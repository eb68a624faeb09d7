"""Optuna: studies in an SQLite database, each a run with one point per finished trial.

The values of trials and numeric parameters are read (optuna/storages/_rdb/models.py). Parallel trials end in
any order: steps count finished trials, and the number of a trial is a series.
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
