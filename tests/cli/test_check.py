"""`rltui check`: exit codes, JSON and words as promised."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rltui.cli.follow.follow_findings import follow
from rltui.config import Config
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import Live
from tests.support.runs.checked_runs import SICK, WELL, write

NOISE = np.random.default_rng(3)


def test_words_for_people(tmp_path: Path) -> None:
    """The message, since when, what to do; the good run is said to be well."""
    write(tmp_path / "logs" / "bad", SICK)
    write(tmp_path / "logs" / "good", WELL)
    text = rltui("check", tmp_path / "logs").out
    assert "since step 51" in text and "learning rate" in text and "good" in text


def test_evidence_has_the_numbers_of_the_log(tmp_path: Path) -> None:
    """A key that is negated is told with its own sign, as whoever reads the log sees it."""
    lines = [
        {
            "time/total_timesteps": 2048 * step,
            "rollout/ep_rew_mean": 20.0 + 2 * step if step < 60 else 20.0 + 0.1 * float(NOISE.normal()),
            "train/entropy_loss": (-0.67 if step < 60 else -0.01) + 0.003 * float(NOISE.normal()),
            "train/approx_kl": 0.01,
            "train/explained_variance": 0.5,
        }
        for step in range(1, 120)
    ]
    (tmp_path / "progress.json").write_text("\n".join(map(json.dumps, lines)) + "\n")
    found = rltui("check", tmp_path / "progress.json", "--json").json()["runs"][0]["findings"]
    entropy = next(one for each in found for one in each["evidence"] if one["metric"] == "train/entropy_loss")
    assert entropy["from"] == pytest.approx(-0.67, abs=0.02)
    assert entropy["to"] == pytest.approx(-0.01, abs=0.02)


def test_evidence_has_the_units_of_the_screen(tmp_path: Path) -> None:
    """Seconds are told as such, in text and Markdown, also from the cache; the document has bare numbers."""
    noise = np.random.default_rng(3)
    lines = [
        {
            "step": step,
            "loss": 0.5 + 0.05 * noise.normal(),
            "reward": 0.3 + 0.05 * noise.normal(),
            "kl": 0.01 + 0.001 * noise.normal(),
            "completion_length": 100 + noise.normal(),
            "train/step_time": (0.04 if step < 100 else 0.6) * (1 + 0.05 * noise.normal()),
        }
        for step in range(200)
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    course = r"train/step_time [34]\d\.\d* ms → 5\d\d ms"
    for _ in range(2):
        assert re.search(f"{course}, since step 100", rltui("check", tmp_path).out)
    assert re.search(rf"\({course}\)", rltui("check", tmp_path, "--format", "markdown").out)
    (run,) = rltui("check", tmp_path, "--json").json()["runs"]
    evidence = next(one for one in run["findings"] if one["id"] == "slow-training")["evidence"][0]
    assert evidence["from"] == pytest.approx(0.04, rel=0.1) and "unit" not in evidence


def test_a_key_that_is_a_letter_is_named_with_its_title(tmp_path: Path) -> None:
    """The log of Gym's Monitor has `r`, `l` and `t`: what to look at next would be "l"."""
    returns = np.random.default_rng(3).normal(-90, 15, 1000)
    rows = "".join(f"{value:.3f},2000,{2.0 * at}\n" for at, value in enumerate(returns))
    head = '#{"t_start": 1700000000.0, "env_id": "BipedalWalkerHardcore-v3"}\nr,l,t\n'
    (tmp_path / "0.monitor.csv").write_text(head + rows)
    assert "look next at Episode length (l)" in rltui("check", tmp_path).out


def test_a_missing_logdir_among_others_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    """One mistyped folder of many does not hide the others; the exit code says that one is not judged."""
    write(tmp_path / "good", WELL)
    done = rltui("check", tmp_path / "good", tmp_path / "typo", "--json")
    document = done.json()
    assert done.code == 2 and "typo: no such file or folder" in done.err
    assert [run["health"] for run in document["runs"]] == ["ok"]
    (problem,) = [one for one in document["diagnostics"] if one["code"] == "missing"]
    assert problem["level"] == "error" and problem["path"].endswith("typo")
    text = rltui("check", tmp_path / "good", tmp_path / "typo")
    assert text.code == 2 and "typo" in text.out


def test_long_output_ends_with_the_worst_runs(tmp_path: Path) -> None:
    """What a terminal still shows after many lines is which runs are worst, not files or single findings."""
    for number in range(8):
        write(tmp_path / "logs" / f"bad{number}", SICK)
    write(tmp_path / "logs" / "good", WELL)
    *_, head, first, second, third, fourth, fifth, more, empty, summary = rltui(
        "check", tmp_path / "logs"
    ).out.splitlines()
    assert head == "The worst runs:" and empty == "" and summary.startswith("9 runs: 8 critical")
    assert {one.split()[1] for one in (first, second, third, fourth, fifth)} < {f"bad{n}" for n in range(8)}
    assert "since step 51" in first and more.startswith("  and 3 more")
    assert "worst" not in rltui("check", tmp_path / "logs" / "bad0").out


def test_markdown_is_a_table(tmp_path: Path) -> None:
    """For a pull request or a job summary."""
    write(tmp_path / "logs" / "run", SICK)
    text = rltui("check", tmp_path / "logs", "--format", "markdown").out
    assert "\n| " in text and "51" in text and "critical" in text


def test_one_line_names_the_worst_runs(tmp_path: Path) -> None:
    """For a chat or a pager: counts, then the first finding of at most three runs; the same exit code."""
    for name in ("a", "b", "c", "d"):
        write(tmp_path / "logs" / name, SICK)
    write(tmp_path / "logs" / "good", WELL)
    done = rltui("check", tmp_path / "logs", "--format", "line")
    (line,) = done.out.splitlines()
    assert done.code == 1
    assert line.startswith("✖ 5 runs: 4 critical, 1 ok · ")
    assert line.count(", since step 51") == 3 and line.endswith("; and 1 more")
    well = rltui("check", tmp_path / "logs", "--run", "good", "--format", "line")
    assert (well.code, well.out) == (0, "✓ 1 run: 1 ok\n")


def test_an_empty_line_stands_before_the_counts(tmp_path: Path) -> None:
    """Whether the last run has findings or not."""
    write(tmp_path / "logs" / "good", WELL)
    for names in ("good",), ("good", "bad"):
        write(tmp_path / "logs" / names[-1], WELL if names[-1] == "good" else SICK)
        *_, before, summary = rltui("check", tmp_path / "logs").out.splitlines()
        assert before == "" and summary.startswith(f"{len(names)} run")


def test_the_counts_of_healths_are_those_of_the_runs(tmp_path: Path) -> None:
    """Who has ended early or stalled has a health all the same, and is not counted as another run."""
    for name in ("a", "b"):
        run = write(tmp_path / "logs" / name, WELL)
        (run / "config.yaml").write_text(f"trainer:\n  total_training_steps: {2 * len(WELL)}\n", "utf-8")
    write(tmp_path / "logs" / "c", WELL, ago=1800, gap=10)
    (both,) = rltui("check", tmp_path / "logs", "--format", "line").out.splitlines()
    assert both.startswith("✓ 3 runs: 3 ok; of these 1 stalled and 2 ended early · ")
    (one,) = rltui("check", tmp_path / "logs", "--run", "a", "--format", "line").out.splitlines()
    assert one.startswith("✓ 1 run: 1 ok; it ended early · ")


def test_a_state_that_is_only_concluded_is_told_apart(tmp_path: Path) -> None:
    """A program reads what people read as `stalled?`: silence alone does not tell a hang from an end."""
    write(tmp_path / "logs" / "silent", WELL, ago=1800, gap=10)
    write(tmp_path / "logs" / "live", WELL, ago=1, gap=10)
    runs = {one["run"]: one for one in rltui("check", tmp_path / "logs", "--json").json()["runs"]}
    assert (runs["silent"]["state"], runs["silent"]["state_certain"]) == ("stalled", False)
    assert (runs["live"]["state"], runs["live"]["state_certain"]) == ("live", True)


def test_runs_are_picked(tmp_path: Path) -> None:
    """--run judges what matches, and nothing else decides the exit code."""
    write(tmp_path / "logs" / "bad", SICK)
    write(tmp_path / "logs" / "good", WELL)
    assert rltui("check", tmp_path / "logs", "--run", "good").code == 0
    assert rltui("check", tmp_path / "logs", "--run", "bad").code == 1


def test_parts_of_the_runs_are_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check --follow --shard`: each part tells of its own runs, all parts of all, by the cut of `check`."""
    for number in range(6):
        write(tmp_path / "logs" / f"run{number}", SICK)
    logs = tmp_path / "logs"
    told = []
    for index in (1, 2, 3):
        part = rltui("check", logs, "--json", "--shard", f"{index}/3")
        follow([str(logs)], Config(), shard=(index, 3), as_json=True, deliveries=[Live(logs).poll(), []])
        found = {json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()}
        assert found == {run["run"] for run in part.json()["runs"]}
        told += found
    assert len(told) == len(set(told)) == 6


def test_following_prints_what_fires(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a screen: a line when a finding begins, told once."""
    write(tmp_path / "logs" / "run", SICK)
    logs = tmp_path / "logs"
    follow([str(logs)], Config(), deliveries=[Live(logs).poll(), []])
    lines = [line for line in capsys.readouterr().out.splitlines() if "reference" in line]
    assert len(lines) == 1 and "since step 51" in lines[0]
