"""One training is one run with its dumps, its console and its trackers: default layouts and their oracles."""

from __future__ import annotations

import fnmatch
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from rltui.logs.follow.read_all import read_all
from tests.support.logs.live_logs import Live, delivered_once, lines, write
from tests.support.shared import SHARED

TRACKERS = SHARED / "trackers"
LAYOUTS = (
    "tinker", "nemo-rl", "skyrl-evals", "areal-dump", "areal-console", "verl-rollouts", "swift",
    "open-instruct", "prime-rl", "verifiers-eval", "trl-grpo", "wandb-verl", "wandb-small", "wandb-resumed",
)  # fmt: skip


def matching(names: Iterable[str], globs: Iterable[str]) -> list[str]:
    """The names that match one of the globs."""
    patterns = list(globs)
    return [name for name in names if any(fnmatch.fnmatchcase(name, glob) for glob in patterns)]


@pytest.mark.skipif(not TRACKERS.is_dir(), reason="the shared collection of logs is not here")
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_as_its_oracle_says(name: str) -> None:
    """The runs, the points of each series, and nothing that must be absent."""
    oracle = json.loads((TRACKERS / f"{name}.oracle.json").read_text())
    series: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for each in read_all([TRACKERS / name]):
        if each.source.run and each.source.duplicate_of is None:
            tags = series[each.source.run]
            for tag, step in zip(each.batch.tag.tolist(), each.batch.step.tolist(), strict=True):
                tags[each.batch.tags[tag]].add(step)
    assert len(series) == len(oracle["runs"])
    assert not matching(series, oracle.get("absent", {}).get("runs", []))
    expected = oracle["runs"][0]
    (found,) = series.values()
    assert not matching(found, oracle.get("absent", {}).get("tags", []))
    for tag, said in expected["series"].items():
        assert min(found[tag]) == said["first"][0] and max(found[tag]) == said["last"][0], tag
        assert len(found[tag]) == len(set(said.get("steps", found[tag]))), tag


SAMPLE = '{"input": "2+2?", "output": "4", "score": 1.0}\n{"input": "2+2?", "output": "5", "score": 0.0}\n'


def test_samples_belong_to_the_nearest_run(tmp_path: Path) -> None:
    """Beside two runs each has its own; their means are series of the run, those of an evaluation apart."""
    for run in ("a", "b"):
        write(tmp_path / run / "metrics.jsonl", lines(range(3)))
        write(tmp_path / run / "rollouts/2.jsonl", SAMPLE)
        write(tmp_path / run / "validation/2.jsonl", SAMPLE)
    delivered = delivered_once([tmp_path])
    assert set(delivered.runs()) == {"a", "b"}
    assert ("rltui/score/mean", 2, 0.5) in delivered.points["a/rollouts/2.jsonl"]
    assert ("rltui/val/score/mean", 2, 0.5) in delivered.points["a/validation/2.jsonl"]


def test_samples_without_a_run_are_one_of_their_own(tmp_path: Path) -> None:
    """Rollouts and evaluations of one folder together; so where several runs are equally near."""
    write(tmp_path / "x/rollouts/1.jsonl", SAMPLE)
    write(tmp_path / "x/validation/1.jsonl", SAMPLE)
    delivered = delivered_once([tmp_path])
    assert set(delivered.runs()) == {"x"}
    write(tmp_path / "a/metrics.jsonl", lines(range(3)))
    write(tmp_path / "b/metrics.jsonl", lines(range(3)))
    delivered = delivered_once([tmp_path])
    assert set(delivered.runs()) == {"a", "b", "x"}


def test_samples_join_a_run_that_appears_later(tmp_path: Path) -> None:
    """While it is followed: what they made of their own is withdrawn."""
    live = Live(tmp_path)
    write(tmp_path / "x/rollouts/1.jsonl", SAMPLE)
    live.after(60)
    assert live.delivered.runs() == {"x": ["x/rollouts/1.jsonl"]}
    write(tmp_path / "x/logs/train.jsonl", lines(range(3)))
    live.after(60)
    assert set(live.delivered.runs()) == {"x/logs/train"}
    assert ("rltui/score/mean", 1, 0.5) in live.delivered.points["x/rollouts/1.jsonl"]


def test_samples_of_a_run_that_was_asked_for_come_with_it(tmp_path: Path) -> None:
    """However the samples' folder is called; those of other runs do not."""
    for run in ("a", "b"):
        write(tmp_path / run / "logs/train.jsonl", lines(range(3)))
        write(tmp_path / run / "rollouts/2.jsonl", SAMPLE)
    delivered = delivered_once([tmp_path], run_glob="a/logs/*")
    assert delivered.runs() == {"a/logs/train": ["a/logs/train.jsonl", "a/rollouts/2.jsonl"]}


def test_a_step_that_is_spread_over_files_has_no_means(tmp_path: Path) -> None:
    """AReaL writes a file for each task: the mean of one would not be that of the step."""
    write(tmp_path / "t/metrics.jsonl", lines(range(3)))
    for task in (7, 8):
        write(tmp_path / f"t/rollout/2/{task}.jsonl", '{"task_id": 7, "prompt": "a", "reward": 1.0}\n')
    delivered = delivered_once([tmp_path])
    assert delivered.runs() == {"t": ["t/metrics.jsonl", "t/rollout/2/7.jsonl", "t/rollout/2/8.jsonl"]}
    assert delivered.points["t/rollout/2/7.jsonl"] == []


def test_evaluation_results_repeat_the_log_of_the_run(tmp_path: Path) -> None:
    """SkyRL's results have the step of their folder; where there is no other log they stand for it."""
    results = "exports/dumped_evals/global_step_5_evals/aggregated_results.jsonl"
    write(tmp_path / results, '{"eval/all/avg_score": 0.5}\n')
    delivered = delivered_once([tmp_path])
    assert delivered.points[results] == [("eval/all/avg_score", 5, 0.5)]
    write(tmp_path / "metrics.jsonl", lines(range(3)))
    delivered = delivered_once([tmp_path])
    assert delivered.sources[results].duplicate_of == "." and delivered.points[results] == []
