"""MLflow: runs in an SQLite database (`mlflow.db`, `mlruns.db`) or in folders (`mlruns/<experiment>/<run>/`).

The database stores infinities as +-1.797e308 and NaN as 0 with `is_nan`; the folder has a file for each
metric with lines `milliseconds value step`. Deleted runs are omitted.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rltui.common.regex import regex
from rltui.logs.formats.container import Container, Parts
from rltui.logs.formats.trackers.database_run import DatabaseRun, Rows, Schema, columns_of, unique_names
from rltui.logs.formats.trackers.metric_files import MetricFiles, MetricLine

if TYPE_CHECKING:
    import sqlite3

_INFINITE = 1.797e308  # MLflow stores the largest double for infinity
# Exit codes by entity.RunStatus, as name or number.
_EXIT_CODES = {"FINISHED": "0", "FAILED": "1", "KILLED": "137", "3": "0", "4": "1", "5": "137"}
_ABOUT_CAP = 1 << 20  # bytes of meta.yaml and of each param that are read


def _value(key: str, value: float, wall: int, step: int, is_nan: int) -> tuple[str, float, tuple[int, float]]:
    """Key, value, step and wall time of a row."""
    number = math.nan if is_nan else float(value)
    if abs(number) >= _INFINITE:
        number = math.copysign(math.inf, number)
    if type(key) is not str or type(step) is not int:
        raise TypeError("no key or no step")
    return key, number, (step, wall / 1000)


def _about(base: sqlite3.Connection, key: str) -> tuple[dict[str, object], str]:
    """Params and exit code of a run."""
    hparams: dict[str, object] = dict(
        base.execute("SELECT key, value FROM params WHERE run_uuid = ? ORDER BY rowid", (key,))
    )
    row = base.execute("SELECT status FROM runs WHERE run_uuid = ?", (key,)).fetchone()
    return hparams, _EXIT_CODES.get(str(row[0]), "") if row else ""


_SCHEMA = Schema(
    "mlflow",
    (
        Rows(
            "metrics",
            "run_uuid",
            "(length(key) + 24)",  # the key and three numbers of 8 bytes
            "key, value, timestamp, step, is_nan",
            value=_value,
        ),
    ),
    _about,
)


def parts_of_database(place: str, base: sqlite3.Connection) -> Parts | None:
    """The runs of MLflow in a database; None if it is one of another tracker."""
    if not {"run_uuid", "lifecycle_stage", "name", "status"} <= columns_of(base, "runs"):
        return None
    rows = base.execute(
        "SELECT r.run_uuid, r.name, e.name FROM runs r LEFT JOIN experiments e USING (experiment_id)"
        " WHERE r.lifecycle_stage IS NOT 'deleted' ORDER BY r.start_time, r.rowid"
    ).fetchall()
    runs = [
        (key, "/".join(str(each) for each in (experiment, name) if each))
        for key, name, experiment in rows
        if isinstance(key, str)
    ]
    names = unique_names(runs)
    return Parts(tuple(DatabaseRun(place, key, names[key], _SCHEMA) for key, _ in runs))


_LINE = regex(rb"(-?\d+) (\S+)(?: (-?\d+))?\s*\Z")


def _parts_of_folder(place: str) -> Parts | None:
    """The run of a `meta.yaml` with a run id; no parts if it was deleted, None for any other file."""
    about = _meta(place)
    key = about.get("run_id") or about.get("run_uuid")
    if not isinstance(key, str):
        return None
    folders = ("metrics", "params", "tags")
    if about.get("lifecycle_stage") == "deleted":
        return Parts((), folders)
    folder = place.rpartition("/")[0]
    experiment = _experiment_of(folder)
    name = "-".join(filter(None, (str(about.get("run_name") or ""), key[:8])))
    part = MetricFiles(
        "mlflow",
        place,
        f"{folder}/metrics",
        _line,
        run=f"../../{experiment}/{name}",
        about=lambda: _about_folder(place),
        related_paths=(f"{folder}/params", f"{folder.rpartition('/')[0]}/meta.yaml"),
    )
    return Parts((part,), folders)


FOLDER = Container(lambda place: place.endswith("/meta.yaml"), _parts_of_folder)


def _line(line: bytes, step: int) -> MetricLine | None:
    """Step, wall time, value of a line `milliseconds value step`; older files have no step."""
    match = _LINE.match(line)
    if match is None:
        return None
    try:
        return int(match[3] or 0), int(match[1]) / 1000, float(match[2])
    except ValueError:
        return None


def _about_folder(place: str) -> tuple[dict[str, object], str]:
    """Params, with the name, and exit code of the run of a `meta.yaml`. Raises OSError."""
    about = _meta(place)
    folder = Path(place).parent
    hparams: dict[str, object] = {}
    if (folder / "params").is_dir():
        for path in sorted((folder / "params").rglob("*")):
            if path.is_file() and path.stat().st_size <= _ABOUT_CAP:
                hparams[path.relative_to(folder / "params").as_posix()] = path.read_text("utf-8", "replace")
    if about.get("run_name"):
        hparams["mlflow"] = {"run_name": str(about["run_name"])}
    return hparams, _EXIT_CODES.get(str(about.get("status")), "")


def _experiment_of(folder: str) -> str:
    """The name of the experiment of a run's folder, or else that of the parent folder."""
    above = folder.rpartition("/")[0]
    try:
        name = _meta(f"{above}/meta.yaml").get("name")
    except OSError:
        name = None
    return str(name or above.rpartition("/")[2])


def _meta(place: str) -> dict[str, object]:
    """The content of a `meta.yaml`; empty if it cannot be parsed. Raises OSError."""
    import yaml  # 18 ms, only needed for this tracker

    if os.stat(place).st_size > _ABOUT_CAP:  # noqa: PTH116 - a string is what is kept
        return {}
    try:
        found = yaml.safe_load(Path(place).read_text("utf-8", "replace"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
