"""Traces of trackio's database are samples of their run; those with files of their own count once."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from rltui.run_context.samples.indexes_by_run import sample_indexes_of


def _database(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, timestamp, run_name, step INT, metrics)"
    )
    base.execute(
        "CREATE TABLE traces (id TEXT PRIMARY KEY, run_id, run_name, step INT, key, messages, metadata)"
    )
    for number, run in enumerate(("a", "b")):
        row = (run * 32, f"2026-11-22T03:41:4{number}+00:00", f"grpo-{run}", 1, '{"loss": 1.0}')
        base.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?,?,?,?,?)", row
        )
    return base


def _trace(base: sqlite3.Connection, run: str, number: int, reward: float) -> str:
    said = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"answer {number}"}]
    identity = f"{run * 32}:{number}:rollouts:0"
    about = json.dumps({"reward": reward, "prompt_id": number // 2})
    row = (
        identity,
        run,
        f"grpo-{run}",
        5,
        "rollouts",
        json.dumps(said),
        about,
    )
    base.execute("INSERT INTO traces VALUES (?,?,?,?,?,?,?)", row)
    return identity


def test_traces_of_a_database_are_samples_of_their_runs(tmp_path: Path) -> None:
    """Texts, rewards and groups of each run; one with a file counts once."""
    base = _database(tmp_path / "tiny.db")
    for number in range(3):
        identity = _trace(base, "a", number, number / 2)
    _trace(base, "b", 7, 1.0)
    base.close()
    file = tmp_path / "traces" / "tiny" / "grpo-a" / f"{identity.replace(':', '-')}.jsonl"
    file.parent.mkdir(parents=True)
    about = {"step": 5, "key": "rollouts", "metadata": {"reward": 1.0, "prompt_id": 1}}
    file.write_text(json.dumps({"type": "session", "id": identity, "trackio": about}) + "\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    found = {}
    for run, index in sample_indexes_of([str(tmp_path)]).items():
        assert index.refresh(10.0)
        found[run] = [(index.load(head).response, head.step, head.reward, head.group) for head in index.heads]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert sorted(found) == ["tiny/grpo-a", "tiny/grpo-b"]
    assert sorted(found["tiny/grpo-a"]) == [
        ("", 5, 1.0, "1"), ("answer 0", 5, 0.0, "0"), ("answer 1", 5, 0.5, "0")]  # fmt: skip
    assert found["tiny/grpo-b"][0] == ("answer 7", 5, 1.0, "3")


def test_new_traces_of_a_live_database_are_taken_in(tmp_path: Path) -> None:
    """Rows that a writer adds appear at the next look, each once."""
    base = _database(tmp_path / "tiny.db")
    _trace(base, "a", 0, 0.0)
    (index,) = sample_indexes_of([str(tmp_path)]).values()
    index.refresh(10.0)
    assert len(index.heads) == 1
    _trace(base, "a", 1, 1.0)
    index.refresh(10.0)
    assert [head.reward for head in index.heads] == [0.0, 1.0]
    base.close()


def test_the_first_samples_of_a_large_file_come_with_the_first_look(tmp_path: Path) -> None:
    """A look that may take no time gives some of them; the next ones all, each once."""
    lines = [json.dumps({"input": "q", "output": "x" * 4000, "score": number}) for number in range(300)]
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "rollouts" / "1.jsonl").write_text("\n".join(lines) + "\n")
    (index,) = sample_indexes_of([str(tmp_path)]).values()
    ticks = iter([0.0, 0.0, 1.0, 1.0])
    index.refresh(0.5, clock=lambda: next(ticks))
    assert 0 < len(index.heads) < 100
    index.refresh(60.0)
    assert [head.reward for head in index.heads] == list(range(300))
