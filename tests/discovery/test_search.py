"""Finding logs and naming their runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rltui.common.problem import Problem
from rltui.logs.discovery.folder_walk import MAX_OPENED_IN_FOLDER, FolderWalker
from rltui.logs.discovery.logdir_roots import roots_of
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file_names import file_order, rotated_from, stem_of
from rltui.logs.run_names import run_name

COULD = REGISTRY.could_be_log


def make(*paths: Path) -> None:
    """Empty files, with their folders."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def scan(*logdirs: Path) -> tuple[list[FoundFile], list[Problem], tuple[str, ...]]:
    """One walk: the logs by path, the problems, the LOGDIRs that do not exist."""
    walker = FolderWalker(roots_of(logdirs, COULD), COULD, REGISTRY)
    items = list(walker.walk(Calls()))
    found = {item.place: item for item in reversed(items) if isinstance(item, FoundFile)}
    problems = [item for item in items if isinstance(item, Problem)]
    return sorted(found.values(), key=lambda item: item.path), problems, walker.waiting


def runs(*logdirs: Path) -> dict[str, list[str]]:
    """Run names, each with the paths of its logs."""
    said: dict[str, list[str]] = {}
    for each in scan(*logdirs)[0]:
        said.setdefault(each.run, []).append(each.path)
    return said


LINES = "".join(f"[step {k}] loss=0.5 reward={k}.5\n" for k in range(9))


def test_a_file_without_an_ending_is_a_log_by_its_first_lines(tmp_path: Path) -> None:
    """In a folder; other files without an ending are none, and no problem."""
    texts = {
        "logs/dpo_run_1": LINES, "LICENSE": LINES, "Session": "a text\n" * 9, "x": "",
        "train": f"#!/bin/sh\n{LINES}", "metrics/reward": "1700000000000 1.5 1\n" * 9,
    }  # fmt: skip
    for name, text in texts.items():
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    assert runs(tmp_path) == {"logs/dpo_run_1": ["logs/dpo_run_1"]} and not scan(tmp_path)[1]


def test_a_file_without_an_ending_may_become_a_log(tmp_path: Path) -> None:
    """It is looked at again while it is shorter than what is looked at, and not after that."""
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, REGISTRY)
    (tmp_path / "job").write_text("loading\n")
    (tmp_path / "blob").write_text("a text\n" * HEAD)
    assert walker.all_found() == []
    assert {Path(each).name for each in walker.visited_paths().files} == {"job", "blob"}
    (tmp_path / "job").write_text("loading\n" + LINES)
    (tmp_path / "blob").write_text(LINES * 400)
    (tmp_path / "other").touch()
    assert [each.name for each in walker.all_found()] == ["job"]


def test_only_so_many_files_without_an_ending_are_opened(tmp_path: Path) -> None:
    """Those of telling names first; that there are more is said once."""
    for number in range(MAX_OPENED_IN_FOLDER + 1):
        (tmp_path / f"object{number}").write_text(LINES)
    (tmp_path / "train_7").write_text(LINES)
    found, problems, _ = scan(tmp_path)
    assert len(found) == MAX_OPENED_IN_FOLDER and "train_7" in {each.name for each in found}
    assert [(problem.code, problem.path) for problem in problems] == [("not-opened", ".")]


def test_a_history_beside_the_checkpoints_is_found(tmp_path: Path) -> None:
    """Each checkpoint is a folder below, and has copies."""
    make(tmp_path / "checkpoints/run_1/training_log.csv")
    make(tmp_path / "checkpoints/2022-05-24T10-35-12/log.csv")
    for name in (
        "checkpoint-5/trainer_log.jsonl",
        "step_5/metrics.json",
        "5/metrics.json",
        "epoch=5-a/log.csv",
    ):
        make(tmp_path / "checkpoints" / name)
    assert runs(tmp_path) == {
        "checkpoints/run_1": ["checkpoints/run_1/training_log.csv"],
        "checkpoints/2022-05-24T10-35-12": ["checkpoints/2022-05-24T10-35-12/log.csv"],
    }


@pytest.mark.parametrize(
    ("folder", "name", "run"),
    [
        ("", "events.out.tfevents.1.h", "."),
        ("a/b", "events.out.tfevents.1.h", "a/b"),
        ("a", "events.out.tfevents.1.h.v2", "a"),
        ("", "metrics.jsonl", "."),
        ("a", "metrics.jsonl", "a"),
        ("a", "metrics.jsonl.gz", "a"),
        ("a", "metrics.jsonl.1", "a"),
        ("a", "progress.csv", "a"),
        ("a", "progress.json", "a"),
        ("a", "result.json", "a"),
        ("a", "trainer_state.json", "a"),
        ("a", "trainer_log.jsonl", "a"),
        ("a", "log.jsonl", "a"),
        ("a", "console.log", "a"),
        ("a", "progress.txt", "a"),
        ("verl_tiny", "verl-grpo-a.jsonl", "verl_tiny/verl-grpo-a"),
        ("", "seed_1.csv", "seed_1"),
        ("a", "train.jsonl", "a/train"),
        ("a", "eval.jsonl", "a/eval"),
        ("a", "0.monitor.csv", "a/0.monitor"),
        ("a", "run-PPO_1-tag-rollout_ep_rew_mean.csv", "a/PPO_1"),
        ("a", "run-.-tag-loss.csv", "a"),
        ("a/run-20250302_115218-k3j", "run-k3j.wandb", "a/k3j"),
        ("a/run-20250302_115218-k3j/files", "output.log", "a/k3j"),
        ("a/files", "output.log", "a/files"),
        ("files", "output.log", "."),
        ("results/sacred/3", "info.json", "results/sacred/3"),
        ("joint", "events.out.tfevents.1.h.rank0", "joint"),
        ("joint", "events.out.tfevents.1.h.rank2", "joint/rank2"),
        ("a\x1b[31m", "metrics.jsonl", "a\\x1b[31m"),
    ],
)
def test_run_names(folder: str, name: str, run: str) -> None:
    """Plain metrics files and event files belong to the run of their folder, others add their stem."""
    assert run_name(folder, name).run == run


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("metrics.jsonl.1", "metrics.jsonl"),
        ("metrics.jsonl.12.gz", "metrics.jsonl"),
        ("metrics.jsonl-20261120", "metrics.jsonl"),
        ("metrics.jsonl.old", None),  # a copy as likely as a predecessor
        ("metrics.jsonl", None),
        ("seed_1.csv", None),
        ("events.out.tfevents.1795160848.vm.17170.1", None),
    ],
)
def test_rotated_names(name: str, base: str | None) -> None:
    """A rotated log is known by the name that it had; event files end in numbers of their own."""
    assert rotated_from(name) == base


def test_order_of_rotated_logs() -> None:
    """Rotated logs are read oldest first, before the present one."""
    names = ["metrics.jsonl", "metrics.jsonl.1", "metrics.jsonl.10", "metrics.jsonl.2"]
    assert sorted(names, key=file_order) == [names[2], names[3], names[1], names[0]]
    dated = ["m.jsonl-20261103", "m.jsonl-20261028", "m.jsonl"]
    assert sorted(dated, key=file_order) == [dated[1], dated[0], dated[2]]


def test_stems() -> None:
    """A stem is the name without the format's ending, and never empty."""
    assert [stem_of(name) for name in ("a.b.jsonl", "x.csv.gz", "trace", ".csv")] == [
        "a.b",
        "x",
        "trace",
        ".csv",
    ]


def test_walk_names_runs_below(tmp_path: Path) -> None:
    """A LOGDIR is searched recursively, and the folder itself is `.`."""
    make(tmp_path / "metrics.jsonl", tmp_path / "a/b/events.out.tfevents.1.h", tmp_path / "a/progress.csv")
    assert runs(tmp_path) == {
        ".": ["metrics.jsonl"],
        "a": ["a/progress.csv"],
        "a/b": ["a/b/events.out.tfevents.1.h"],
    }


def test_run_folder_and_single_file(tmp_path: Path) -> None:
    """A run folder is the run `.`; a single file is read alone."""
    make(tmp_path / "run/metrics.jsonl", tmp_path / "run/other.jsonl", tmp_path / "run/sub/metrics.jsonl")
    assert list(runs(tmp_path / "run")) == [".", "other", "sub"]
    assert runs(tmp_path / "run/metrics.jsonl") == {".": ["metrics.jsonl"]}
    assert runs(tmp_path / "run/other.jsonl") == {"other": ["other.jsonl"]}


def test_single_file_of_any_name(tmp_path: Path) -> None:
    """A file that is given is read whatever its name is, if its content is a log."""
    make(tmp_path / "strange.name")
    assert runs(tmp_path / "strange.name") == {"strange.name": ["strange.name"]}


def test_several_logdirs_are_told_apart(tmp_path: Path) -> None:
    """Folder names go in front, with as many parents as it takes; files of one folder need none."""
    make(*(tmp_path / f"{user}/logs/run/metrics.jsonl" for user in ("ann", "bob")))
    assert list(runs(tmp_path / "ann", tmp_path / "bob")) == ["ann/logs/run", "bob/logs/run"]
    assert list(runs(tmp_path / "ann/logs", tmp_path / "bob/logs")) == ["ann/logs/run", "bob/logs/run"]
    make(tmp_path / "x/a.jsonl", tmp_path / "x/b.jsonl")
    assert runs(tmp_path / "x/a.jsonl", tmp_path / "x/b.jsonl") == {"a": ["a.jsonl"], "b": ["b.jsonl"]}


def test_logdir_within_a_logdir(tmp_path: Path) -> None:
    """A folder that is given twice, or lies in another one given, is visited once."""
    make(tmp_path / "x/run/metrics.jsonl")
    assert list(runs(tmp_path, tmp_path)) == ["x/run"]
    assert len(runs(tmp_path / "x", tmp_path / "x/run")) == 1


def test_missing_logdirs_are_named(tmp_path: Path) -> None:
    """LOGDIRs that do not exist are told, the others searched."""
    make(tmp_path / "here/metrics.jsonl")
    found, problems, missing = scan(tmp_path / "here", tmp_path / "not")
    assert [each.run for each in found] == ["here"]
    assert problems == []
    assert missing == (str(tmp_path / "not"),)


def test_link_to_a_run_beside_it(tmp_path: Path) -> None:
    """A run is known by its own folder, also when a link to it sorts before; links outside are followed."""
    make(tmp_path / "logs/run_5/metrics.jsonl", tmp_path / "out/metrics.jsonl", tmp_path / "out/single.jsonl")
    (tmp_path / "logs/latest").symlink_to("run_5")
    (tmp_path / "logs/run_5/copy.jsonl").symlink_to("metrics.jsonl")
    (tmp_path / "logs/outside").symlink_to(tmp_path / "out")
    assert list(runs(tmp_path / "logs")) == ["outside", "outside/single", "run_5"]


def test_linked_logdir(tmp_path: Path) -> None:
    """LOGDIR itself may be a link."""
    make(tmp_path / "real/run/metrics.jsonl")
    (tmp_path / "link").symlink_to("real")
    assert list(runs(tmp_path / "link")) == ["run"]


def _walk(walker: FolderWalker) -> list[str]:
    return [item.path for item in walker.walk(Calls()) if isinstance(item, FoundFile)]


def test_later_walks_list_only_what_changed(tmp_path: Path) -> None:
    """After the first walk only folders whose time stamp changed are listed, and new ones."""
    make(tmp_path / "a/metrics.jsonl", tmp_path / "b/metrics.jsonl")
    for folder in (tmp_path / "a", tmp_path / "b", tmp_path):
        os.utime(folder, (1000.0, 1000.0))
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, wall=lambda: 1e9)
    assert _walk(walker) == ["a/metrics.jsonl", "b/metrics.jsonl"]
    assert _walk(walker) == []
    make(tmp_path / "b/other.jsonl", tmp_path / "c/d/metrics.jsonl")
    assert _walk(walker) == ["b/metrics.jsonl", "b/other.jsonl", "c/d/metrics.jsonl"]
    assert walker.counts is not None and walker.counts[1] == 5


def test_young_folders_are_not_trusted(tmp_path: Path) -> None:
    """A folder that changed a moment ago is listed again: a second change may carry the same time stamp."""
    make(tmp_path / "metrics.jsonl")
    os.utime(tmp_path, (1000.0, 1000.0))
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, wall=lambda: 1000.5)
    _walk(walker)
    make(tmp_path / "other.jsonl")
    os.utime(tmp_path, (1000.0, 1000.0))
    assert _walk(walker) == ["metrics.jsonl", "other.jsonl"]


def test_walk_can_pause(tmp_path: Path) -> None:
    """A walk over many entries offers chances to stop, so that a huge folder blocks nothing."""
    make(*(tmp_path / f"model_{n}.bin" for n in range(2000)), tmp_path / "metrics.jsonl")
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD)
    assert sum(item is None for item in walker.walk(Calls())) >= 7


def test_many_small_runs(tmp_path: Path) -> None:
    """Thousands of logs are found in one walk, each once, with one look at each folder."""
    make(*(tmp_path / f"group{n % 20}/events.out.tfevents.{n}.h" for n in range(3000)))
    found, problems, _ = scan(tmp_path)
    assert len({each.path for each in found}) == len(found) == 3000
    assert problems == []


def test_socket_of_a_name_like_a_log(tmp_path: Path) -> None:
    """What is named like a log but cannot be one is told once."""
    os.mkfifo(tmp_path / "metrics.jsonl")
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD)
    told = [item for _ in range(3) for item in walker.walk(Calls(), full=True) if isinstance(item, Problem)]
    assert [(problem.code, problem.path) for problem in told] == [("not-a-file", "metrics.jsonl")]


def test_walks_count_changes_of_any_file(tmp_path: Path) -> None:
    """What is no log tells of itself, too; what only grows does not."""
    make(tmp_path / "a/metrics.jsonl", tmp_path / "b/metrics.jsonl")
    folders = [tmp_path, tmp_path / "a", tmp_path / "b"]

    def walk() -> int:
        list(walker.walk(Calls()))
        return walker.changes

    def set_times(at: float) -> None:
        for folder in folders:
            os.utime(folder, (at, at))

    set_times(1e9)
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, REGISTRY)
    first = walk()
    (tmp_path / "a/metrics.jsonl").write_text("{}\n")
    assert walk() == walk() == first
    make(tmp_path / "b/anything.xyz")
    set_times(1.1e9)
    assert walk() > first
    known = walk()
    (tmp_path / "b/metrics.jsonl").unlink()
    (tmp_path / "b/anything.xyz").unlink()
    (tmp_path / "b").rmdir()
    folders.pop()
    set_times(1.15e9)
    assert walk() > known
    (tmp_path / "a/link").symlink_to(tmp_path)
    set_times(1.2e9)
    known = walk()
    assert walk() == known


def test_walks_count_what_links_lead_to(tmp_path: Path) -> None:
    """It changes without its folder: a file comes, another one stands there, it goes."""
    folder, target = tmp_path / "logs", tmp_path / "outside/train.log"
    folder.mkdir()
    (folder / "train.log").symlink_to(target)
    make(tmp_path / "outside/other.log")
    os.utime(folder, (1e9, 1e9))
    walker = FolderWalker(roots_of([folder], COULD), lambda _: False)

    def walk() -> int:
        list(walker.walk(Calls()))
        return walker.changes

    first = walk()
    assert walk() == first
    make(target)
    assert walk() == first + 1
    assert walk() == first + 1
    (tmp_path / "outside/other.log").rename(target)
    assert walk() == first + 2
    target.unlink()
    assert walk() == first + 3
    assert walk() == first + 3


def test_a_folder_listed_anew_with_the_same_names_has_not_changed(tmp_path: Path) -> None:
    """As on network file systems, whose folders are listed at each walk; a file that became a folder has."""
    make(tmp_path / "a/metrics.jsonl", tmp_path / "a/other.xyz")
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, REGISTRY, trust_times=False)

    def walk() -> int:
        list(walker.walk(Calls()))
        return walker.changes

    first = walk()
    assert walk() == walk() == first
    (tmp_path / "a/other.xyz").unlink()
    assert walk() == first + 1
    (tmp_path / "a/other.xyz").mkdir()
    assert walk() > first + 1
    known = walk()
    (tmp_path / "a/other.xyz").rmdir()
    make(tmp_path / "a/other.xyz")
    assert walk() > known


def test_a_folder_that_comes_back_is_listed_anew(tmp_path: Path) -> None:
    """Its time may be that of before, and what is in it another log."""
    make(tmp_path / "a/run/metrics.jsonl")
    walker = FolderWalker(roots_of([tmp_path], COULD), COULD, REGISTRY)

    def names() -> list[str]:
        return [item.path for item in walker.walk(Calls()) if isinstance(item, FoundFile)]

    for folder in (tmp_path, tmp_path / "a", tmp_path / "a/run"):
        os.utime(folder, (1e9, 1e9))
    assert names() == ["a/run/metrics.jsonl"]
    assert names() == []
    (tmp_path / "a").rename(tmp_path.parent / f"{tmp_path.name}-aside")
    os.utime(tmp_path, (1e9, 1e9))
    assert names() == []  # gone, and its parent says nothing of it
    (tmp_path.parent / f"{tmp_path.name}-aside").rename(tmp_path / "a")
    os.utime(tmp_path, (1e9, 1e9))
    assert names() == ["a/run/metrics.jsonl"]
