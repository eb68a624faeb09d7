"""What several runs have in common is told once: the same finding, or that they fell silent together."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.support.commands import rltui
from tests.support.livelogs import write
from tests.support.tfwriter import event, simple, version


def _broken(folder: Path, name: str, at: int, *, ended: float) -> None:
    """A run whose loss becomes NaN at a step, last written at a time."""
    rows = [
        {
            "step": step,
            "_timestamp": ended - (60 - step),
            "actor/pg_loss": float("nan") if step >= at else 1 / step,
            "actor/entropy": 1.0 + 0.01 * (step % 7),
        }
        for step in range(1, 61)
    ]
    write(folder / name / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_a_finding_of_several_runs_is_told_with_its_steps(tmp_path: Path) -> None:
    """Runs with one finding are counted and named; a run of its own trouble is not common."""
    for number, at in enumerate((20, 30, 25, 22)):
        _broken(tmp_path / "logs", f"run{number}", at, ended=1_600_000_000.0)
    document = rltui("check", tmp_path / "logs", "--json").json()
    (common,) = [one for one in document["common"] if one["severity"] == "critical"]
    assert (common["count"], common["since_step"]) == (4, 20)
    assert common["runs"] == ["run0", "run1", "run2", "run3"]
    text = rltui("check", tmp_path / "logs").out
    assert "4 runs: " in text and "since step 20 to 30  (run0, run1, run2 and 1 more)" in text
    alone = rltui("check", tmp_path / "logs", "--run", "run1")
    assert "Several runs" not in alone.out


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
