"""Runs of which nothing can be said, and folders with nothing to read: never `ok`."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.logs.tfwriter import version
from tests.support.runs.checked_runs import WELL, write


def _jsonl(folder: Path, count: int, **values: float) -> Path:
    return write_rows(folder / "metrics.jsonl", ({"step": step, **values} for step in range(count))).parent


@pytest.mark.parametrize("command", ["runs", "check", "export"])
def test_values_that_are_not_read_are_named(tmp_path: Path, command: str) -> None:
    """A folder with only a pickle is not one without logs: it is said what to write instead."""
    (tmp_path / "rewards.pkl").write_bytes(pickle.dumps([0.5] * 50))
    done = rltui(command, tmp_path)
    assert done.code == 2
    assert "rewards.pkl: pickles are not read" in done.err and "no logs" not in done.err


def test_nothing_to_read_still_prints_the_document(tmp_path: Path) -> None:
    """Empty, missing and damaged folders: `unreadable`, no runs, exit code 2, diagnostics that differ."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "events.out.tfevents.1.host").write_bytes(bytes(range(1, 256)) * 20)
    (tmp_path / "zeros").mkdir()
    (tmp_path / "zeros" / "events.out.tfevents.1.host").write_bytes(bytes(9000))
    for name in ("metrics", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.jsonl").write_text('{"step": 1, "loss')
    codes = {}
    for name in ("empty", "missing", "damaged", "zeros", "metrics", "mine"):
        done = rltui("check", tmp_path / name, "--json")
        data = done.json()
        assert (done.code, data["health"], data["runs"]) == (2, "unreadable", [])
        assert data["schema"] == 1 and data["logdir"] == str(tmp_path / name)
        codes[name] = data["diagnostics"][0]["code"]
        exported = rltui("export", tmp_path / name)
        assert (exported.code, exported.out) == (2, "") and exported.err.startswith("rltui: ")
        assert all(each.keys() >= {"level", "code", "path", "message"} for each in data["diagnostics"])
    assert codes == {
        "empty": "no-logs", "missing": "missing", "damaged": "not-an-event-file", "zeros": "zeros",
        "metrics": "torn-record", "mine": "torn-record",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["empty", "missing", "torn"])
def test_runs_of_nothing_print_their_document(tmp_path: Path, name: str) -> None:
    """`runs --json` of a folder without a run: its document without runs, with diagnostics, exit code 2."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "log.jsonl").write_text('{"step": 1, "loss')
    done = rltui("runs", tmp_path / name, "--json")
    data = done.json()
    assert (done.code, data["schema"], data["runs"]) == (2, 1, [])
    expected = {"empty": "no-logs", "missing": "missing", "torn": "torn-record"}
    assert [each["code"] for each in data["diagnostics"]] == [expected[name]]


def test_an_only_log_that_is_empty_is_said_to_be_so(tmp_path: Path) -> None:
    """The file itself as well as its folder: its own code, its name, and no word of other formats."""
    (tmp_path / "progress.csv").touch()
    for place in (tmp_path, tmp_path / "progress.csv"):
        done = rltui("runs", place, "--json")
        (told,) = done.json()["diagnostics"]
        assert (done.code, told["code"]) == (2, "empty-log")
        assert told["message"] == "progress.csv is empty: nothing was written to it yet"


def test_no_run_of_a_name_is_told_apart_from_no_logs(tmp_path: Path) -> None:
    """--run without a match: its own code."""
    write(tmp_path / "a", WELL)
    data = rltui("check", tmp_path, "--run", "other*", "--json").json()
    assert [each["code"] for each in data["diagnostics"]] == ["no-matching-run"]


@pytest.mark.parametrize(
    ("count", "values", "why"),
    [
        (100, {"zork": 1.5, "blip": 2.0}, "no rule applies to its 2 metrics"),
        (2, {"actor/kl_loss": 0.1}, "too few points: at most 2"),
    ],
)
def test_a_run_that_cannot_be_judged_is_not_ok(
    tmp_path: Path, count: int, values: dict[str, float], why: str
) -> None:
    """`unjudged` with the reason in check and runs, as JSON and text; exit code 2."""
    logs = _jsonl(tmp_path / "logs", count, **values)
    done = rltui("check", logs, "--json")
    (run,) = done.json()["runs"]
    assert (done.code, done.json()["health"], run["health"]) == (2, "unjudged", "unjudged")
    assert run["message"].startswith(why)
    assert f"not judged: {why}" in rltui("check", logs).out
    assert f"not judged: {why}" in rltui("check", logs, "--format", "markdown").out
    (listed,) = rltui("runs", logs, "--json").json()["runs"]
    assert listed["health"] == "unjudged" and "unjudged" in rltui("runs", logs).out


def test_one_unjudged_run_among_others_changes_nothing(tmp_path: Path) -> None:
    """The exit code and the health of the document are those of the runs that were judged."""
    write(tmp_path / "logs" / "well", WELL)
    _jsonl(tmp_path / "logs" / "new", 1, zork=1.0)
    done = rltui("check", tmp_path / "logs", "--json")
    assert (done.code, done.json()["health"]) == (0, "ok")
    assert {run["run"]: run["health"] for run in done.json()["runs"]} == {"well": "ok", "new": "unjudged"}


def test_a_limit_of_the_user_judges_a_metric_nobody_knows(tmp_path: Path) -> None:
    """A threshold in rltui.toml is a rule: the run is `ok`."""
    logs = _jsonl(tmp_path / "logs", 5, zork=1.0)
    (logs / "rltui.toml").write_text('[[thresholds]]\nmetric = "zork"\nabove = 5\n')
    assert rltui("check", logs).code == 0


def test_a_log_without_scalars_says_so(tmp_path: Path) -> None:
    """An event file with its version alone: no scalars yet, and no step since which nothing is written."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.out.tfevents.1.host").write_bytes(version())
    done = rltui("check", tmp_path, "--json")
    (run,) = done.json()["runs"]
    assert (done.code, run["message"], run["findings"], run["last_step"]) == (2, "no scalars yet", [], None)
    assert (
        "no scalars yet" in rltui("check", tmp_path).out and "no scalars yet" in rltui("runs", tmp_path).out
    )


@pytest.mark.parametrize("command", ["check", "runs", "snapshot", "report"])
def test_a_folder_with_only_damaged_files_says_so_and_exits_with_2(tmp_path: Path, command: str) -> None:
    """Every command that prints runs names the reason, and none says that nothing was written yet."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.out.tfevents.1.host").write_bytes(bytes(range(1, 200)))
    done = rltui(command, tmp_path)
    assert done.code == 2
    assert "nothing could be read: it does not begin like an event file" in done.out
    assert "written yet" not in done.out
