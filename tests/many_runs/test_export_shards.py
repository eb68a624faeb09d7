"""Exports in parts: the same lines and points whatever the engine and the cut, with what tags mean."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows

LOGS = Path(__file__).parents[1] / "logs"


def _tree(folder: Path) -> Path:
    """Four runs of two frameworks."""
    for number in range(4):
        key = "actor/ppo_kl" if number % 2 else "objective/kl"
        rows = [
            {"step": step, key: 0.01 * step, "critic/score/mean": step + number, "odd": 1.0}
            for step in range(9)
        ]
        write_rows(folder / f"run{number}" / "metrics.jsonl", rows)
    return folder


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_lines_are_the_same_from_processes(tmp_path: Path, form: str) -> None:
    """Standard output holds the same bytes in the same order."""
    logs = _tree(tmp_path / "logs")
    alone = rltui("export", logs, "--format", form)
    shared = rltui("export", logs, "--format", form, "--engine", "processes:2")
    assert alone.code == shared.code == 0 and len(alone.out.splitlines()) >= 4 * 27
    assert shared.out == alone.out


def test_shards_print_each_run_once(tmp_path: Path) -> None:
    """The lines of all parts are those of one export."""
    logs = _tree(tmp_path / "logs")
    whole = rltui("export", logs).out.splitlines()
    parts = [rltui("export", logs, "--shard", f"{index}/3") for index in (1, 2, 3)]
    assert {part.code for part in parts} == {0}
    assert sorted(line for part in parts for line in part.out.splitlines()) == sorted(whole)


def _points(place: Path) -> list[tuple[object, ...]]:
    return [
        (part.parent.name, *row.values())
        for part in sorted(place.glob("run=*/part-*.parquet"))
        for row in pq.ParquetFile(part).read().to_pylist()
    ]


def test_shards_fill_one_dataset(tmp_path: Path) -> None:
    """Machines that export their parts into one folder leave what one machine leaves."""
    logs = _tree(tmp_path / "logs")
    whole, parts, shared = tmp_path / "whole", tmp_path / "parts", tmp_path / "shared"
    assert rltui("export", logs, "--format", "parquet", "--output", whole).code == 0
    for index in (2, 1):
        words = ["--format", "parquet", "--output", parts, "--shard", f"{index}/2"]
        assert rltui("export", logs, *words).code == 0
    words = ["--format", "parquet", "--output", shared, "--engine", "processes:2"]
    assert rltui("export", logs, *words).code == 0
    assert _points(whole) == _points(parts) == _points(shared) and len(_points(whole)) == 4 * 27


def test_points_of_frameworks_share_metric_and_unit(tmp_path: Path) -> None:
    """The dataset names the metric that a tag stands for, null where none is known."""
    place = tmp_path / "points"
    rltui("export", LOGS, "--run", "*verl*", "--format", "parquet", "--output", place)
    rltui("export", LOGS, "--run", "*trl*", "--format", "parquet", "--output", tmp_path / "more")
    metrics = {}
    for folder in (place, tmp_path / "more"):
        for part in folder.glob("run=*/*.parquet"):
            for row in pq.ParquetFile(part).read().to_pylist():
                metrics.setdefault(row["metric"], set()).add((row["tag"], row["unit"]))
    assert len(metrics["reward.mean"]) >= 2  # two spellings of one metric
    rltui("export", _tree(tmp_path / "logs"), "--format", "parquet", "--output", tmp_path / "odd")
    part = next((tmp_path / "odd").glob("run=*/*.parquet"))
    unknown = [row for row in pq.ParquetFile(part).read().to_pylist() if row["metric"] is None]
    assert {(row["tag"], row["unit"]) for row in unknown} == {("odd", None)}


def test_an_older_dataset_is_not_continued(tmp_path: Path) -> None:
    """Parts with other columns would not be one table: another folder is asked for."""
    logs, place = _tree(tmp_path / "logs"), tmp_path / "points"
    rltui("export", logs, "--format", "parquet", "--output", place)
    part = next(place.glob("run=*/*.parquet"))
    table = pq.ParquetFile(part).read()
    filters = {"metrics": [], "all_sources": False, "verify": False}
    pq.write_table(table.replace_schema_metadata({"rltui.filters": json.dumps(filters)}), part)
    for other in place.glob("run=*/*.parquet"):
        if other != part:
            other.unlink()
    done = rltui("export", logs, "--format", "parquet", "--output", place)
    assert done.code == 2 and "name a new folder" in done.err
