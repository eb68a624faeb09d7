"""What several runs have in common is told once: the same finding, or that they fell silent together."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from rltui.cli.documents.check_report import WIDTH
from rltui.many_runs.evaluate_shard import with_written_values
from rltui.rules.finding import Evidence
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write, write_rows
from tests.support.logs.tfwriter import event, simple, version
from tests.support.runs.made_run import MadeRun, finding


def _broken(folder: Path, name: str, at: int, *, ended: float) -> None:
    """A run whose loss becomes NaN at a step, last written at a time."""
    rows = [
        {
            "step": step,
            "_timestamp": ended - (60 - step),
            "actor/pg_loss": float("nan") if step >= at else 1 / step,
            "actor/entropy": 1.0 + 0.01 * (step % 7),
            "critic/score/mean": 0.2 + step / 100,
        }
        for step in range(1, 61)
    ]
    write_rows(folder / name / "metrics.jsonl", rows)


def test_a_finding_of_several_runs_is_told_with_its_steps(tmp_path: Path) -> None:
    """Runs with one finding are counted and named; a finding of one run alone is not common."""
    for number, at in enumerate((20, 30, 25, 22)):
        _broken(tmp_path / "logs", f"run{number}", at, ended=1_600_000_000.0)
    document = rltui("check", tmp_path / "logs", "--json").json()
    (common,) = [one for one in document["common"] if one["severity"] == "critical"]
    assert (common["count"], common["since_step"]) == (4, 20)
    assert common["runs"] == ["run0", "run1", "run2", "run3"]
    text = " ".join(rltui("check", tmp_path / "logs").out.split())
    assert "4 runs: " in text and "since steps 20 to 30 (run0, run1, run2 and 1 more)" in text
    alone = rltui("check", tmp_path / "logs", "--run", "run1")
    assert "Several runs" not in alone.out


def test_lines_on_several_runs_are_as_wide_as_all_others(tmp_path: Path) -> None:
    """Long names are wrapped; nothing in the text is wider than a line of the report."""
    names = [f"{letter * 40}/run" for letter in "abc"]
    for name in names:
        _broken(tmp_path / "logs", name, 20, ended=1_600_000_000.0)
    _, _, common = rltui("check", tmp_path / "logs").out.partition("Several runs:\n")
    told = common.partition("\n\n")[0].split("\n")
    assert len(told) > 1 and max(map(len, told)) <= WIDTH
    assert all(any(name in line for line in told) for name in names)


def test_runs_that_stalled_together_are_told_with_their_host(tmp_path: Path) -> None:
    """Last points close together are one stall, one far from them another; a common host is named."""
    now = time.time()
    for number, ago in enumerate((1000, 1010, 1100, 2500)):
        name = f"events.out.tfevents.1600000000.node17.{4000 + number}.0"
        last = now - ago
        steps = [
            event(step, simple("loss", 1 / (step + 1)), wall=last - 10 * (29 - step)) for step in range(30)
        ]
        content = b"".join([version(last - 300), *steps])
        write(tmp_path / "logs" / f"run{number}" / name, content)
    document = rltui("check", tmp_path / "logs", "--json").json()
    assert {run["state"] for run in document["runs"]} == {"stalled"}
    (stall,) = [one for one in document["common"] if one["kind"] == "stalled"]
    assert (stall["runs"], stall["host"]) == (["run0", "run1", "run2"], "node17")
    clock = time.strftime("%H:%M", time.localtime(stall["since"]))
    assert f"3 runs stalled since {clock} on node17" in rltui("check", tmp_path / "logs").out


def test_of_many_runs_that_are_fine_most_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` tells of findings and stalls, then of some runs that are fine, and how many more there are."""
    monkeypatch.setattr("rltui.cli.documents.check_report.MAX_OK_RUNS", 2)
    for number in range(6):
        ended = time.time() - 1000 if number == 2 else 1_600_000_000.0
        _broken(tmp_path / "logs", f"run{number}", 30 if number == 4 else 99, ended=ended)
    lines = rltui("check", tmp_path / "logs").out.splitlines()
    named = [line.split()[1] for line in lines if " · step " in line]
    assert named == ["run4", "run2", "run0", "run1"]
    assert any(line.endswith("and 2 more that are ok; `rltui runs` lists all") for line in lines)


def test_the_worst_run_first_brings_stalled_ones_before_those_that_are_fine(tmp_path: Path) -> None:
    """Sorted by health or by why, a stall is as bad as a warning, and less than what is critical."""
    for number, ago in enumerate((10, 1000, 20, 30)):
        _broken(tmp_path / "logs", f"run{number}", 30 if number == 3 else 99, ended=time.time() - ago)
    for column in ("why", "health"):
        runs = rltui("runs", tmp_path / "logs", "--json", "--sort", column).json()["runs"]
        assert [run["run"] for run in runs] == ["run3", "run1", "run0", "run2"]


def test_different_exceptions_have_nothing_in_common(tmp_path: Path) -> None:
    """One rule finds all exceptions; runs that ended with the same one are told together."""
    for name, error in (("a", "TypeError: x"), ("b", "KeyError: 'y'"), ("c", "KeyError: 'z'")):
        rows = "".join(f"{{'loss': {1 / step}, 'epoch': {step / 60}}}\n" for step in range(1, 30))
        trace = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n{error}\n'
        log = tmp_path / "logs" / name / "train.log"
        write(log, rows + trace)
        os.utime(log, (1_700_000_000.0,) * 2)
    document = rltui("check", tmp_path / "logs", "--json").json()
    found = [(one["title"], one["runs"]) for one in document["common"] if one["kind"] == "exception"]
    assert found == [("KeyError ended the program", ["b/train", "c/train"])]


def test_a_problem_of_several_files_is_told_once_and_the_most_severe_first(tmp_path: Path) -> None:
    """Of 60 runs of one framework, the same remark on each file would hide the warnings."""
    for number in range(5):
        rows = [json.dumps({"loss": 1 / (row + 1 + number)}) + "\n" for row in range(30)]
        write(tmp_path / "logs" / f"run{number}" / "metrics.jsonl", "".join(rows))
    write(tmp_path / "logs" / "run9" / "metrics.jsonl", '{"step": 1, "loss": 1}\nnonsense\n' * 20)
    lines = rltui("check", tmp_path / "logs").out.partition("Files and data:\n")[2].splitlines()
    assert lines[0].startswith("  warning: run9/metrics.jsonl: ")
    told = " ".join(line.strip() for line in lines if line.startswith("  "))
    assert told.count("no step in its records") == 1
    assert "info: 5 files: no step in its records; their number counts as step (run" in told


def test_a_ratio_is_printed_in_no_unit_of_its_keys() -> None:
    """Half of a rollout in a key of milliseconds is no 500; half a second is."""
    run = MadeRun(framework="verifiers")
    run.add("timing/generation_ms", [500.0] * 9)
    shares = [
        Evidence("timing/generation_ms", None, 0.5, 1, "timing.generation", per=per)
        for per in ("timing/total_ms", "")
    ]
    told = with_written_values(run, finding("timing/generation_ms", evidence=tuple(shares)))
    assert [one.now for one in told.evidence] == [0.5, 500.0]
