"""`rltui check` as scripts call it: exit codes, JSON, several folders, limits, signals, alerts."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.child_process import running
from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import MILD, SICK, WELL, environment, write


def test_one_when_something_is_wrong(tmp_path: Path) -> None:
    """Exit code 1: a finding at or above --fail-on, in any of several folders."""
    write(tmp_path / "logs" / "a", WELL)
    write(tmp_path / "more" / "b", MILD)
    assert rltui("check", "logs", "more").code == 0
    done = rltui("check", "logs", "more", "--fail-on", "warning")
    assert done.code == 1 and "▲ more/b" in done.out and "✓ logs/a" in done.out
    write(tmp_path / "third" / "c", SICK)
    assert rltui("check", "logs", "third").code == 1
    assert rltui("check", "logs", "third", "--run", "*/a").code == 0


def test_two_when_nothing_can_be_read(tmp_path: Path) -> None:
    """Exit code 2: an empty folder, a missing one, an unknown option; one line on standard error."""
    (tmp_path / "empty").mkdir()
    for words in (["empty"], ["missing"], ["empty", "--nonsense"], ["missing", "--follow"]):
        done = rltui("check", *words)
        assert done.code == 2 and done.out == ""
        assert done.err.startswith("rltui: ") and done.err.count("\n") == 1


def test_three_when_a_run_has_stalled(tmp_path: Path) -> None:
    """Exit code 3: no finding, but a run that should be live is silent; a finding weighs more."""
    write(tmp_path / "logs" / "a", WELL, ago=1800, gap=10)
    done = rltui("check", "logs")
    assert done.code == 3 and "stalled" in done.out
    assert rltui("check", "logs", "--fail-on", "never").code == 0
    assert rltui("check", "logs", "--at-step", "40").code == 0
    write(tmp_path / "logs" / "b", SICK)
    assert rltui("check", "logs").code == 1


@pytest.mark.parametrize(
    ("days", "planned", "code", "told"), [(3, 2.0, 3, True), (3, 1.01, 0, False), (9, 2.0, 0, True)]
)
def test_three_when_a_run_ended_early(
    tmp_path: Path, days: int, planned: float, code: int, told: bool
) -> None:
    """Exit code 3 for a week where settings beside the log plan more steps; without a plan it may be over."""
    write(tmp_path / "died" / "a", WELL, ago=days * 86400, gap=10)
    assert rltui("check", "died").code == 0
    plan = tmp_path / "died" / "a" / "config.yaml"
    plan.write_text(f"trainer:\n  total_training_steps: {int(len(WELL) * planned)}\n", "utf-8")
    done = rltui("check", "died", "--no-cache")
    assert (done.code, "run-ended-early" in done.out) == (code, told)


PROMISED = {
    "run": str, "framework": str, "state": str, "last_step": int, "last_wall_time": float, "points": int,
    "health": str, "findings": list,
}  # fmt: skip
FINDING: dict[str, Any] = {
    "id": str, "severity": str, "pane": str, "metrics": list, "canonical": list, "since_step": int,
    "value": float, "limit": float, "message": str, "advice": str, "check_next": list,
}  # fmt: skip


SPELLED = (None, "NaN", "Infinity", "-Infinity")  # JSON has no such numbers


def test_json_keeps_its_promise(tmp_path: Path) -> None:
    """Every promised field with its type; ASCII, one document, strict JSON."""
    write(tmp_path / "lögs" / "a", [*SICK[:-1], float("nan"), 20.0])
    write(tmp_path / "lögs" / "b", WELL)
    done = rltui("check", "lögs", "--json")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    data = json.loads(done.out, parse_constant=refuse)
    assert done.code == 1 and done.out.isascii() and done.out.count("\n") == 1
    assert data["schema"] == 1 and data["logdir"] == "lögs" and data["health"] == "critical"
    assert [problem["code"] for problem in data["diagnostics"]] == ["non-finite"]
    assert all(problem.keys() >= {"level", "code", "path", "message"} for problem in data["diagnostics"])
    runs = {run["run"]: run for run in data["runs"]}
    assert runs.keys() == {"a", "b"} and runs["b"]["health"] == "ok"
    for run in runs.values():
        assert all(isinstance(run[key], kind) for key, kind in PROMISED.items())
    worst = runs["a"]["findings"][0]
    assert worst["severity"] == "critical"
    for found in runs["a"]["findings"]:
        for key, kind in FINDING.items():
            assert isinstance(found[key], kind) or (key in ("value", "limit") and found[key] in SPELLED)


def test_markdown_takes_names_as_text(tmp_path: Path) -> None:
    """A run's name makes no link, no column and no HTML in a pull request."""
    write(tmp_path / "logs" / "a|b[x](y)<img>", SICK)
    text = rltui("check", "logs", "--format", "markdown").out
    assert "a\\|b\\[x\\](y)\\<img\\>" in text and "critical" in text


def test_a_replay_judges_as_of_then(tmp_path: Path) -> None:
    """--at-step N: fine before the fault, critical after it, and N is the last step."""
    write(tmp_path / "logs" / "a", SICK)
    assert rltui("check", "logs", "--at-step", "50").code == 0
    late = json.loads(rltui("check", "logs", "--at-step", "75", "--json").out)
    assert late["health"] == "critical" and late["runs"][0]["last_step"] == 75


@pytest.mark.parametrize("step", [1201, 1212, 1223])
def test_a_replay_is_the_same_as_a_log_that_ends_there(tmp_path: Path, step: int) -> None:
    """--at-step N: the findings of a log that was cut after N, whose ticks are of several points."""
    values = [0.05 + 0.001 * (k % 7) if k < 1199 else float(k) for k in range(1400)]
    write(tmp_path / "logs" / "a", values)
    write(tmp_path / "cut" / "a", values[:step])
    found = [
        json.loads(rltui("check", *words, "--json").out)["runs"][0]["findings"]
        for words in (["logs", "--at-step", str(step)], ["cut"])
    ]
    assert found[0] == found[1]


def test_own_limits_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's threshold on a tag nobody knows, with severity and words, decides the exit code."""
    write(tmp_path / "logs" / "a", [1.0] * 40 + [9.0] * 3, key="mine/heat[0]")
    config = tmp_path / "own.toml"
    entry = (
        '[[thresholds]]\nmetric = "mine/heat[*"\nabove = 5\nfor = 3\nseverity = "critical"\nmessage = "hot"\n'
    )
    config.write_text(entry)
    monkeypatch.setenv("RLTUI_CONFIG", str(config))
    done = rltui("check", "logs", "--json")
    (found,) = [one for one in json.loads(done.out)["runs"][0]["findings"] if one["pane"] != "reward"]
    assert done.code == 1 and (found["since_step"], found["message"]) == (41, "hot")
    assert (found["value"], found["limit"], found["metrics"]) == (9.0, 5.0, ["mine/heat[0]"])
    config.write_text(entry.replace("for = 3", "for = 4"))
    assert rltui("check", "logs").code == 0


def test_planned_steps_of_the_user_give_the_time_left(tmp_path: Path) -> None:
    """`total_steps` in the configuration: an ETA while live, ended when they are reached."""
    write(tmp_path / "logs" / "a", WELL, ago=5, gap=60)
    (tmp_path / "logs" / "rltui.toml").write_text('[total_steps]\n"a*" = 180\n')
    assert "eta 1h" in rltui("check", "logs").out
    (tmp_path / "logs" / "rltui.toml").write_text('[total_steps]\n"a*" = 80\n')
    assert "ended" in rltui("check", "logs").out


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_following_tells_at_once_and_ends_by_signal(tmp_path: Path, number: int, code: int) -> None:
    """A line of text or JSON when a finding begins, flushed; 130 and 143; no traceback."""
    write(tmp_path / "logs" / "a", SICK)
    words = (
        ["check", "logs", "--follow", "--json"] if number == signal.SIGINT else ["watch", "logs", "--no-ui"]
    )
    with running(*words, cwd=tmp_path, env=environment(tmp_path)) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        process.send_signal(number)
        assert process.wait(10) == code
        assert process.stderr.read().strip() == ""
    if number == signal.SIGINT:
        said = json.loads(line)
        assert (said["event"], said["run"], said["finding"]["severity"]) == ("firing", "a", "critical")
    else:
        assert "✖ a:" in line and "since step 51" in line


def test_alerts_are_off_and_tried_when_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`alert test`: 2 without configuration; a command is run, its failure is code 1."""
    assert rltui("alert", "test").code == 2
    config = tmp_path / "own.toml"
    config.write_text('[alerts]\ncommand = ["/bin/sh", "-c", "cat > got.json"]\nseverity = "warning"\n')
    monkeypatch.setenv("RLTUI_CONFIG", str(config))
    done = rltui("alert", "test")
    assert done.code == 0 and "command    sent" in done.out
    assert json.loads((tmp_path / "got.json").read_text())["event"] == "test"
    assert "Alerts: command: /bin/sh, from warning on" in rltui("doctor").out
    assert rltui("alert", "test", "webhook").code == 2
    config.write_text('[alerts]\ncommand = ["/bin/false"]\n')
    done = rltui("alert", "test", "command")
    assert done.code == 1 and "failed: /bin/false ended with 1" in done.out


def test_following_alerts_by_the_users_command(tmp_path: Path) -> None:
    """A live run with a critical finding: the user's command gets it once, over many looks."""
    write(tmp_path / "logs" / "a", SICK, ago=1)
    config = tmp_path / "own.toml"
    config.write_text('poll = 0.05\n[alerts]\ncommand = ["/bin/sh", "-c", "cat >> got.jsonl"]\ndwell = 0\n')
    got = tmp_path / "got.jsonl"
    surroundings = environment(tmp_path, RLTUI_CONFIG=str(config))
    with running("watch", "logs", "--no-ui", cwd=tmp_path, env=surroundings) as process:
        assert process.stdout is not None
        process.stdout.readline()
        until = time.monotonic() + 10
        while not (got.exists() and got.read_text().endswith("\n")) and time.monotonic() < until:
            time.sleep(0.02)
        process.terminate()
        process.wait(10)
    (line,) = got.read_text().splitlines()
    data = json.loads(line)
    assert (data["event"], data["run"], data["findings"][0]["severity"]) == ("firing", "a", "critical")
