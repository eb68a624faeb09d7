"""The schemas that `--schema` prints hold for what is printed, and refuse what is not promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import SICK, WELL, write


def holds(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as a schema says."""
    return Draft202012Validator(schema).is_valid(value)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A good run, a sick one with values that are no numbers, an unjudged one, and a damaged file."""
    write(tmp_path / "logs" / "well", WELL)
    write(tmp_path / "logs" / "sick", [*SICK, float("nan"), float("nan"), float("nan")])
    write(tmp_path / "logs" / "new", [1.0], key="zork")
    (tmp_path / "logs" / "bad").mkdir()
    (tmp_path / "logs" / "bad" / "events.out.tfevents.1.host").write_bytes(b"no event file" * 40)
    return tmp_path / "logs"


@pytest.mark.parametrize("name", ["check", "runs"])
def test_what_is_printed_is_as_the_schema_says(logs: Path, name: str) -> None:
    """`check` and `runs` over runs of every health."""
    schema = rltui(name, "--schema")
    assert schema.code == 0 and schema.json()["title"] == f"rltui {name} --json"
    document = rltui(name, logs, "--json").json()
    assert {run["health"] for run in document["runs"]} == {"ok", "critical", "unjudged"}
    assert holds(document, schema.json())


def test_the_document_of_an_unreadable_folder_is_as_the_schema_says(tmp_path: Path) -> None:
    """`check` of a folder that is not there."""
    schema = rltui("check", "--schema").json()
    assert holds(rltui("check", tmp_path / "missing", "--json").json(), schema)


def test_every_answer_of_explain_is_as_the_schema_says() -> None:
    """Known keys, keys of several meanings, canonical ids."""
    schema = rltui("explain", "--schema").json()
    answers = rltui(
        "explain", "actor/pg_clipfrac", "policy.kl_ref", "entropy", "loss", "reward", "--json"
    ).lines()
    assert len(answers) >= 4
    assert all(holds(answer, schema) for answer in answers)


def test_a_document_with_a_field_missing_or_wrong_is_refused(logs: Path) -> None:
    """The schema says something: without a promised field, or with another type, it does not hold."""
    schema = rltui("check", "--schema").json()
    document = rltui("check", logs, "--json").json()
    for field in ("health", "runs", "diagnostics", "logdir"):
        assert not holds({key: each for key, each in document.items() if key != field}, schema)
    assert not holds({**document, "health": "fine"}, schema)
    assert not holds({**document, "runs": [{**document["runs"][0], "points": "many"}]}, schema)


def test_a_logdir_is_needed_without_the_schema() -> None:
    """--schema needs no LOGDIR and no KEY; everything else does."""
    assert [rltui(name).code for name in ("check", "runs", "explain")] == [2, 2, 2]
