"""`rltui wait`: what ends it, its exit codes and its document."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from rltui.cli.follow.wait_conditions import ConditionError, parse_condition
from rltui.cli.follow.waiting import wait
from rltui.config import Config
from tests.support.commands.child_process import running
from tests.support.commands.in_process import rltui
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import Live
from tests.support.runs.checked_runs import SICK, WELL, environment, write


@pytest.mark.parametrize(
    ("until", "code", "outcome"),
    [
        ("step>=80", 0, "reached"),
        ("step>79", 0, "reached"),
        ("end", 0, "reached"),
        ("metric actor/kl_loss>10", 0, "reached"),
        ("metric critic/score/mean >= 0.65", 0, "reached"),
        ("finding>=critical", 1, "finding"),
        ("step>=81", 4, "timed-out"),
        ("metric actor/kl_loss<0.01", 4, "timed-out"),
        ("metric no/such>0", 4, "timed-out"),
        ("stalled", 4, "timed-out"),
    ],
)
def test_each_condition_ends_the_wait(tmp_path: Path, until: str, code: int, outcome: str) -> None:
    """0 reached, 1 a finding, 4 timed out; the document names the condition and what was met."""
    write(tmp_path / "logs" / "a", SICK)
    timeout = 1.5 if code == 4 else 30  # only the former is waited for to its end
    done = rltui("wait", tmp_path / "logs", "--until", until, "--timeout", timeout, "--json")
    data = done.json()
    assert (done.code, data["exit_code"], data["outcome"]) == (code, code, outcome)
    assert data["condition"] == (None if code == 4 else until)
    assert [run["last_step"] for run in data["runs"]] == [80]
    assert (data["finding"] is not None) == (code == 1)


def test_the_finding_is_that_of_check(tmp_path: Path) -> None:
    """The same fields as in `check --json`, with the keys of the run to look at next."""
    log = write(tmp_path / "logs" / "a", SICK)
    (path,) = [log] if log.is_file() else log.iterdir()
    path.write_text(path.read_text().replace('"actor/kl_loss"', '"actor/lr": 1e-6, "actor/kl_loss"'))
    waited = rltui(
        "wait", tmp_path / "logs", "--until", "finding>=critical", "--timeout", 30, "--json"
    ).json()
    (run,) = rltui("check", tmp_path / "logs", "--json").json()["runs"]
    (checked,) = [one for one in run["findings"] if one["id"] == waited["finding"]["id"]]
    assert waited["finding"] == checked and checked["look_next"]


def test_a_metric_is_named_by_its_canonical_id(tmp_path: Path) -> None:
    """`metric reward.mean>...` takes the tag that means it in this run."""
    write(tmp_path / "logs" / "a", WELL)
    data = rltui(
        "wait", tmp_path / "logs", "--until", "metric policy.kl_loss>0.01", "--timeout", 30, "--json"
    ).json()
    assert data["outcome"] == "reached" and data["value"] == 0.05 and data["step"] == 80


def test_a_metric_that_no_run_has_is_told_at_once_and_at_the_end(tmp_path: Path) -> None:
    """Who waits for a name that nobody logs is told so, with the nearest names that are logged."""
    write(tmp_path / "logs" / "a", WELL)
    done = rltui("wait", tmp_path / "logs", "--until", "metric policy.kl_los>1", "--timeout", 2)
    assert done.code == 4 and done.err.startswith("rltui: no run has a metric 'policy.kl_los'")
    assert "nearest: actor/kl_loss" in done.err and "nearest: actor/kl_loss" in done.out
    assert "did not hold within 2 s" in done.out


@pytest.mark.parametrize("name", ["reward", "score", "KL loss", "policy.kl_loss"])
def test_a_metric_is_named_as_people_say_it(tmp_path: Path, name: str) -> None:
    """The end of a tag, a title, the beginning of an id: what list and charts of runs take, too."""
    write(tmp_path / "logs" / "a", WELL)
    done = rltui("wait", tmp_path / "logs", "--until", f"metric {name}>-100", "--timeout", 2)
    assert done.code == 0, done.err
    assert rltui("snapshot", tmp_path / "logs", "--chart", name, "--height", 5).code == 0


def test_a_stall_ends_it_with_three(tmp_path: Path) -> None:
    """Exit code 3 for a run that is silent although it should be live."""
    write(tmp_path / "logs" / "a", WELL, ago=1800, gap=10)
    done = rltui("wait", tmp_path / "logs", "--until", "end", "--until", "stalled", "--timeout", 30)
    assert done.code == 3 and done.out.splitlines()[-1].startswith("stalled: a has stalled")


def test_a_program_that_failed_ends_it_as_a_stall_does(tmp_path: Path) -> None:
    """A traceback at the end of the console is known before any silence is long; its line is named once."""
    write(tmp_path / "logs" / "a", WELL, ago=120, gap=100)
    console = tmp_path / "logs" / "a" / "console.log"
    console.write_text('Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no\n')
    os.utime(console, (time.time() - 100, time.time() - 100))
    done = rltui("wait", tmp_path / "logs", "--until", "stalled", "--timeout", 30)
    assert done.code == 3 and done.out.splitlines()[-1] == "stalled: a has ended by a failure"
    assert "(line 1 of a/console.log), since step 80" in done.out


def test_the_end_waits_for_all_runs(tmp_path: Path) -> None:
    """`end` holds when all runs have ended; --run picks those that count."""
    write(tmp_path / "logs" / "old", WELL)
    write(tmp_path / "logs" / "new", WELL, ago=1)
    assert rltui("wait", tmp_path / "logs", "--until", "end", "--timeout", 1.5).code == 4
    assert rltui("wait", tmp_path / "logs", "--until", "end", "--timeout", 30, "--run", "old").code == 0


def test_without_conditions_whatever_needs_a_look_ends_it(tmp_path: Path) -> None:
    """The default: the end, a critical finding, a stall, in this order."""
    write(tmp_path / "logs" / "a", SICK, ago=1)
    done = rltui("wait", tmp_path / "logs", "--timeout", 5)
    assert done.code == 1 and "✖ a:" in done.out and done.out.splitlines()[-1].startswith("finding: a: ")


@pytest.mark.parametrize(
    "text", ["step", "step>=many", "finding>=bad", "finding<critical", "reward.mean>0.6", "", ">=3"]
)
def test_what_is_no_condition_is_said(text: str) -> None:
    """One line and exit code 2."""
    with pytest.raises(ConditionError):
        parse_condition(text)
    done = rltui("wait", ".", "--until", text)
    assert done.code == 2 and done.err.count("\n") == 1 and not done.out


def test_points_that_come_later_end_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing holds at first; a point that is written later is what was waited for."""
    logs = tmp_path / "logs"
    run = write(logs / "a", WELL, ago=1)
    live = Live(logs)

    def deliveries():
        yield live.poll()
        yield []
        with (run / "metrics.jsonl").open("a") as file:
            file.write(
                json.dumps({"step": 81, "data": {"actor/kl_loss": 0.05}, "timestamp": time.time()}) + "\n"
            )
        yield live.after(2.0)
        raise AssertionError("went on after the condition held")

    outcome = wait([str(logs)], Config(), [parse_condition("step>=81")], deliveries=deliveries())
    assert (outcome["outcome"], outcome["step"], outcome["run"]) == ("reached", 81, "a")
    assert capsys.readouterr().out.count("\n") == 1  # the run, once


def test_a_folder_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    """A LOGDIR that does not exist yet: said on standard error, then read."""
    with running(
        "wait", "logs", "--until", "step>=80", "--timeout", "30", cwd=tmp_path, env=environment(tmp_path)
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        assert "waiting for it" in process.stderr.readline()
        write(tmp_path / "logs" / "a", WELL)
        assert process.wait(20) == 0
        assert process.stdout.read().splitlines()[-1] == "reached: a is at step 80"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it(tmp_path: Path, number: int, code: int) -> None:
    """130 and 143, no traceback."""
    write(tmp_path / "logs" / "a", WELL, ago=1)
    with running("wait", "logs", "--until", "step>=999", cwd=tmp_path, env=environment(tmp_path)) as process:
        assert process.stdout is not None and process.stderr is not None
        assert "a: " in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(10) == code
        assert process.stderr.read().strip() == ""


def test_a_folder_without_runs_times_out(tmp_path: Path) -> None:
    """4, and it says that no run was found; threads of the reader end with the wait."""
    before = threading.active_count()
    done = rltui("wait", tmp_path, "--timeout", 0.5)
    assert done.code == 4 and "no run was found" in done.out
    assert threading.active_count() <= before + 2


def test_a_run_is_judged_once_all_of_its_logs_are_read(tmp_path: Path) -> None:
    """A resumed run has several logs: nothing is said of the first one alone."""
    run = tmp_path / "logs" / "a"
    run.mkdir(parents=True)
    for part in range(4):
        last = time.time() - 3600 + 100 * part
        events = [
            tfwriter.event(step, tfwriter.simple("loss", 0.9**step), wall=last - 101 + step - 100 * part)
            for step in range(100 * part, 100 * part + 101)
        ]
        path = run / f"events.out.tfevents.{1763600000 + part}.host.1.0"
        path.write_bytes(tfwriter.version(last - 101) + b"".join(events))
    done = rltui("wait", tmp_path / "logs", "--until", "step>=401", "--timeout", 1.5)
    assert next(line for line in done.out.splitlines() if " step " in line).endswith(", step 400")
    early = rltui("wait", tmp_path / "logs", "--until", "step<=100", "--timeout", 1.5)
    assert early.code == 4, early.out


def test_a_timeout_while_logs_are_read_says_so(tmp_path: Path) -> None:
    """What did not hold in half of the logs may hold in all of them."""
    write(tmp_path / "logs" / "a", WELL, ago=1)
    until, logs = [parse_condition("step>=81")], [str(tmp_path / "logs")]
    outcome = wait(
        logs, Config(), until, timeout=0.0, events=False, deliveries=[Live(tmp_path / "logs").poll()]
    )
    assert outcome["exit_code"] == 4 and "not all logs had been read by then" in outcome["message"]


def test_that_nothing_can_follow_is_said_at_once(tmp_path: Path) -> None:
    """A run that is known to have ended as planned writes no more: one line says so, and the wait goes on."""
    run = write(tmp_path / "logs" / "a", WELL)
    waiting = ("wait", tmp_path / "logs", "--until", "step>=500", "--timeout", 2.5)
    assert "ended as planned" not in rltui(*waiting).err
    log = run / "metrics.jsonl"
    log.write_text(log.read_text() + json.dumps({"step": 80, "train_runtime": 160.0}) + "\n")
    done = rltui(*waiting)
    assert done.code == 4
    said = "a has ended as planned at step 80: step>=500 can hold for a new run only"
    assert done.err.strip() == f"rltui: {said}; waiting for one"
    assert done.out.splitlines()[-1] == f"timed-out: step>=500 did not hold within 2.5 s; {said}"


def test_a_run_is_told_with_the_failures_in_its_console(tmp_path: Path) -> None:
    """The document says of a run that a condition on its steps names what `check` says of it."""
    write(tmp_path / "logs" / "a", WELL)
    (tmp_path / "logs" / "a" / "slurm-7.out").write_text("torch.OutOfMemoryError: CUDA out of memory.\n")
    (run,) = rltui("wait", tmp_path / "logs", "--until", "step>=80", "--json").json()["runs"]
    (checked,) = rltui("check", tmp_path / "logs", "--json").json()["runs"]
    assert run["health"] == checked["health"] != "ok"
