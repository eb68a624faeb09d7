"""Runs in parts: the same document whatever the cut and the engine, and nothing lost in silence."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import sqlite3
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rltui.common.extras import EXTRAS
from rltui.many_runs import evaluate_shard
from rltui.many_runs.engine import Engine
from rltui.many_runs.evaluate_shard import ShardResult
from rltui.many_runs.plan import LostShard, Plan, RunPlan, Shard, cut, make_plan
from rltui.many_runs.work_on_shards import work
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import lines, write, write_rows
from tests.support.logs.tfwriter import simple_file

LOGS = Path(__file__).parents[1] / "logs"
EARLY = 1_600_000_000  # seconds since 1970: long before any test runs


def _tree(folder: Path, count: int = 7) -> Path:
    """Runs: the third has a duplicate log, the fourth is broken by NaN, the fifth continues the sixth."""
    for number in range(count):
        first, shift = (1, 0) if number != 4 else (41, 10_000)
        broken = 50 if number == 3 else 1000
        rows = [
            {
                "step": step,
                "_timestamp": EARLY + 10 * number + shift + step,
                "actor/pg_loss": float("nan") if step > broken else 0.5 + 0.013 * number + 1 / step,
                "actor/entropy": 1.25 + number / 7 + step / 100,
                "actor/grad_norm": 0.5 + (number * step % 11) / 10,
            }
            for step in range(first, first + 60)
        ]
        group = "resumed" if number in (4, 5) else f"group{number % 2}"
        write_rows(folder / group / f"run{number}" / "metrics.jsonl", rows)
        if number == 2:
            head = ",".join(rows[0])
            body = "\n".join(",".join(map(repr, row.values())) for row in rows)
            write(folder / "group0" / "run2" / "progress.csv", f"{head}\n{body}\n")
    write(folder / "group0" / "run0" / "train.log", "Traceback (most recent call last):\nValueError: no\n")
    write(folder / "odd.jsonl", "this is no log\n")
    old = (EARLY, EARLY)
    for path in folder.rglob("*.*"):
        os.utime(path, old)
    return folder


@pytest.mark.parametrize("engine", ["processes:2", "slurm:local", "ray", "dask"])
def test_every_engine_prints_the_same_bytes(tmp_path: Path, engine: str) -> None:
    """Whatever works on the shards, document and exit code are those of one process."""
    package = EXTRAS.get(engine.partition(":")[0])
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"the extra of the engine {engine} is not installed")
    logs = _tree(tmp_path / "logs")
    alone = rltui("check", logs, "--json", "--no-cache")
    shared = rltui("check", logs, "--json", "--no-cache", "--engine", engine)
    assert alone.out and shared.out == alone.out
    assert shared.code == alone.code == 1


def test_merged_shards_are_the_whole(tmp_path: Path) -> None:
    """The documents of all shards make the document and the exit code of a single run, duplicates and all."""
    logs = _tree(tmp_path / "logs")
    whole = rltui("check", logs, "--json", "--no-cache")
    files = []
    names: list[str] = []
    for index in (3, 1, 2):
        part = rltui("check", logs, "--json", "--no-cache", "--shard", f"{index}/3")
        names += [run["run"] for run in part.json()["runs"]]
        files.append(write(tmp_path / f"{index}.json", part.out))
    assert sorted(names) == sorted(run["run"] for run in whole.json()["runs"])
    merged = rltui("merge", *files)
    assert (merged.out, merged.code) == (whole.out, whole.code)
    assert any(each["code"] == "continues" for each in merged.json()["diagnostics"])


def test_a_missing_shard_is_told(tmp_path: Path) -> None:
    """Without one of the documents the others are merged, a diagnostic says it, and the exit code is 2."""
    logs = _tree(tmp_path / "logs")
    part = write(tmp_path / "2.json", rltui("check", logs, "--json", "--no-cache", "--shard", "2/3").out)
    merged = rltui("merge", part)
    assert merged.code == 2
    missing = [each["path"] for each in merged.json()["diagnostics"] if each["code"] == "shard-missing"]
    assert missing == ["1/3", "3/3"]
    assert "shard 1/3 is missing" in merged.err


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', '{"shard": {}}', '{"shard": {"of": 1}}'])
def test_merge_refuses_other_files(tmp_path: Path, text: str) -> None:
    """A file that is not the document of a shard ends `merge` with 2 and one line."""
    done = rltui("merge", write(tmp_path / "some.json", text))
    assert done.code == 2 and done.err.count("\n") == 1 and not done.out


def test_the_cut_depends_on_names_alone(tmp_path: Path) -> None:
    """A run that comes later moves no other run to another part, and parts have no run in common."""
    few = make_plan([str(_tree(tmp_path / "logs", 5))])
    parts = [{run.name for run in few.shard(index, 4).runs} for index in range(1, 5)]
    more = make_plan([str(_tree(tmp_path / "logs", 9))])
    assert len(more.runs) > len(few.runs) == sum(map(len, parts))
    for index, part in enumerate(parts, 1):
        assert part <= {run.name for run in more.shard(index, 4).runs}


def test_a_large_run_is_a_shard_of_its_own() -> None:
    """Shards hold runs in their order, up to so many runs or bytes."""
    runs = [RunPlan(str(number)) for number in range(7)]
    assert [len(shard) for shard in cut(runs, most_runs=3)] == [3, 3, 1]


def _name(shard: Shard, victim: str) -> bytes:
    if any(run.name == victim for run in shard):
        os.kill(os.getpid(), signal.SIGKILL)
    return shard[0].name.encode()


def test_a_killed_worker_takes_only_its_shards() -> None:
    """When a process dies, what it worked on is lost and said; the other shards are worked on, in order."""
    shards = list(cut([RunPlan(f"{number:02d}") for number in range(12)], most_runs=1))
    done = list(work(shards, Engine("processes", "2"), partial(_name, victim="03")))
    assert [shard[0].name for shard, _ in done] == [shard[0].name for shard in shards]
    lost = [shard[0].name for shard, result in done if isinstance(result, LostShard)]
    assert "03" in lost and len(lost) <= 3
    assert all(
        result == shard[0].name.encode() for shard, result in done if not isinstance(result, LostShard)
    )


def test_a_lost_shard_is_a_diagnostic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a lost shard are named in the document and on standard error; the exit code is 2."""

    def lose(shards: list[Shard], *_: object) -> list[tuple[Shard, LostShard]]:
        return [(shard, LostShard(shard, "the process that worked on it ended")) for shard in shards]

    monkeypatch.setattr("rltui.many_runs.work_on_shards.work", lose)
    done = rltui("check", _tree(tmp_path / "logs"), "--json", "--no-cache", "--engine", "processes:2")
    (lost,) = [each for each in done.json()["diagnostics"] if each["code"] == "shard-lost"]
    assert done.code == 2 and lost["level"] == "error" and "group0/run0" in lost["message"]
    assert "not judged: group0/run0" in done.err


@pytest.mark.parametrize("words", [["--shard", "0/3"], ["--shard", "4/3"], ["--engine", "spark"],
                                   ["--engine", "processes:none"], ["--engine", "local:2"]])  # fmt: skip
def test_wrong_parts_and_engines_are_refused(words: list[str]) -> None:
    """An impossible part or engine is wrong usage: 2 and one line that names what is permitted."""
    done = rltui("check", LOGS, *words)
    assert done.code == 2 and done.err.count("\n") == 1


def test_a_missing_engine_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of an engine one line says how to install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = rltui("check", LOGS, "--engine", "ray")
    assert done.code == 2 and "pip install 'rltui[ray]'" in done.err


def test_verdicts_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second `check` of files that did not change prints the same and reads no log again."""
    logs = _tree(tmp_path / "logs")
    _let_age(monkeypatch)
    first = rltui("check", logs, "--json")
    monkeypatch.setattr("rltui.many_runs.evaluate_shard.evaluate", _refuse)
    again = rltui("check", logs, "--json")
    assert (again.out, again.code) == (first.out, first.code)


def _let_age(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take files that were just written for old ones: attributes cannot be set back (ctime)."""
    monkeypatch.setattr("rltui.many_runs.file_marks.MIN_AGE_SECONDS", -60.0)


def _refuse(shard: Shard, *_: object) -> None:
    raise AssertionError(f"read again: {[run.name for run in shard]}")


def test_a_change_without_other_size_or_time_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log rewritten in place, with its old size and modification time, is judged anew."""
    logs = _tree(tmp_path / "logs")
    _let_age(monkeypatch)
    path = logs / "group1" / "run1" / "metrics.jsonl"
    before = rltui("check", logs, "--json").json()
    status = path.stat()
    content = path.read_bytes()
    middle = content.replace(b'"step": 60, ', b'"step": 70, ')
    assert len(middle) == len(content) != 0 and middle != content
    path.write_bytes(middle)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = rltui("check", logs, "--json").json()
    steps = [
        next(run["last_step"] for run in each["runs"] if run["run"] == "group1/run1")
        for each in (before, after)
    ]
    assert steps == [60, 70]


@pytest.mark.parametrize("name", ["group1/run1/config.yaml", "config.yaml"])
def test_a_change_of_hyperparameters_near_a_log_is_seen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is judged again when a file of hyperparameters appears, or says another number of steps."""
    logs = _tree(tmp_path / "logs")
    _let_age(monkeypatch)
    rltui("check", logs, "--json")
    read = _note_what_is_read(monkeypatch)
    rltui("check", logs, "--json")
    assert not read
    for steps in (60, 600):
        write(logs / name, f"total_steps: {steps}\n")
        done = rltui("runs", logs, "--json")
        assert "group1/run1" in read and done.out == rltui("runs", logs, "--json", "--no-cache").out
        read.clear()


def test_what_was_just_written_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file written within the resolution of its time stamp may change without a trace: it is read again."""
    logs = _tree(tmp_path / "logs")
    rltui("check", logs, "--json")
    read = _note_what_is_read(monkeypatch)
    rltui("check", logs, "--json")
    assert len(read) == 7


def test_what_was_written_just_before_a_long_search_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is how old a log is when it is read; of the plan, how old when the search began."""
    logs = _tree(tmp_path / "logs")
    monkeypatch.setattr("rltui.many_runs.file_marks.time", SimpleNamespace(time=lambda: time.time() + 60))
    first = rltui("check", logs, "--json")
    planned = _note_plans(monkeypatch)
    read = _note_what_is_read(monkeypatch)
    assert rltui("check", logs, "--json").out == first.out
    assert not read and planned


def test_a_run_whose_state_changes_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A live run that writes no more is judged anew when it has ended, and remembered as such."""
    now = int(time.time())
    rows = "".join(
        f'{{"step": {n}, "_timestamp": {now - 200 + n}, "actor/entropy": 1.5}}\n' for n in range(99)
    )
    write(tmp_path / "logs" / "metrics.jsonl", rows)
    _let_age(monkeypatch)
    read = _note_what_is_read(monkeypatch)
    states = []
    for day in (0, 0, 1, 1, 1):
        clock = SimpleNamespace(time=lambda day=day: now + 86400.0 * day)
        monkeypatch.setattr("rltui.cli.reading.evaluation.time", clock)
        states.append(rltui("check", tmp_path / "logs", "--json").json()["runs"][0]["state"])
    assert states == ["live", "live", "ended", "ended", "ended"] and len(read) == 2


def test_a_copied_run_is_judged_as_a_whole_once_its_files_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its points are of last year: it may be replayed as long as its file is young, and the cache knows."""
    now = int(time.time())
    values = random.Random(4)
    rows = "".join(
        f'{{"step": {n}, "_timestamp": {now - 3e7 + n}, "episode_return": {values.gauss(40, 10)}}}\n'
        for n in range(400)
    )
    write(tmp_path / "logs" / "metrics.jsonl", rows)
    _let_age(monkeypatch)
    told = []
    for day in (0, 1, 1):
        clock = SimpleNamespace(time=lambda day=day: now + 86400.0 * day)
        monkeypatch.setattr("rltui.cli.reading.evaluation.time", clock)
        run = rltui("check", tmp_path / "logs", "--json").json()["runs"][0]
        told.append((run["state"], run["health"], [one["id"] for one in run["findings"]]))
    assert told[0] == ("ended", "ok", [])
    assert told[1] == told[2] == ("ended", "warning", ["ended-without-gain", "outcome-no-gain"])


def _note_plans(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Plans that are made from now on."""
    made: list[object] = []

    def noted(*words: Any, **options: Any) -> Plan:
        made.append(words)
        return make_plan(*words, **options)

    monkeypatch.setattr("rltui.cli.options.sharding.make_plan", noted)
    return made


def _note_what_is_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that are judged from now on."""
    read: list[str] = []
    evaluate = evaluate_shard.evaluate

    def noted(shard: Shard, *more: Any) -> ShardResult:
        read.extend(run.name for run in shard)
        return evaluate(shard, *more)

    monkeypatch.setattr("rltui.many_runs.evaluate_shard.evaluate", noted)
    return read


def test_a_damaged_cache_is_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut or foreign file of verdicts is ignored and written anew; it is the user's alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _let_age(monkeypatch)
    logs = _tree(tmp_path / "logs")
    first = rltui("check", logs, "--json")
    (file,) = (tmp_path / "cache").rglob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    for content in (file.read_bytes()[:-40], b"[]", b""):
        file.write_bytes(content)
        assert rltui("check", logs, "--json").out == first.out


def test_a_log_that_grows_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run that goes on is judged anew, the others are remembered."""
    logs = _tree(tmp_path / "logs")
    _let_age(monkeypatch)
    rltui("check", logs)
    with (logs / "group1" / "run1" / "metrics.jsonl").open("a") as file:
        file.write(lines([61], "actor/entropy"))
    read = _note_what_is_read(monkeypatch)
    rltui("check", logs)
    assert read == ["group1/run1"]


def _sisters(folder: Path) -> Path:
    """Nine runs of which the fifth gains nothing."""
    for number in range(9):
        gain = 0.0 if number == 4 else 1.0
        rows = [
            {
                "step": step,
                "_timestamp": EARLY + 10 * number + step,
                "critic/score/mean": gain * step / 200 + 0.01 * ((number * 7 + step * 3) % 5),
                "actor/entropy": 1.0 + step / 500,
            }
            for step in range(200)
        ]
        write_rows(folder / f"seed{number}" / "metrics.jsonl", rows)
    return folder


def test_sister_runs_of_other_shards_count(tmp_path: Path) -> None:
    """Runs are compared with their sisters in whichever part they were judged: merged parts say the same."""
    logs = _sisters(tmp_path / "logs")
    whole = rltui("check", logs, "--json", "--no-cache")
    files = [
        write(
            tmp_path / f"{index}.json",
            rltui("check", logs, "--json", "--no-cache", "--shard", f"{index}/5").out,
        )
        for index in range(1, 6)
    ]
    assert "below-sisters" in whole.out
    assert rltui("merge", *files).out == whole.out


@pytest.mark.parametrize("words", [["--run", "seed4"], ["--shard", "1/3"]])
def test_what_a_part_says_of_sisters_is_not_remembered_of_all(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a `check` of some runs, which have fewer sisters there, one of all says what it would without."""
    logs = _sisters(tmp_path / "logs")
    _let_age(monkeypatch)
    for command in ("check", "runs"):
        whole = rltui(command, logs, "--json", "--no-cache")
        for more in ([], words, [], []):
            more = [] if command == "runs" and "--shard" in more else more
            done = rltui(command, logs, "--json", *more)
        assert done.out == whole.out
    with (logs / "seed4" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 200, "critic/score/mean": 0.01}\n')
    rltui("check", logs, *words)
    for _ in range(2):
        assert rltui("check", logs, "--json").out == rltui("check", logs, "--json", "--no-cache").out


def _refuse_to_plan(*_: object, **__: object) -> Plan:
    raise AssertionError("planned again")


def test_the_plan_of_an_unchanged_tree_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second `check` or `runs` searches and opens no log to find out what there is, and prints the same."""
    logs = _tree(tmp_path / "logs")
    with sqlite3.connect(logs / "project.db") as base:
        base.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp, run_name, step, metrics)")
        rows = [("2020-09-13T12:26:40", "first", step, f'{{"loss": {1 / step}}}') for step in range(1, 40)]
        base.executemany("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)", rows)
    for number in range(3):
        layout = {"loss_train": "loss", "": "loss"}
        for below, tag in layout.items():
            path = logs / "curves" / f"run{number}" / below / f"events.out.tfevents.{EARLY}.host.7.{number}"
            write(path, simple_file(30, (tag,)))
    _let_age(monkeypatch)
    first = (
        rltui("check", logs, "--json"),
        rltui("runs", logs, "--json"),
        rltui("check", logs, "--shard", "1/2"),
    )
    monkeypatch.setattr("rltui.many_runs.evaluate_shard.evaluate", _refuse)
    monkeypatch.setattr("rltui.cli.options.sharding.make_plan", _refuse_to_plan)
    again = (
        rltui("check", logs, "--json"),
        rltui("runs", logs, "--json"),
        rltui("check", logs, "--shard", "1/2"),
    )
    assert [each.out for each in again] == [each.out for each in first]
    assert {"curves/run0", "project/first"} <= {run["run"] for run in again[0].json()["runs"]}


@pytest.mark.parametrize(
    "what", ["a new run", "a run less", "an empty file that fills", "no log becomes one"]
)
def test_a_changed_tree_is_planned_again(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changes below LOGDIR after a `check`, the next one sees it as one without memory does."""
    logs = _tree(tmp_path / "logs")
    empty = write(logs / "late" / "metrics.jsonl", "")
    _let_age(monkeypatch)
    before = rltui("check", logs, "--json")
    text = lines(range(1, 40), "actor/entropy")
    if what == "a new run":
        write(logs / "group0" / "more" / "metrics.jsonl", text)
    elif what == "a run less":
        (logs / "group1" / "run1" / "metrics.jsonl").unlink()
    elif what == "an empty file that fills":
        empty.write_text(text)
    else:
        (logs / "odd.jsonl").write_text(text)
    after = rltui("check", logs, "--json")
    assert after.out == rltui("check", logs, "--json", "--no-cache").out != before.out


def test_verdicts_of_a_database_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tracker's runs are not read again until its database, or the WAL beside it, is written."""
    write(tmp_path / "logs" / "run" / "metrics.jsonl", lines(range(1, 40), "actor/entropy"))
    base = sqlite3.connect(tmp_path / "logs" / "project.db")
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp, run_name, step, metrics)")

    def log(step: int) -> None:
        row = ("2020-09-13T12:26:40", "first", step, f'{{"actor/entropy": {1 / step}}}')
        base.execute("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)", row)
        base.commit()

    for step in range(1, 30):
        log(step)
    # Each command is a process of its own, which finds no copy that rests.
    monkeypatch.setattr("rltui.logs.formats.trackers.sqlite_file._MIN_AGE", 0.0)
    _let_age(monkeypatch)
    rltui("check", tmp_path / "logs")
    read = _note_what_is_read(monkeypatch)
    rltui("check", tmp_path / "logs")
    assert not read
    log(30)
    found = {
        run["run"]: run["last_step"] for run in rltui("check", tmp_path / "logs", "--json").json()["runs"]
    }
    base.close()
    assert read == ["project/first"] and found["project/first"] == 30
