"""The promises of the command line to other programs, one by one: names, exit codes, JSON fields."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.child_process import running
from tests.support.commands.in_process import Done, rltui
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import write_rows
from tests.support.shared import BUNDLED

ROOT = Path(__file__).resolve().parents[2]
PANES = (
    "overview", "validation", "reward", "policy", "critic", "lengths", "preference", "reward-model", "turns",
    "load", "timing", "perf", "rollout", "findings", "all",
)  # fmt: skip
OPTIONS = {
    "watch": "--pane --run --baseline --theme --poll --ascii --no-color --no-mouse",
    "demo": "--speed --fault --list",
    "snapshot": "--pane --format --output --run --width --height --at-step",
    "check": "--json --fail-on",
    "runs": "--json",
    "export": "--format --output --run --metric --follow --all-sources",
    "explain": "--framework --json",
    "glossary": "--pane --framework --json",
    "compare": "--baseline --json",
    "doctor": "--json",
}
HOSTILE = (
    "loss[/b]", "[@click=app.quit]x", "\x1b[31mred\x1b[0m", "\U0001f389/\U0001f600", "n" * 300, "new\nline",
    "\x9b31m", "\u202ertl", "$(reboot)", 'a,b"c', "\x1b]0;title\x07",
)  # fmt: skip
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
WEEK = 7 * 86_400.0
READING = ("snapshot --run *", "runs", "export", "compare --baseline one", "report --run *", "doctor")


def write(path: Path, rows: Sequence[dict[str, Any]], *, ago: float = WEEK) -> Path:
    """A JSONL log that was last written some time ago."""
    write_rows(path, rows)
    os.utime(path, (time.time() - ago,) * 2)
    return path


def training(kl: Sequence[float], *, ago: float = WEEK, gap: float = 2.0) -> list[dict[str, Any]]:
    """Steps as veRL's file logger writes them."""
    end = time.time() - ago
    return [
        {"step": step, "timestamp": end - gap * (len(kl) - step), "data": {
            "actor/kl_loss": value, "actor/grad_norm": 0.5, "actor/pg_clipfrac": 0.01, "actor/entropy": 1.5,
            "critic/score/mean": 0.4 + 0.003 * step, "perf/mfu/actor": 0.0}}
        for step, value in enumerate(kl, 1)
    ]  # fmt: skip


WELL, SICK = [0.05] * 80, [0.05] * 50 + [20.0] * 30


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two runs: `good` is healthy, `bad` has a KL that ran away."""
    write(tmp_path / "logs/good/metrics.jsonl", training(WELL))
    write(tmp_path / "logs/bad/metrics.jsonl", training(SICK), ago=WEEK - 60)
    return tmp_path / "logs"


def points(*words: object) -> list[dict[str, Any]]:
    """What `export` prints."""
    done = rltui("export", *words)
    assert done.code == 0, done.err
    return done.lines()


def refused(done: Done, code: int, *says: str) -> None:
    """An error: nothing on standard output, one line on standard error that says these words."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.count("\n") == 1 and "Traceback" not in done.err
    for word in says:
        assert word in done.err


def events(tag: str, values: Sequence[float]) -> bytes:
    """An event file as a summary writer makes it, one value a step."""
    written = [tfwriter.event(step, tfwriter.simple(tag, value)) for step, value in enumerate(values)]
    return tfwriter.version() + b"".join(written)


# ---- commands and options


@pytest.mark.parametrize("command", OPTIONS)
def test_every_command_has_its_options(command: str) -> None:
    """Names of commands and options never change or vanish."""
    done = rltui(command, "--help")
    assert done.code == 0 and done.err == ""
    assert set(OPTIONS[command].split()) <= set(re.findall(r"--[a-z-]+", done.out))


def test_version_and_help() -> None:
    """Both end with 0 on standard output; the help names every command."""
    assert re.fullmatch(r"rltui \d+\.\d+\S*\n", rltui("--version").out)
    assert set(OPTIONS) <= set(rltui("--help").out.split())


@pytest.mark.parametrize("pane", PANES)
def test_every_promised_pane_can_be_asked_for(logs: Path, pane: str) -> None:
    """A promised pane name is never unknown, whatever the run has."""
    done = rltui("snapshot", logs, "--pane", pane)
    assert (done.code, done.err) == (0, "") and done.out


def test_a_section_of_the_run_s_own_names_is_a_pane(tmp_path: Path) -> None:
    """Metrics that nobody knows make a pane by their section."""
    write(tmp_path / "metrics.jsonl", [{"step": step, "zebra/stripes": step} for step in range(5)])
    assert "zebra/stripes" in rltui("snapshot", tmp_path, "--pane", "zebra").out
    refused(rltui("snapshot", tmp_path, "--pane", "zebras"), 1, "zebras", "zebra")


def test_snapshot_defaults(logs: Path) -> None:
    """The overview as text, 100 columns, as many rows as needed."""
    plain = rltui("snapshot", logs)
    asked = rltui("snapshot", logs, "--pane", "overview", "--format", "text", "--width", "100")
    assert plain.out == asked.out
    assert max(map(len, plain.out.splitlines())) == 100
    assert max(map(len, rltui("snapshot", logs, "--pane", "all", "--width", "60").out.splitlines())) == 60
    assert len(rltui("snapshot", logs, "--pane", "all", "--height", "6").out.splitlines()) <= 6


@pytest.mark.parametrize(
    ("form", "begins"),
    [("text", " bad"), ("ansi", "\x1b["), ("markdown", "#"), ("svg", "<svg"), ("json", "{")],
)
def test_snapshot_formats(logs: Path, tmp_path: Path, form: str, begins: str) -> None:
    """Each format on standard output, and by the ending of --output."""
    assert rltui("snapshot", logs, "--format", form).out.startswith(begins)
    ending = {"markdown": "md", "ansi": "ans", "text": "txt"}.get(form, form)
    done = rltui("snapshot", logs, "--output", tmp_path / f"pane.{ending}")
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / f"pane.{ending}").read_text().startswith(begins)


def test_snapshot_picks_runs_and_steps(logs: Path) -> None:
    """--run picks by name, --at-step shows what was known then, of a run that may be over by now."""
    assert rltui("snapshot", logs, "--run", "go*").out.startswith(" good")
    head = rltui("snapshot", logs, "--run", "bad", "--at-step", 40).out.splitlines()[0]
    assert "◂ past   step 40" in head and "live" not in head and "now" not in head
    pane = rltui("snapshot", logs, "--run", "bad", "--at-step", 40, "--format", "json").json()[0]
    assert (pane["run"], pane["step"], pane["health"]) == ("bad", 40, "ok")


@pytest.mark.parametrize("command", ["snapshot", "report"])
def test_a_step_before_the_first_one_is_refused_with_that_step(tmp_path: Path, command: str) -> None:
    """Without points there is no pane: `nothing is logged` would be wrong."""
    write(tmp_path / "run" / "metrics.jsonl", [{"step": 2048 * k, "loss": 0.1 * k} for k in range(1, 9)])
    refused(rltui(command, tmp_path, "--at-step", 100), 2, "no points up to step 100", "first step is 2,048")
    assert rltui(command, tmp_path, "--at-step", 2048).code == 0


def test_demo_without_a_terminal() -> None:
    """--list names the recordings; each can be chosen; an unknown one is 1 with the names."""
    names = [line.split()[0] for line in rltui("demo", "--list").out.splitlines()]
    assert len(names) > 2
    refused(rltui("demo", "--fault", "nonesuch"), 1, *names)
    done = rltui("demo", "--fault", names[1], "--speed", 4)
    assert done.code == 0 and len(done.out.splitlines()) > 5


def test_runs_prints_one_line_per_run(logs: Path) -> None:
    """Name, framework, state, last step, age, last and best value, health, series count, why."""
    head, *rows = rltui("runs", logs).out.splitlines()
    assert head.split() == [
        "run", "framework", "state", "step", "age", "metric", "last", "best", "health",
        "series", "points", "why",
    ]  # fmt: skip
    assert [row.split()[:4] for row in rows] == [
        ["bad", "verl", "ended?", "80"],
        ["good", "verl", "ended?", "80"],
    ]


# ---- names of runs


def test_names_of_runs(tmp_path: Path) -> None:
    """`.` for LOGDIR itself; plain names belong to the folder's run, other names get their stem."""
    rows = [{"step": step, "loss": 1 / step} for step in range(1, 6)]
    for place in ("metrics.jsonl", "a/b/progress.csv", "a/metrics.jsonl", "a/first.jsonl", "a/second.jsonl"):
        write(tmp_path / place, [{**row, place: 1.0} for row in rows])
    (tmp_path / "a/b/progress.csv").write_text("step,loss\n1,0.5\n2,0.25\n")
    named = {point["source"]: point["run"] for point in points(tmp_path)}
    assert named == {
        "metrics.jsonl": ".", "a/b/progress.csv": "a/b", "a/metrics.jsonl": "a",
        "a/first.jsonl": "a/first", "a/second.jsonl": "a/second",
    }  # fmt: skip


def test_a_run_folder_one_file_and_several_logdirs(logs: Path) -> None:
    """LOGDIR is a folder of runs, a run folder or one log file; several may be given."""
    assert {point["run"] for point in points(logs / "good")} == {"."}
    assert {point["source"] for point in points(logs / "good/metrics.jsonl")} == {"metrics.jsonl"}
    both = {point["run"] for point in points(logs / "good", logs / "bad")}
    assert both == {"good", "bad"}


def test_duplicates_are_named_and_printed_on_request(tmp_path: Path) -> None:
    """One training in two formats is one run; the other log stands under `also`, --all-sources prints it."""
    rows = [{"step": step, "loss": 1 / step, "reward": step / 7} for step in range(1, 41)]
    write(tmp_path / "metrics.jsonl", rows)
    cells = [f"{row['step']},{row['loss']},{row['reward']}" for row in rows]
    (tmp_path / "progress.csv").write_text("\n".join(["step,loss,reward", *cells, ""]))
    (run,) = rltui("runs", tmp_path, "--json").json()["runs"]
    main, duplicate = ([source["path"] for source in run[key]] for key in ("sources", "also"))
    assert sorted(main + duplicate) == ["metrics.jsonl", "progress.csv"] and len(duplicate) == 1
    assert {point["source"] for point in points(tmp_path)} == set(main)
    everything = points(tmp_path, "--all-sources")
    assert {point["source"] for point in everything} == {*main, *duplicate} and len(everything) == 160
    assert {point["run"] for point in everything} == {"."}


# ---- points


def test_points_have_the_promised_fields(tmp_path: Path) -> None:
    """Nested keys joined, exact steps, no time is null, non-finite by name, control characters escaped."""
    big = 2**62 + 1
    (tmp_path / "metrics.jsonl").write_text(
        '{"step": 1, "timestamp": 1763600000.25, "a": {"b": {"c": 0.1}}, "x": NaN, "t\\u001b[1m": 1}\n'
        f'{{"step": {big}, "x": Infinity, "y": -Infinity}}\n{{"step": -3, "x": 5e-324}}\n'
    )
    found = {(point["tag"], point["step"]): point for point in points(tmp_path)}
    assert found["a/b/c", 1] == {
        "run": ".", "tag": "a/b/c", "step": 1, "wall_time": 1763600000.25, "value": 0.1,
        "source": "metrics.jsonl",
    }  # fmt: skip
    assert [found["x", 1]["value"], found["x", big]["value"], found["y", big]["value"]] == [
        "NaN", "Infinity", "-Infinity"
    ]  # fmt: skip
    assert found["x", -3]["value"] == 5e-324 and found["x", -3]["wall_time"] is None
    assert ("t\x1b[1m", 1) in found
    assert not RAW.search(rltui("export", tmp_path).out)


def test_float32_reads_back_to_the_same_float32(tmp_path: Path) -> None:
    """Values of event files keep their bits, subnormal and negative zero included."""
    bits = [0x3DCCCCCD, 0x00000001, 0x80000000, 0x7F7FFFFF, 0x3EAAAAAB, 0xC2F6E979]
    values = [struct.unpack("<f", struct.pack("<I", each))[0] for each in bits]
    (tmp_path / "events.out.tfevents.1763600000.node7.991.0").write_bytes(events("v", values))
    found = points(tmp_path)
    assert [struct.unpack("<I", struct.pack("<f", point["value"]))[0] for point in found] == bits
    assert [point["step"] for point in found] == list(range(len(bits)))


def test_export_is_lossless_and_marks_what_was_superseded(tmp_path: Path) -> None:
    """Every point in the order of its file; those that a restart replaced say so, others say nothing."""
    rows = [{"step": step, "loss": step / 3} for step in [*range(1, 51), *range(31, 61)]]
    write(tmp_path / "metrics.jsonl", rows)
    found = points(tmp_path)
    assert [(point["step"], point["value"]) for point in found] == [
        (row["step"], row["loss"]) for row in rows
    ]
    assert [index for index, point in enumerate(found) if "superseded" in point] == list(range(30, 50))
    assert {point["superseded"] for point in found[30:50]} == {True}


def test_a_tag_is_spelled_as_the_log_spells_it(tmp_path: Path) -> None:
    """Curves of `add_scalars` belong to the run above and keep their tag; --metric takes either name."""
    for place, tag in (("", "other"), ("loss_a/", "loss"), ("loss_b/", "loss")):
        path = tmp_path / f"{place}events.out.tfevents.1763600000.node7.991.0"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(events(tag, [0.5] * 5))
    found = points(tmp_path)
    assert {(point["run"], point["tag"], point.get("series")) for point in found} == {
        (".", "other", None), (".", "loss", "loss/a"), (".", "loss", "loss/b")
    }  # fmt: skip
    assert not any("superseded" in point for point in found)
    assert (
        len(points(tmp_path, "--metric", "loss")) == 10 and len(points(tmp_path, "--metric", "loss/a")) == 5
    )


def test_export_picks_and_formats(logs: Path, tmp_path: Path) -> None:
    """--run and --metric pick by glob; csv and jsonl say the same; --output holds what would be printed."""
    found = points(logs, "--run", "g*", "--metric", "actor/*")
    assert {point["run"] for point in found} == {"good"} and len(found) == 4 * 80
    table = rltui("export", logs, "--format", "csv", "--run", "g*", "--metric", "actor/*").out.splitlines()
    assert table[0].split(",")[:6] == ["run", "tag", "step", "wall_time", "value", "source"]
    assert [float(row.split(",")[4]) for row in table[1:]] == [point["value"] for point in found]
    rltui("export", logs, "--output", tmp_path / "points.jsonl")
    assert (tmp_path / "points.jsonl").read_text() == rltui("export", logs).out


def test_bundled_logs_export_what_they_hold() -> None:
    """Counts, first and last values of every tag of the bundled event files, as TensorBoard reads them."""
    oracle = json.loads((BUNDLED / "tfevents_oracle.json").read_text())
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for point in points(BUNDLED, "--all-sources"):
        found.setdefault(point["source"], {}).setdefault(point["tag"], []).append(point)
    checked = 0
    for source, tags in oracle.items():
        for tag, said in tags.items():
            mine = found[source][tag]
            assert len(mine) == said["count"], (source, tag)
            assert [mine[0]["step"], mine[-1]["step"]] == [said["first_step"], said["last_step"]]
            for point, value in ((mine[0], said["first_value"]), (mine[-1], said["last_value"])):
                assert math.isclose(float(point["value"]), float(value), rel_tol=1e-6, abs_tol=1e-30) or (
                    math.isnan(float(point["value"])) and math.isnan(float(value))
                )
            checked += 1
    assert checked > 20


# ---- health

FINDING = {
    "id": str, "severity": str, "pane": str, "metrics": list, "canonical": list, "since_step": int,
    "message": str, "advice": str, "check_next": list,
}  # fmt: skip


def test_check_json_has_the_promised_fields(logs: Path) -> None:
    """Names and types of every field, for a sick and a healthy run."""
    done = rltui("check", logs, "--json")
    report = done.json()
    assert done.code == 1 and done.err == ""
    assert (report["schema"], report["logdir"], report["health"]) == (1, str(logs), "critical")
    runs = {run["run"]: run for run in report["runs"]}
    assert set(runs) == {"good", "bad"}
    for run in runs.values():
        assert (run["framework"], run["state"], run["last_step"], run["points"]) == ("verl", "ended", 80, 480)
        assert type(run["last_wall_time"]) is float and type(run["points"]) is int
    assert (runs["good"]["health"], runs["bad"]["health"]) == ("ok", "critical")
    for finding in runs["bad"]["findings"]:
        assert {key: type(finding[key]) for key in FINDING} == FINDING
        assert finding["severity"] in ("info", "warning", "critical") and finding["metrics"]
        assert all(type(finding[key]) in (int, float, type(None), str) for key in ("value", "limit"))
    worst = runs["bad"]["findings"][0]
    assert "policy.kl_loss" in worst["canonical"] and "actor/kl_loss" in worst["metrics"]
    assert worst["since_step"] == 51


def test_a_healthy_training_with_healthy_files_has_neither(tmp_path: Path) -> None:
    """No findings, no diagnostics: not even for MFU that is never reported. Notes are no findings."""
    write(tmp_path / "metrics.jsonl", training(WELL))
    report = rltui("check", tmp_path, "--json").json()
    assert (report["runs"][0]["findings"], report["diagnostics"]) == ([], [])
    assert [note["code"] for note in report["notes"]] == ["not-reported"]


def test_a_user_s_own_limit_is_a_finding_even_as_info(tmp_path: Path) -> None:
    """What the user asked to be told is told."""
    write(tmp_path / "metrics.jsonl", training(WELL))
    (tmp_path / "rltui.toml").write_text(
        '[[thresholds]]\nmetric = "policy.kl_loss"\nabove = 0.01\nseverity = "info"\n'
    )
    (finding,) = rltui("check", tmp_path, "--json").json()["runs"][0]["findings"]
    assert (finding["severity"], finding["limit"]) == ("info", 0.01)


def test_diagnostics_judge_the_files(tmp_path: Path) -> None:
    """Torn, corrupt, restarted and non-finite, each with level, code, path and message."""
    write(tmp_path / "again/metrics.jsonl", [{"step": s, "a": 1.0} for s in [*range(50), *range(30, 60)]])
    write(tmp_path / "nan/metrics.jsonl", [{"step": s, "a": math.nan if s == 7 else 1.0} for s in range(20)])
    log = events("a", [1.0] * 40)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn/events.out.tfevents.1.h.1.0").write_bytes(log[:-9])
    (tmp_path / "flipped").mkdir()
    middle = len(log) // 2
    (tmp_path / "flipped/events.out.tfevents.2.h.1.0").write_bytes(
        log[:middle] + bytes([log[middle] ^ 0x40]) + log[middle + 1 :]
    )
    report = rltui("check", tmp_path, "--json").json()
    for one in report["diagnostics"]:
        assert set(one) == {"level", "code", "path", "message"}
        assert one["level"] in ("info", "warning", "error") and "\n" not in one["message"]
    by_path = {(one["path"].split("/")[0], one["code"]) for one in report["diagnostics"]}
    assert by_path >= {
        ("again", "restarted"), ("nan", "non-finite"), ("torn", "torn-tail"), ("flipped", "corrupt-record")
    }  # fmt: skip


def test_exit_codes_of_check(tmp_path: Path) -> None:
    """0 fine, 1 a finding at or above --fail-on (default critical), 3 stalled, 2 nothing to read."""
    write(tmp_path / "good/metrics.jsonl", training(WELL))
    write(tmp_path / "mild/metrics.jsonl", training([0.05] * 50 + [5.0] * 30))
    write(tmp_path / "sick/metrics.jsonl", training(SICK))
    write(tmp_path / "still/metrics.jsonl", training(WELL, ago=1800.0, gap=10.0), ago=1800.0)
    (tmp_path / "empty").mkdir()
    expected = {
        "good": (0, 0, 0), "mild": (0, 1, 0), "sick": (1, 1, 0), "still": (3, 3, 0), "empty": (2, 2, 2),
    }  # fmt: skip
    for name, codes in expected.items():
        for fail_on, code in zip((None, "warning", "never"), codes, strict=True):
            words = ["--fail-on", fail_on] if fail_on else []
            assert rltui("check", tmp_path / name, *words).code == code, (name, fail_on)


# ---- glossary

ENTRY = {
    "key": str, "title": str, "pane": str, "unit": str, "direction": str, "meaning": str, "healthy": str,
    "watch_for": str, "rules": list, "check_next": list, "aliases": dict, "sources": list, "canonical": str,
}  # fmt: skip


def test_explain_json_has_the_promised_fields() -> None:
    """One object a line, one line a key; the framework is named only where there is no doubt."""
    found = rltui("explain", "actor/pg_clipfrac", "policy.kl_ref", "train/entropy_loss", "--json").lines()
    assert [one["key"] for one in found] == ["actor/pg_clipfrac", "policy.kl_ref", "train/entropy_loss"]
    for one in found:
        assert {key: type(one[key]) for key in ENTRY} == ENTRY
        assert all({"id", "severity", "when"} <= set(rule) for rule in one["rules"])
        for framework, keys in one["aliases"].items():
            assert type(framework) is str and keys and all(type(key) is str for key in keys)
    assert [one["framework"] for one in found] == ["verl", None, None]
    assert (found[0]["canonical"], found[0]["unit"], found[0]["direction"]) == (
        "policy.clip_fraction", "fraction", "down"
    )  # fmt: skip
    assert "clip_ratio/region_mean" in found[0]["aliases"]["trl"]
    (chosen,) = rltui("explain", "train/entropy_loss", "--framework", "sb3", "--json").lines()
    assert chosen["framework"] == "stable-baselines3" and "others" in found[2]


def test_explain_of_an_unknown_key_is_1_with_the_nearest() -> None:
    """Known keys are answered all the same."""
    refused(rltui("explain", "actor/pg_clipfrak"), 1, "actor/pg_clipfrac")
    done = rltui("explain", "actor/pg_clipfrak", "actor/pg_clipfrac", "--json")
    assert (done.code, len(done.lines()), done.err.count("\n")) == (1, 1, 1)


def test_explain_of_a_name_without_its_section() -> None:
    """A bare name that means one thing wherever it is written is understood; no framework is named."""
    (found,) = rltui("explain", "pg_clipfrac", "--json").lines()
    assert (found["canonical"], found["framework"]) == ("policy.clip_fraction", None)
    assert "verl" in found["frameworks"]


def test_glossary_picks() -> None:
    """All entries, of one pane, of one framework, as one JSON object a line."""
    everything = rltui("glossary", "--json").lines()
    critic = rltui("glossary", "--pane", "critic", "--json").lines()
    assert {one["pane"] for one in critic} == {"critic"} and len(critic) < len(everything)
    verl = rltui("glossary", "--framework", "verl", "--json").lines()
    assert 50 < len(verl) < len(everything)
    assert {key: type(verl[0][key]) for key in ENTRY} == ENTRY
    assert len(rltui("glossary").out) > 50_000


# ---- compare, doctor


def test_compare_at_matched_steps(logs: Path) -> None:
    """Differences of the key metrics against one run, for people and for programs."""
    report = rltui("compare", logs, "--baseline", "good", "--json").json()
    (run,) = report["runs"]
    assert (report["baseline"], run["run"]) == ("good", "bad")
    kl = next(metric for metric in run["metrics"] if metric["canonical"] == "policy.kl_loss")
    assert (kl["value"], kl["baseline"]) == (20.0, 0.05)
    assert "actor/kl_loss" in rltui("compare", logs, "--baseline", "good").out
    refused(rltui("compare", logs, "--baseline", "xyzzy"), 1, "good", "bad")


def test_doctor_with_and_without_logs(logs: Path) -> None:
    """Versions, terminal, configuration; of logs how changes are noticed, unknown names."""
    write(logs / "odd/metrics.jsonl", [{"step": 1, "zebra/stripes": 3.0}])
    report = rltui("doctor", logs, "--json").json()
    assert {"versions", "terminal", "config", "follow", "unrecognised"} <= set(report)
    assert list(report["unrecognised"]) == ["zebra/stripes"]
    assert "zebra/stripes" in rltui("doctor", logs).out
    assert {"versions", "terminal", "config"} <= set(rltui("doctor", "--json").json())


# ---- errors


def test_a_metric_that_is_a_term_too_says_once_what_is_healthy() -> None:
    """The term below the metric has the healthy values of other metrics alone; by its own name it has all."""
    both = rltui("explain", "explained_variance").out
    metric, _, term = both.partition("meaning ")
    assert "> 0.8 is good" in metric and "> 0.8 is good" not in term and "Value loss: Falls" in term
    assert "Explained variance: > 0.8 is good" in rltui("explain", "gae").out


def test_a_key_with_several_meanings_begins_with_what_tells_them_apart() -> None:
    """The same key is the entropy in one framework and minus the entropy in another one."""
    text = rltui("explain", "train/entropy_loss").out
    head = text.partition("\n\n")[0]
    assert head.startswith("train/entropy_loss has 2 meanings; --framework NAME chooses one:")
    assert "minus Entropy (policy.entropy): stable-baselines3" in head
    assert "meanings" not in rltui("explain", "train/entropy_loss", "--framework", "openrlhf").out


@pytest.mark.parametrize("command", ["snapshot", "check", "runs", "export", "compare", "doctor"])
def test_a_missing_logdir_is_an_error(command: str) -> None:
    """2, one line that names it; only watch and export --follow wait."""
    words = ["--baseline", "x"] if command == "compare" else []
    refused(rltui(command, "no/such/place", *words), 2, "no/such/place")


@pytest.mark.parametrize("command", READING)
def test_a_missing_logdir_hides_no_other(tmp_path: Path, command: str) -> None:
    """All commands output the runs of the other LOGDIRs, name the missing one once, and exit with 2."""
    for run in ("one", "two"):
        write(tmp_path / "good" / run, [{"step": step, "loss": 0.5} for step in range(20)])
    words = shlex.split(command)
    alone = rltui(words[0], tmp_path / "good", *words[1:])
    both = rltui(words[0], tmp_path / "good", tmp_path / "typo", *words[1:])
    assert alone.code == 0 and both.code == 2
    assert both.err.count("typo: no such file or folder") == 1
    assert "one" in both.out and len(both.out) >= len(alone.out)


@pytest.mark.parametrize("command", ["check", "export", "runs"])
def test_a_logdir_that_cannot_be_named_or_entered_is_an_error(tmp_path: Path, command: str) -> None:
    """2 and one line, at once; without permission it says so, instead of that nothing is there."""
    refused(rltui(command, tmp_path / ("n" * 300)), 2, "no such file or folder")
    if os.geteuid() == 0:
        pytest.skip("root may enter every folder")
    write(tmp_path / "private/run/metrics.jsonl", [{"step": 1, "loss": 0.5}])
    (tmp_path / "private").chmod(0)
    try:
        refused(rltui(command, tmp_path / "private/run"), 2, "Permission denied", "permissions")
    finally:
        (tmp_path / "private").chmod(0o700)


@pytest.mark.parametrize("command", ["snapshot", "check", "runs", "export", "compare"])
def test_nothing_that_can_be_read_is_2(tmp_path: Path, command: str) -> None:
    """An empty folder, and a --run that picks nothing."""
    (tmp_path / "empty").mkdir()
    words = ["--baseline", "x"] if command == "compare" else []
    refused(rltui(command, tmp_path / "empty", *words), 2, "empty")


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--fail-on", "info", "."], ["snapshot", "--format", "png", "."], ["snapshot"], ["explain"],
        ["export", "--format", "xml", "."], ["compare", "."], ["runs", "--nonsense", "."], ["nonesuch"],
        ["--nonsense"], ["export", "--follow", "--format", "csv", "."], ["watch", "--poll", "never", "."],
    ],
)  # fmt: skip
def test_wrong_usage_is_2(words: list[str]) -> None:
    """One line on standard error."""
    refused(rltui(*words), 2)


def test_options_without_a_command_are_those_of_watch(tmp_path: Path) -> None:
    """The value of an option is not taken for a command or a folder."""
    refused(rltui("--pane", "reward", tmp_path), 2, "the screen needs a terminal")


def test_a_command_that_is_mistyped_is_named() -> None:
    """The nearest command stands in the error."""
    refused(rltui("wach"), 2, "no command or folder named 'wach'; commands: watch")


@pytest.mark.parametrize(
    "words",
    [
        ["snapshot", "--pane", "nonesuch"], ["snapshot", "--theme", "nonesuch"],
        ["export", "--metric", "nonesuch"], ["compare", "--baseline", "nonesuch"],
    ],
)  # fmt: skip
def test_an_unknown_name_asked_for_is_1(logs: Path, words: list[str]) -> None:
    """Panes, themes, metrics and runs that do not exist."""
    refused(rltui(words[0], logs, *words[1:]), 1, "nonesuch")


@pytest.mark.parametrize("command", ["check", "runs", "snapshot"])
def test_an_unreadable_configuration_is_2(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A file that is no TOML, or none at all where one was named."""
    (tmp_path / "mine.toml").write_text("this is [no toml")
    for name in ("mine.toml", "missing.toml"):
        monkeypatch.setenv("RLTUI_CONFIG", str(tmp_path / name))
        refused(rltui(command, logs), 2, name)


def test_hostile_names_are_harmless(tmp_path: Path) -> None:
    """Markup, escapes, emoji, newlines and long names, in tags, folders and values, in every command."""
    rows = [
        {"step": step, **{tag: [math.nan, math.inf, -math.inf, 0.1][step % 4] for tag in HOSTILE}}
        for step in range(40)
    ]
    for place in (b"esc\x1b]0;x\x07", b"invalid\xff\xfe", b"[bold]x[/]", b"new\nline"):
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + place))
        write(folder / "metrics.jsonl", [{**row, f"mark{place[0]}": 1.0} for row in rows])
    for words in (
        ["runs"], ["runs", "--json"], ["check"], ["check", "--json"], ["check", "--format", "markdown"],
        ["snapshot"], ["snapshot", "--pane", "all"], ["snapshot", "--pane", "all", "--format", "markdown"],
        ["snapshot", "--pane", "all", "--format", "json"], ["snapshot", "--pane", "all", "--format", "svg"],
        ["export"], ["export", "--format", "csv"], ["doctor"], ["compare", "--baseline", "[bold]x[/]"],
    ):  # fmt: skip
        done = rltui(words[0], tmp_path, *words[1:])
        code = 2 if words[0] == "check" else 0  # no rule applies to these metrics: nothing could be judged
        assert done.code == code and not RAW.search(done.out + done.err), words
        assert "Traceback" not in done.err
    assert len({point["tag"] for point in points(tmp_path)}) == len(HOSTILE) + 4
    assert {run["run"] for run in rltui("runs", tmp_path, "--json").json()["runs"]} >= {"[bold]x[/]"}


def test_many_runs(tmp_path: Path) -> None:
    """A hundred runs are a hundred runs."""
    for number in range(100):
        write(
            tmp_path / f"run{number:03}/metrics.jsonl", [{"step": s, "reward": s + number} for s in range(3)]
        )
    assert len(rltui("runs", tmp_path, "--json").json()["runs"]) == 100
    assert len(rltui("runs", tmp_path).out.splitlines()) == 101


# ---- as a process


def process(*words: object, **how: Any) -> subprocess.Popen[str]:
    """The real command from somewhere else than the checkout."""
    return subprocess.Popen(
        [sys.executable, "-m", "rltui", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, **how,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_follow_waits_prints_flushed_lines_and_ends_by_signal(tmp_path: Path, number: int, code: int) -> None:
    """A folder that does not exist yet is waited for; each point is a flushed line; 130 and 143."""
    place = tmp_path / "later"
    place.mkdir()
    write(place / "run/metrics.jsonl", [{"step": 1, "a": 0.5}], ago=0.0)
    with running("export", "--follow", tmp_path / "soon", cwd=tmp_path) as following:
        place.rename(tmp_path / "soon")
        assert following.stdout is not None
        assert json.loads(following.stdout.readline())["step"] == 1
        with (tmp_path / "soon/run/metrics.jsonl").open("a") as log:
            log.write('{"step": 2, "a": NaN}\n')
        assert json.loads(following.stdout.readline())["value"] == "NaN"
        following.send_signal(number)
        rest, errors = following.communicate(timeout=30)
    assert (following.returncode, rest) == (code, "") and "Traceback" not in errors


def test_the_real_command_judges_and_lists(logs: Path) -> None:
    """As a program calls it: code, results on standard output, nothing else there, no noise elsewhere."""
    started = [process(*words, cwd=logs) for words in (["check", ".", "--json"], ["runs", "..", "--json"])]
    (report, noise), (listing, more) = (each.communicate(timeout=60) for each in started)
    assert [each.returncode for each in started] == [1, 0] and noise == more == ""
    assert json.loads(report)["health"] == "critical"
    assert {run["run"] for run in json.loads(listing)["runs"]} == {"logs/good", "logs/bad"}


def test_watch_without_a_terminal_is_2(logs: Path) -> None:
    """`rltui LOGDIR` is short for `rltui watch LOGDIR`; both need a terminal and say so in one line."""
    for words in (["watch", logs], [logs]):
        refused(rltui(*words), 2, "terminal")


# ---- charts as pictures


def test_a_chart_is_text_markdown_svg_or_png(logs: Path, tmp_path: Path) -> None:
    """By --format, else by the ending of --output; an ending that charts do not have is wrong usage."""
    words = ("snapshot", logs, "--run", "bad", "--chart", "actor/kl_loss")
    assert rltui(*words).out.lstrip().startswith("bad: ")
    assert rltui(*words, "--format", "markdown").out.startswith("```text\n")
    assert rltui(*words, "--format", "svg").out.startswith("<svg")
    rltui(*words, "--output", tmp_path / "kl.svg")
    assert "actor/kl_loss" in (tmp_path / "kl.svg").read_text()
    assert rltui(*words, "--format", "json").code == 2
    pytest.importorskip("cairosvg", exc_type=ImportError)
    rltui(*words, "--output", tmp_path / "kl.png")
    assert (tmp_path / "kl.png").read_bytes().startswith(b"\x89PNG")


def test_png_without_its_extra_says_what_brings_it(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the command, exit code 2."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = rltui("snapshot", logs, "--chart", "actor/kl_loss", "--format", "png")
    assert done.code == 2 and "pip install 'rltui[png]'" in done.err
