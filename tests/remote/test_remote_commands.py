"""Commands on a remote folder: the same bytes as on the same local tree, but for the location."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from rltui.common import writable_paths
from rltui.logs.remote.remote_folders import REMOTE
from tests.formats.test_evaluation_arrays import written
from tests.support.commands.in_process import Done, rltui
from tests.support.logs.live_logs import lines, write
from tests.support.remote.mirrors import memory, own_cache
from tests.support.shared import BUNDLED

__all__ = ["memory", "own_cache"]

pytestmark = pytest.mark.usefixtures("own_cache")

WHEN = 1_700_000_000.0
TREES = ("verl-grpo-nan", "sb3-ppo-resume", "rllib-ppo")
AGES = re.compile(r'"(?:age|now)": [0-9.e+-]+')


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """Several runs, settings, rollouts, a console, and a file that is no log."""
    place = tmp_path / "tree"
    for name in TREES:
        shutil.copytree(BUNDLED / name, place / name)
    write(place / "plain/metrics.jsonl", lines(range(300)))
    write(place / "plain/config.yaml", "learning_rate: 0.001\n")
    write(place / "torn/metrics.jsonl", lines(range(30)) + '{"step": 30, "lo')
    write(place / "rolled/0.jsonl", '{"input": "2+2", "output": "4", "score": 1.0, "step": 0}\n' * 3)
    write(place / "rltui.toml", 'aliases = { loss = "policy.loss" }\n')
    for path in place.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():
            os.utime(path, (WHEN, WHEN))
    return place


@pytest.fixture
def remote(local: Path, memory: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same in a store that tells the same times."""
    memory.put(str(local), "/tree", recursive=True)
    find = type(memory).find

    def dated(self: Any, *words: Any, **options: Any) -> Any:
        found = find(self, *words, **options)
        return {name: {**about, "created": WHEN} for name, about in found.items()}

    monkeypatch.setattr(type(memory), "find", dated)
    return "memory://tree"


def plain(done: Done, place: str) -> tuple[int, str, str]:
    """The answer without its location and without what the clock says."""
    out, err = (AGES.sub('"age": 0', text.replace(place, "LOGDIR")) for text in (done.out, done.err))
    return done.code, out, err


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--json"),
        ("check",),
        ("check", "--format", "markdown", "--fail-on", "never"),
        ("check", "--json", "--at-step", "20"),
        ("check", "--json", "--engine", "processes:1"),
        ("check", "--json", "--shard", "1/2"),
        ("runs", "--json"),
        ("runs", "--run", "step>100"),
        ("runs", "--json", "--run", "verl-grpo-nan"),
        ("export",),
        ("export", "--format", "csv", "--metric", "*loss*"),
        ("samples", "--format", "jsonl", "--limit", "0"),
        ("snapshot", "--pane", "all", "--run", "plain"),
        ("snapshot", "--pane", "config", "--run", "plain"),
        ("report", "--run", "plain"),
        ("compare", "--baseline", "plain", "--json"),
        ("wait", "--until", "end", "--timeout", "20", "--json"),
        ("wait", "--until", "step>=50", "--timeout", "20", "--json"),
    ],
    ids=" ".join,
)
def test_the_same_answer_as_for_a_local_tree(local: Path, remote: str, words: tuple[str, ...]) -> None:
    """Findings, exit codes and every byte of JSON are equal; only the location differs."""
    here = plain(rltui(*words, local), str(local))
    there = plain(rltui(*words, remote), remote)
    if words[0] == "wait":  # tells the time, and how long it waited
        clock = re.compile(r'"waited": [0-9.]+|\b\d\d:\d\d:\d\d\b')
        here, there = ((code, clock.sub("", out), err) for code, out, err in (here, there))
    assert there == here
    assert here[0] in (0, 1)


def test_two_remote_folders_are_told_apart(memory: Any) -> None:
    """As two local ones are: by the last names of their places."""
    for bucket in ("first", "second"):
        memory.pipe_file(f"/{bucket}/runs/a/metrics.jsonl", lines(range(9)).encode())
    done = rltui("runs", "--json", "memory://first/runs", "memory://second/runs")
    assert sorted(run["run"] for run in done.json()["runs"]) == ["first/runs/a", "second/runs/a"]


def test_arrays_are_fetched_where_they_are_evaluations(memory: Any) -> None:
    """Other archives of arrays may be large, and are never read."""
    for name in ("evaluations.npz", "replay_buffer.npz"):
        memory.pipe_file(f"/bucket/ppo_1/{name}", written(3))
    (run,) = rltui("runs", "--json", "memory://bucket").json()["runs"]
    assert [source["path"] for source in run["sources"]] == ["ppo_1/evaluations.npz"]
    assert (run["last_step"], run["series"]) == (3000, 2)
    assert [name.name for name in Path(writable_paths.local_path("memory://bucket")).rglob("*.npz")] == [
        "evaluations.npz"
    ]


def test_doctor_tells_what_a_remote_folder_costs(local: Path, remote: str) -> None:
    """Requests a look and an hour, the limit, and where the mirror lies."""
    found = rltui("doctor", "--json", remote).json()
    (folder,) = found["remote"]
    assert folder["url"] == remote
    assert folder["requests_of_listing"] == 1
    assert (folder["requests_per_hour"], folder["idle_per_hour"], folder["limit"]) == (120.0, 12.0, 10_000)
    assert folder["requests"] == 1 + sum(
        path.stat().st_size > 0 for path in local.rglob("*") if path.is_file()
    )
    assert found["follow"]["file_systems"][0][0] == remote
    assert found["follow"]["file_systems"][0][1].startswith("memory by way of ")
    said = rltui("doctor", remote).out
    assert "a look every 30 s while something changes" in said
    assert "120 to 12 requests an hour" in said
    assert rltui("doctor", "--json", local).json()["remote"] == []


def test_the_limit_of_requests_is_an_option_and_a_setting(
    remote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that may not ask for all that it needs ends with 2 and says which number to raise."""
    done = rltui("check", "--requests-per-hour", "10", remote)
    assert (done.code, done.out) == (2, "")
    assert "the limit of 10 requests an hour is reached; raise requests_per_hour for more" in done.err
    REMOTE.forget()
    config = write(tmp_path / "config.toml", "[remote]\nrequests_per_hour = 11\npoll = 60\n")
    monkeypatch.setenv("RLTUI_CONFIG", str(config))
    shutil.rmtree(tmp_path / "cache")
    assert "the limit of 11 requests an hour" in rltui("check", remote).err


def test_limits_are_read_from_the_users_own_file_alone(remote: str, memory: Any) -> None:
    """A file beside the logs must not raise what they cost."""
    memory.pipe_file("/tree/rltui.toml", b"[remote]\nrequests_per_hour = 1000000\n")
    done = rltui("runs", remote)
    assert "remote is read only from your own file" in done.err
    assert REMOTE.of(remote).mirror.limits.requests_per_hour == 10_000


def test_a_password_in_a_url_is_not_shown(memory: Any) -> None:
    """Not in results, not in errors."""
    memory.pipe_file("/me:hunter2@place/metrics.jsonl", lines(range(9)).encode())
    done = rltui("check", "--json", "memory://me:hunter2@place")
    assert done.code == 0
    assert done.json()["logdir"] == "memory://me@place"
    missing = rltui("check", "memory://me:hunter2@nowhere")
    assert missing.code == 2
    assert "hunter2" not in done.out + done.err + missing.out + missing.err


def test_engines_of_other_machines_are_refused(remote: str) -> None:
    """They do not see the mirror, which lies in the cache of this one."""
    pytest.importorskip("submitit")
    done = rltui("check", "--engine", "slurm", remote)
    assert done.code == 2
    assert (
        "--engine slurm does not see what is fetched of memory://tree: use processes, or --shard" in done.err
    )


def test_a_result_never_goes_into_a_mirror(remote: str, own_cache: Path) -> None:
    """The mirror counts as the LOGDIR that it is."""
    rltui("runs", remote)
    (place,) = own_cache.glob("*/files/tree")
    done = rltui("report", "--run", "plain", "--output", place / "report.md", remote)
    assert done.code == 2
    assert not (place / "report.md").exists()
