"""Databases, inboxes and folders of trackers: made here with sqlite3, read live, never touched."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import Batch, Text
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import read_all
from rltui.logs.formats.container import shared_resources
from rltui.logs.formats.trackers import sqlite_file
from rltui.rules.run_status.log_file_problems import log_file_problems
from rltui.store.run import Run
from rltui.store.store import Store
from tests.fuzz import tracker_parts
from tests.support.logs.live_logs import write_rows
from tests.support.runs.evaluators import liveness_of

Rows = dict[str, list[tuple[int, float]]]


@pytest.fixture
def copied_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Live databases are copied at every look, however long that takes on a busy machine."""
    monkeypatch.setattr(sqlite_file, "_MIN_AGE", 0.0)


def _trackio(path: Path, wal: bool = True) -> sqlite3.Connection:
    base = sqlite3.connect(path, isolation_level=None)
    if wal:
        base.execute("PRAGMA journal_mode=WAL")
    base.execute(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT,"
        " run_name TEXT, step INTEGER, metrics TEXT, log_id TEXT)"
    )
    base.execute(
        "CREATE TABLE system_metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT,"
        " run_name TEXT, metrics TEXT)"
    )
    base.execute("CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, config TEXT)")
    return base


def _log(base: sqlite3.Connection, step: int, values: dict[str, object], run: str = "a") -> None:
    base.execute(
        "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)",
        (f"{run * 32}", f"2026-11-22T02:00:{step:02}+00:00", f"grpo-{run}", step, json.dumps(values)),
    )


def _mlflow(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("CREATE TABLE experiments (experiment_id INTEGER, name TEXT)")
    base.execute(
        "CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, lifecycle_stage TEXT,"
        " experiment_id INTEGER)"
    )
    base.execute("CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT)")
    base.execute(
        "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step INT, is_nan INT)"
    )
    base.execute("INSERT INTO experiments VALUES (1, 'tiny')")
    return base


def _read(logdir: Path) -> tuple[dict[str, Rows], dict[str, list[Text]]]:
    runs: dict[str, Rows] = {}
    texts: dict[str, list[Text]] = {}
    for delivery in read_all([logdir]):
        run = delivery.source.run
        texts.setdefault(run, []).extend(delivery.batch.texts)
        _add(runs.setdefault(run, {}), delivery.batch)
    return runs, texts


def _add(rows: Rows, batch: Batch) -> None:
    for tag, step, value in zip(batch.tag.tolist(), batch.step.tolist(), batch.value.tolist(), strict=True):
        rows.setdefault(batch.tags[tag], []).append((step, value))


def _listing(folder: Path) -> list[tuple[str, int, int]]:
    return sorted(
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
    )


def _followed(logdir: Path) -> tuple[Store, Callable[[], None]]:
    """A store, and what follows the logs for forty seconds of a clock of its own."""
    clock = [0.0]
    follower = Follower([logdir], poll=1.0, clock=lambda: clock[0])
    store = Store()

    def look() -> None:
        for _ in range(8):
            clock[0] += 5.0
            for delivery in follower.poll(clock[0]):
                store.apply(delivery)

    return store, look


def test_nothing_is_created_or_changed_beside_a_closed_database(tmp_path: Path) -> None:
    """A closed WAL database is read, and its folder is what it was, even if it cannot be written to."""
    base = _trackio(tmp_path / "p.db")
    _log(base, 1, {"loss": 0.5})
    base.close()
    before = _listing(tmp_path)
    runs, _ = _read(tmp_path)
    assert runs == {"p/grpo-a": {"loss": [(1, 0.5)]}}
    assert _listing(tmp_path) == before == [("p.db", before[0][1], before[0][2])]


def test_nothing_is_created_or_changed_beside_a_live_database(tmp_path: Path) -> None:
    """What only the WAL holds is read while the writer has the database open, and the folder stays."""
    base = _trackio(tmp_path / "p.db")
    _log(base, 1, {"loss": 0.5})
    _log(base, 2, {"loss": 0.25})
    before = _listing(tmp_path)
    runs, _ = _read(tmp_path)
    assert runs == {"p/grpo-a": {"loss": [(1, 0.5), (2, 0.25)]}}
    assert _listing(tmp_path) == before
    assert [name for name, _, _ in before] == ["p.db", "p.db-shm", "p.db-wal"]
    base.close()


@pytest.mark.usefixtures("copied_at_once")
def test_a_live_database_is_followed(tmp_path: Path) -> None:
    """New rows come once, in order; a run that begins later is found."""
    base = _trackio(tmp_path / "p.db")
    _log(base, 1, {"loss": 0.5})
    clock = [0.0]
    follower = Follower([tmp_path], poll=1.0, clock=lambda: clock[0])
    found: dict[str, Rows] = {}

    def look() -> None:
        for _ in range(8):
            clock[0] += 5.0
            for delivery in follower.poll(clock[0]):
                _add(found.setdefault(delivery.source.run, {}), delivery.batch)

    look()
    assert found == {"p/grpo-a": {"loss": [(1, 0.5)]}}
    _log(base, 2, {"loss": 0.25})
    _log(base, 1, {"loss": 9.0}, run="b")
    look()
    assert found == {"p/grpo-a": {"loss": [(1, 0.5), (2, 0.25)]}, "p/grpo-b": {"loss": [(1, 9.0)]}}
    base.close()


@pytest.mark.parametrize("wal", [True, False])
@pytest.mark.usefixtures("copied_at_once")
def test_runs_of_one_database_share_a_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wal: bool
) -> None:
    """A look at many runs of a database opens it once or twice, closes it, and sees each run's new rows."""
    base = _trackio(tmp_path / "p.db", wal)
    for run in "abcdefgh":
        _log(base, 1, {"loss": 0.5}, run)
    clock = [0.0]
    follower = Follower([tmp_path], poll=1.0, clock=lambda: clock[0])
    while not follower.caught_up and clock[0] < 999.0:
        clock[0] += 5.0
        list(follower.poll(clock[0]))
    for run in "abcdefgh":
        _log(base, 2, {"loss": 0.25}, run)
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*words: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*words, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    found: dict[str, Rows] = {}
    while len(found) < 8 and clock[0] < 999.0:  # a look has a time limit: a busy machine needs several
        clock[0] += 5.0
        opened.clear()
        for delivery in follower.poll(clock[0]):
            if len(delivery.batch):
                _add(found.setdefault(delivery.source.run, {}), delivery.batch)
        assert len(opened) <= 2  # the search lists its runs before they are read
        for connection in opened:
            with pytest.raises(sqlite3.ProgrammingError, match="closed"):
                connection.execute("SELECT 1")
    assert [found[f"p/grpo-{run}"] for run in "abcdefgh"] == [{"loss": [(2, 0.25)]}] * 8
    base.close()


def _rows(base: sqlite3.Connection) -> object:
    return base.execute("SELECT count(*) FROM metrics").fetchone()[0]


def test_a_database_that_is_written_during_a_look_is_opened_again(tmp_path: Path) -> None:
    """Within one look, what is read of a database after a write is what was written."""
    base = _trackio(tmp_path / "p.db", wal=False)
    seen = []
    with shared_resources():
        for step in range(1, 4):
            _log(base, step, {"loss": 0.5})
            seen.append(
                sqlite_file.read_database(
                    str(tmp_path / "p.db"),
                    lambda now: now.execute("SELECT count(*) FROM metrics").fetchone()[0],
                )
            )
    base.close()
    assert seen == [1, 2, 3]


def test_a_database_that_takes_long_to_copy_is_copied_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the time is up its stamp is that of the copy, so that what came since is not taken for read."""
    now = [0.0]
    monkeypatch.setattr(sqlite_file.time, "monotonic", lambda: now[0])
    copied = []
    copy_file = shutil.copyfile

    def slowly(source: str, target: str) -> None:
        now[0] += 1.0
        copied.append(source)
        copy_file(source, target)

    monkeypatch.setattr(shutil, "copyfile", slowly)
    base = _trackio(tmp_path / "p.db")
    place = str(tmp_path / "p.db")

    def count() -> int | None:
        return sqlite_file.read_database(
            place, lambda db: int(db.execute("SELECT count(*) FROM metrics").fetchone()[0])
        )

    _log(base, 1, {"loss": 1})
    assert count() == 1
    stamp = sqlite_file.readable_stamp(place)
    _log(base, 2, {"loss": 1})
    now[0] += 39.0
    assert (count(), sqlite_file.readable_stamp(place), len(copied)) == (1, stamp, 2)
    now[0] += 2.0
    assert sqlite_file.readable_stamp(place) != stamp
    assert (count(), len(copied)) == (2, 4)
    base.close()


def test_trackio_values_are_what_they_were_before_they_became_text(tmp_path: Path) -> None:
    """Names of NaN and infinities, nested values, media, other texts, hardware metrics, configs."""
    base = _trackio(tmp_path / "p.db")
    _log(base, 3, {"a": "NaN", "b": "-Infinity", "val": {"acc": 1}, "c": "0.5", "t": {"_type": "x", "n": 1}})
    base.execute(
        "INSERT INTO system_metrics (run_id, timestamp, run_name, metrics) VALUES (?, ?, ?, ?)",
        ("a" * 32, "2026-11-22T02:00:09+00:00", "grpo-a", json.dumps({"gpu": {"0": {"power": 540}}})),
    )
    config = json.dumps({"lr": 1e-6, "_Created": "x"})
    base.execute("INSERT INTO configs (run_id, run_name, config) VALUES (?, ?, ?)", ("a" * 32, "g", config))
    base.close()
    runs, texts = _read(tmp_path)
    rows = runs["p/grpo-a"]
    assert math.isnan(rows.pop("a")[0][1])
    assert rows == {"b": [(3, -math.inf)], "val/acc": [(3, 1.0)], "system/gpu/0/power": [(3, 540.0)]}
    assert [json.loads(text.body) for text in texts["p/grpo-a"]] == [{"lr": 1e-6}]


def test_runs_of_one_name_stay_apart(tmp_path: Path) -> None:
    """A later run of the same name goes by its id, too."""
    base = _mlflow(tmp_path / "mlflow.db")
    for key in ("1" * 32, "2" * 32):
        base.execute("INSERT INTO runs VALUES (?, 'ppo', 'RUNNING', ?, 'active', 1)", (key, int(key[0])))
        base.execute("INSERT INTO metrics VALUES ('loss', ?, 1000, ?, 1, 0)", (float(key[0]), key))
    base.close()
    runs, _ = _read(tmp_path)
    assert runs == {"tiny/ppo": {"loss": [(1, 1.0)]}, "tiny/ppo-22222222": {"loss": [(1, 2.0)]}}


def test_mlflow_databases_tell_what_is_not_finite_and_how_runs_ended(tmp_path: Path) -> None:
    """NaN, both infinities, params, the status; a deleted run is hidden."""
    base = _mlflow(tmp_path / "mlflow.db")
    base.execute("INSERT INTO runs VALUES ('k1', 'ppo', 'KILLED', 1, 'active', 1)")
    base.execute("INSERT INTO runs VALUES ('k2', 'gone', 'FINISHED', 1, 'deleted', 1)")
    base.execute("INSERT INTO params VALUES ('lr', '1e-06', 'k1')")
    huge = 1.7976931348623157e308
    for step, (value, nan) in enumerate([(0.0, 1), (huge, 0), (-huge, 0), (0.5, 0)]):
        base.execute("INSERT INTO metrics VALUES ('loss', ?, 2000, 'k1', ?, ?)", (value, step, nan))
    base.execute("INSERT INTO metrics VALUES ('loss', 1, 2000, 'k2', 1, 0)")
    base.close()
    runs, texts = _read(tmp_path)
    assert list(runs) == ["tiny/ppo"]
    values = [value for _, value in runs["tiny/ppo"]["loss"]]
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf, 0.5]
    assert [(text.kind, text.body) for text in texts["tiny/ppo"]] == [
        ("hparams", '{"lr": "1e-06"}'),
        ("exit-code", "137"),
    ]


def test_a_database_is_not_read_while_a_transaction_is_under_way(tmp_path: Path) -> None:
    """A hot rollback journal: nothing is read, nothing is written; afterwards all of it is read."""
    base = _mlflow(tmp_path / "mlflow.db")
    base.execute("PRAGMA cache_size = 1")
    base.execute("PRAGMA cache_spill = 1")
    base.execute("INSERT INTO runs VALUES ('k1', 'ppo', 'RUNNING', 1, 'active', 1)")
    base.execute("BEGIN")
    for step in range(20000):
        base.execute("INSERT INTO metrics VALUES ('loss', 1, 2000, 'k1', ?, 0)", (step,))
    assert (tmp_path / "mlflow.db-journal").exists()
    assert sqlite_file.read_database(str(tmp_path / "mlflow.db"), lambda base: True) is None
    base.execute("COMMIT")
    base.close()
    assert len(_read(tmp_path)[0]["tiny/ppo"]["loss"]) == 20000


def test_other_databases_are_no_logs(tmp_path: Path) -> None:
    """A database of something else, and a file that only has such a name."""
    base = sqlite3.connect(tmp_path / "other.db")
    base.execute("CREATE TABLE trials (a)")
    base.commit()
    base.close()
    (tmp_path / "x.db").write_bytes(b"what")
    assert _read(tmp_path)[0] == {}


def test_a_damaged_database_is_a_problem_of_one_line(tmp_path: Path) -> None:
    """The header of a database and garbage behind it."""
    (tmp_path / "p.db").write_bytes(b"SQLite format 3\0" + os.urandom(3000))
    problems = [problem for delivery in read_all([tmp_path]) for problem in delivery.batch.problems]
    assert [(problem.code, problem.path) for problem in problems] == [("unreadable", "p.db")]
    assert "\n" not in problems[0].message


def test_an_inbox_is_the_run_that_the_database_will_have(tmp_path: Path) -> None:
    """Two runs of one writer; alerts are passed over; a file that is deleted leaves what was read."""
    folder = tmp_path / "inbox" / "0123456789abcdef"
    folder.mkdir(parents=True)

    def line(run: str, step: int, **more: object) -> str:
        values = {"kind": "metric", "metrics": {"loss": step / 2}, "timestamp": "2026-11-22T02:00:00+00:00"}
        return json.dumps(
            {"v": 1, "project": "p", "run": run, "run_id": f"id-{run}", "step": step, **values, **more}
        )

    (folder / "00000000.jsonl").write_text(
        "\n".join([line("a", 1), line("b", 7), line("a", 2, kind="alert"), line("a", 2)]) + "\n"
    )
    store, look = _followed(tmp_path)
    look()
    assert sorted(store.runs) == ["p/a", "p/b"]
    (folder / "00000000.jsonl").unlink()
    look()
    assert store.runs["p/a"].series["loss"].recent(9).value.tolist() == [0.5, 1.0]


@pytest.mark.usefixtures("copied_at_once")
@pytest.mark.parametrize("overlap", [False, True])
def test_an_inbox_that_is_imported_is_not_counted_twice(tmp_path: Path, overlap: bool) -> None:
    """The rows are in the database when the file is deleted; both may be there for a moment."""
    folder = tmp_path / "inbox" / "0123456789abcdef"
    values = {step: {"loss": 1 / (step + 3), "kl": 0.01 * step + 0.0033} for step in range(1, 21)}
    record = {"v": 1, "kind": "metric", "project": "p", "run": "grpo-a", "run_id": "a" * 32}
    rows = ({**record, "step": step, "metrics": values[step]} for step in values)
    write_rows(folder / "00000000.jsonl", rows)
    store, look = _followed(tmp_path)
    look()
    base = _trackio(tmp_path / "p.db")
    for step in values:
        _log(base, step, dict(values[step]))
    if overlap:
        look()
    (folder / "00000000.jsonl").unlink()
    look()
    _log(base, 21, {"loss": 0.5})
    look()
    assert list(store.runs) == ["p/grpo-a"]
    assert store.runs["p/grpo-a"].series["loss"].recent(99).step.tolist() == list(range(1, 22))
    base.close()


def test_folders_of_mlflow_are_runs_unless_they_were_deleted(tmp_path: Path) -> None:
    """Metrics in folders, steps in order, params, name and status from meta.yaml."""
    for key, stage in (("a" * 32, "active"), ("b" * 32, "deleted")):
        folder = tmp_path / "mlruns" / "1" / key
        (folder / "metrics" / "val").mkdir(parents=True)
        (folder / "params").mkdir()
        (folder / "params" / "lr").write_text("0.1")
        (folder / "metrics" / "loss").write_text("1000 0.5 1\n2000 nan 2\n")
        (folder / "metrics" / "val" / "acc").write_text("1500 1 1\n")
        (folder / "meta.yaml").write_text(
            f"run_id: {key}\nrun_name: ppo\nlifecycle_stage: {stage}\nstatus: 4\n"
        )
    (tmp_path / "mlruns" / "1" / "meta.yaml").write_text("name: tiny\n")
    runs, texts = _read(tmp_path)
    assert list(runs) == ["mlruns/tiny/ppo-aaaaaaaa"]
    rows = runs["mlruns/tiny/ppo-aaaaaaaa"]
    assert rows["val/acc"] == [(1, 1.0)]
    assert rows["loss"][0] == (1, 0.5)
    assert math.isnan(rows["loss"][1][1])
    assert [text.body for text in texts["mlruns/tiny/ppo-aaaaaaaa"] if text.kind == "exit-code"] == ["1"]


def test_dvclive_is_one_run_whatever_number_of_metrics_it_has(tmp_path: Path) -> None:
    """A metric named `step` has no steps of its own and takes those of the others."""
    folder = tmp_path / "dvclive" / "plots" / "metrics"
    (folder / "time").mkdir(parents=True)
    (folder / "loss.tsv").write_text("step\tloss\n1\t0.5\n2\tinf\n")
    (folder / "time" / "step.tsv").write_text("step\n40\n41\n")
    runs, _ = _read(tmp_path)
    assert runs == {"dvclive": {"loss": [(1, 0.5), (2, math.inf)], "time/step": [(1, 40.0), (2, 41.0)]}}


def test_clearml_lines_are_arrays_of_events(tmp_path: Path) -> None:
    """Two flushes; an event without a value and a line that is no array do no harm."""
    events = [
        {
            "timestamp": 1000,
            "type": "training_stats_scalar",
            "iter": step,
            "metric": "m",
            "variant": "v/w",
            "value": step,
        }
        for step in (1, 2)
    ]
    plot = {"timestamp": 1, "type": "plot", "iter": 1, "metric": "p", "plot_str": "{}"}
    lines = [json.dumps([events[0], plot]), "oops", json.dumps(events[1:])]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "log.jsonl").write_text(json.dumps([{"timestamp": 1, "type": "log", "msg": "hello"}]) + "\n")
    runs, _ = _read(tmp_path)
    assert runs == {".": {"m/v/w": [(1, 1.0), (2, 2.0)]}}


@pytest.mark.parametrize(("status", "code"), [("FINISHED", 0), ("FAILED", 1), ("RUNNING", None)])
def test_the_end_that_a_tracker_notes_is_the_end_of_the_run(
    tmp_path: Path, status: str, code: int | None
) -> None:
    """Ended at once and for certain; a crash is said; a run that is resumed goes on."""
    base = _mlflow(tmp_path / "mlflow.db")
    base.execute("INSERT INTO runs VALUES ('k1', 'ppo', ?, 1, 'active', 1)", (status,))
    for step in range(20):
        wall = 1_700_000_000_000 + step
        base.execute("INSERT INTO metrics VALUES ('loss', 1, ?, 'k1', ?, 0)", (wall, step))
    base.close()
    store = Store()
    for delivery in read_all([tmp_path]):
        store.apply(delivery)
    run: Run = store.runs["tiny/ppo"]
    assert run.exit_code == code
    judged = liveness_of(run, 1_700_000_001.0)
    assert (judged.state, judged.known) == ("live" if code is None else "ended", True)
    crashes = [
        problem.message for problem in log_file_problems(run, 1_700_000_001.0) if problem.code == "crashed"
    ]
    assert crashes == (["crashed with exit code 1"] if code else [])


def test_alerts_of_trackio_are_said_once(tmp_path: Path) -> None:
    """What the training had trackio alert to is a diagnostic of its run, each alert once, cleaned."""
    base = sqlite3.connect(tmp_path / "project.db")
    base.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, timestamp, run_name, step, metrics)")
    base.execute("CREATE TABLE alerts (id INTEGER PRIMARY KEY, run_id, title, text, level, step)")
    row = ("r", "2026-11-22T03:41:43+00:00", "a", 1, '{"loss": 1.0}')
    base.execute(
        "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", row
    )
    alert = ("r", "entropy low\x1b[31m", "below 0.1", "warn", 30)
    base.execute("INSERT INTO alerts (run_id, title, text, level, step) VALUES (?, ?, ?, ?, ?)", alert)
    base.commit()
    base.close()
    problems = [problem for each in read_all([tmp_path]) for problem in each.batch.problems]
    assert [(one.level, one.code, one.message) for one in problems] == [
        ("warning", "tracker-alert", "alert at step 30: entropy low\\x1b[31m: below 0.1")
    ]


@pytest.mark.parametrize(
    ("step", "value"),
    [(2, "x"), ("x", 1.0), (2, b"\xff"), (1e300, 1.0)],
    ids=["text", "step", "bytes", "large"],
)
def test_a_row_that_holds_no_numbers_costs_itself(tmp_path: Path, step: object, value: object) -> None:
    """SQLite keeps any value in any column: one bad row of MLflow is skipped and said, the others count."""
    base = _mlflow(tmp_path / "mlflow.db")
    base.execute("INSERT INTO runs VALUES ('u', 'ppo', 'FINISHED', 1, 'active', 1)")
    for row in ((1, 0.5), (step, value), (3, 0.25)):
        base.execute("INSERT INTO metrics VALUES ('loss', ?, 1763600000000, 'u', ?, 0)", (row[1], row[0]))
    base.close()
    runs, _ = _read(tmp_path)
    assert runs == {"tiny/ppo": {"loss": [(1, 0.5), (3, 0.25)]}}
    (problem,) = [each for delivery in read_all([str(tmp_path)]) for each in delivery.batch.problems]
    assert problem.code == "bad-row" and problem.message.startswith("1 row skipped")


@given(st.integers(0, 1 << 40))
def test_any_cut_of_rows_and_folders_gives_the_same_points(number: int) -> None:
    """Damaged or not: rows read as they are written are those read at once, for each tracker."""
    tracker_parts.attempt_rows(random.Random(number))
    tracker_parts.attempt_folder(random.Random(number))


def test_a_damaged_database_does_not_give_rows_for_ever() -> None:
    """Rows whose numbers do not rise are damage, not news."""
    tracker_parts.attempt_bytes(random.Random(499))
