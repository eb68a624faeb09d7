"""Logs as they are left in the field: checkpoints alone, Windows consoles, prefixes, partial copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rltui.logs.run_names import shown_name
from tests.support.logs.live_logs import Live, append, delivered_once, write, write_rows

STEPS = range(1, 11)


def _state(last: int) -> str:
    history = [{"step": step, "loss": 1 / (step + 1.3), "reward": step / 10.7} for step in range(1, last + 1)]
    return json.dumps({"global_step": last, "max_steps": 20, "log_history": history})


def test_a_run_is_read_from_its_newest_checkpoint(tmp_path: Path) -> None:
    """Each checkpoint has all of the history so far; the next one takes the place of the last."""
    write(tmp_path / "out/README.md", "x")
    for last in (3, 5):
        write(tmp_path / f"out/checkpoint-{last}/trainer_state.json", _state(last))
    live = Live(tmp_path)
    live.poll()
    assert live.delivered.runs() == {"out": ["out/checkpoint-5/trainer_state.json"]}
    write(tmp_path / "out/checkpoint-10/trainer_state.json", _state(10))
    live.after(10)
    assert len(live.delivered.points["out/checkpoint-10/trainer_state.json"]) == 20
    assert live.delivered.sources["out/checkpoint-5/trainer_state.json"].duplicate_of == "out"
    assert set(live.delivered.runs()) == {"out"}


def test_an_empty_checkpoint_hides_no_older_one(tmp_path: Path) -> None:
    """A full disk leaves the newest history empty; the one before it has all of the run until then."""
    write(tmp_path / "out/checkpoint-5/trainer_state.json", _state(5))
    write(tmp_path / "out/checkpoint-10/trainer_state.json", "")
    assert delivered_once([tmp_path]).runs() == {"out": ["out/checkpoint-5/trainer_state.json"]}


def test_checkpoints_of_a_run_with_a_log_are_left_alone(tmp_path: Path) -> None:
    """The log of the run says the same, and more."""
    write(tmp_path / "out/checkpoint-5/trainer_state.json", _state(5))
    write(tmp_path / "out/trainer_state.json", _state(7))
    assert delivered_once([tmp_path]).runs() == {"out": ["out/trainer_state.json"]}


CONSOLE = "\r\n".join(f"step:{step} - actor/entropy:0.5 - critic/score/mean:{step / 50}" for step in STEPS)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("before", ["", "loading\r\n" * 1000], ids=["at once", "far from the beginning"])
def test_a_console_in_utf_16(tmp_path: Path, encoding: str, before: str) -> None:
    """PowerShell's `>` writes it so; it is read like any other, live, too, whatever is cut."""
    data = ("\ufeff" + before + CONSOLE + "\r\n").encode(encoding)
    log = write(tmp_path / "run.log", data[:-101])
    live = Live(tmp_path)
    live.poll()
    append(log, data[-101:])
    live.after(5)
    found = live.delivered.points["run.log"]
    assert [row for row in found if row[0] == "critic/score/mean"] == [
        ("critic/score/mean", step, step / 50) for step in STEPS
    ]


@pytest.mark.parametrize(
    "line",
    [
        "12:00 | INFO | trainer:44 - {{'loss': {1}, 'train/global_step': {0}}}\n",
        'INFO trainer: {{"step": {0}, "loss": {1}, "phase": "train"}}\n',
        "[INFO] callbacks:143 >> {{'step': {0}, 'loss': '{1}'}}\n",
    ],
)
def test_dictionaries_that_name_their_step(tmp_path: Path, line: str) -> None:
    """Whatever a logger writes before them; values are those written."""
    text = "starting\n{'config': 1}\n" + "".join(line.format(step, step / 4) for step in STEPS)
    write(tmp_path / "a/run.log", text)
    delivered = delivered_once([tmp_path])
    assert delivered.runs() == {"a/run": ["a/run.log"]}
    assert delivered.points["a/run.log"] == [("loss", step, step / 4) for step in STEPS]


def test_lines_of_a_server_are_no_metrics(tmp_path: Path) -> None:
    """Objects in lines that name no step, or nothing but one, make no run."""
    write(
        tmp_path / "server.log",
        'INFO "POST" {"id": 7, "latency": 0.5}\nINFO {"step": 3, "state": "x"}\n' * 50,
    )
    assert delivered_once([tmp_path]).runs() == {}


def test_a_table_named_training_log(tmp_path: Path) -> None:
    """Keras' CSVLogger in the words of its documentation; a text that begins with a comma is none."""
    write(
        tmp_path / "a/training.log",
        "epoch,accuracy,loss\n" + "".join(f"{step},0.5,{step}\n" for step in STEPS),
    )
    write(tmp_path / "b/training.log", "epoch, then step\nhello, world\n")
    delivered = delivered_once([tmp_path])
    assert delivered.runs() == {"a/training": ["a/training.log"]}
    assert len(delivered.points["a/training.log"]) == 20


def test_scores_of_dreamer_repeat_its_metrics(tmp_path: Path) -> None:
    """One run; scores that say something else are one of their own."""
    for run, factor in (("same", 1), ("other", 3)):
        rows = [{"step": step * 1000, "episode/score": step * 1.37, "loss": 9.5 / step} for step in STEPS]
        scores = [{"step": row["step"], "episode/score": row["episode/score"] * factor} for row in rows]
        write_rows(tmp_path / run / "metrics.jsonl", rows)
        write_rows(tmp_path / run / "scores.jsonl", scores)
    delivered = delivered_once([tmp_path])
    assert set(delivered.runs()) == {"same", "other", "other/scores"}
    assert delivered.sources["same/scores.jsonl"].duplicate_of == "same"


def test_the_monitor_of_the_only_worker_belongs_to_the_run_of_its_folder(tmp_path: Path) -> None:
    """Where another log says that the folder is a run; alone it keeps its name."""
    monitor = '#{"t_start": 1763600000.0, "env_id": "Pong"}\nr,l,t\n5.0,5,1.0\n6.0,6,2.0\n'
    write(tmp_path / "a/0.monitor.csv", monitor)
    write(tmp_path / "a/progress.csv", "time/total_timesteps,loss\n5,0.5\n11,0.25\n")
    write(tmp_path / "b/0.monitor.csv", monitor)
    assert set(delivered_once([tmp_path]).runs()) == {"a", "b/0.monitor"}


def test_event_files_in_a_hidden_folder_of_their_trainer(tmp_path: Path) -> None:
    """Sample-Factory writes `.summary/<policy>`; other hidden folders stay closed."""
    logs = Path(__file__).parents[1] / "logs"
    events = next(path for path in sorted(logs.rglob("*tfevents*")) if path.is_file())
    for folder in ("doom/.summary/0", "doom/.git/0", ".trash/0"):
        write(tmp_path / folder / "events.out.tfevents.1700000000.node.1.0", events.read_bytes())
    assert set(delivered_once([tmp_path]).runs()) == {"doom/.summary/0"}


@pytest.mark.parametrize(
    ("run", "logdirs", "shown"),
    [
        (".", ["/data/exp7"], "exp7"),
        (".", ["/data/exp7/logs"], "exp7/logs"),
        (".", ["/logs"], "logs"),
        ("a/logs", ["/data/exp7"], "a/logs"),
        ("summaries", ["/data/exp7"], "exp7/summaries"),
        (".summary/0", ["/data/exp7"], "exp7/.summary/0"),
        ("summaries", ["/data/exp7", "/data/exp8"], "summaries"),
        (".", ["/data/exp7", "/data/exp8"], "."),
    ],
)
def test_a_run_in_logdir_itself_is_shown_by_its_folder(run: str, logdirs: list[str], shown: str) -> None:
    """With the folder above if its name is one that every run has."""
    assert shown_name(run, logdirs) == shown


def test_what_a_robot_or_one_episode_did_is_no_run(tmp_path: Path) -> None:
    """A name that only says "log" needs a column that is named after a metric, if there are no steps."""
    for name, header in {
        "drive_live_log.csv": "clock_s,speed,yaw_rate",
        "best_trajectory.csv": "step,energy,reward",
        "agent_log.csv": "mean_return,epsilon",
    }.items():
        row = ",".join(["{0}.5"] * (header.count(",") + 1)).replace("{0}.5", "{0}", "step" in header)
        write(tmp_path / name, header + "\n" + "".join(f"{row}\n".format(at) for at in range(1, 9)))
    assert list(delivered_once([tmp_path]).runs()) == ["agent_log"]
