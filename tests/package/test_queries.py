"""The queries of the documentation run in DuckDB on what `export` writes; its parts have one schema."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pyarrow.dataset as ds
import pytest

from tests.support.commands.in_process import rltui

LOGS = Path(__file__).parents[1] / "logs"
PAGE = (Path(__file__).resolve().parents[2] / "docs/pages/recipes.md").read_text()
QUERIES = re.findall(r"^```sql\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points and findings of real runs of several frameworks, in a folder whose name is to be encoded."""
    home = tmp_path_factory.mktemp("queries")
    for name in ("trl-grpo-nan", "verl-grpo-nan", "toy-brevity"):
        shutil.copytree(LOGS / name, home / "runs" / "sweep one" / name)
    runs = home / "runs"
    assert rltui("export", runs, "--format", "parquet", "--output", home / "points").code == 0
    assert rltui("export", runs, "--kind", "findings", "--output", home / "findings.parquet").code == 0
    return home


def test_there_is_a_query_of_each_kind() -> None:
    """Points, findings, and both joined."""
    assert len(QUERIES) == 3


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_of_the_documentation_answers(
    query: str, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB takes it as it stands, and it finds the run by its name."""
    monkeypatch.chdir(exported)
    rows = duckdb.connect().sql(query).fetchall()
    assert rows
    assert any("sweep one/toy-brevity" in str(row) for row in rows)


def test_readers_find_one_schema(exported: Path) -> None:
    """The dataset has the same columns in all parts, so that no reader has to be told of them."""
    table = ds.dataset(exported / "points", partitioning="hive").to_table()
    assert {"run", "tag", "metric", "unit", "step", "wall_time", "value", "superseded"} <= set(
        table.column_names
    )
    assert table.num_rows == len(rltui("export", exported / "runs").out.splitlines())


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_findings_are_lines_too(exported: Path, form: str) -> None:
    """One row for each finding of `check --json`, whatever the format."""
    done = rltui("export", exported / "runs", "--kind", "findings", "--format", form)
    document = rltui("check", exported / "runs", "--json").json()
    count = sum(len(run["findings"]) + len(run["notes"]) for run in document["runs"])
    assert done.code == 0 and len(done.out.splitlines()) == count + (form == "csv") > 1


def test_findings_can_be_chosen_by_metric(exported: Path) -> None:
    """`--metric` keeps the findings of such tags or metrics."""
    rows = rltui("export", exported / "runs", "--kind", "findings", "--metric", "no-such-*")
    assert rows.code == 0 and not rows.out
