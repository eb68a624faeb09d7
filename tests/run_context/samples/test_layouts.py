"""Layouts of sample files: what each framework writes becomes samples with texts, rewards and groups."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.follow.read_all import assign_all
from rltui.logs.sample_layouts.sample import Sample
from rltui.run_context.samples.indexes_by_run import sample_indexes_of
from rltui.run_context.samples.sample_files import sample_files
from rltui.run_context.samples.sample_index import SampleIndex
from rltui.screen.threads.samples_thread import SEARCH_SECONDS_HIDDEN, SEARCH_SECONDS_UNCHANGED, _Reader
from tests.support.logs.live_logs import write_rows
from tests.support.shared import SHARED, needs_shared

MESSAGES = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
EPISODE = {
    "id": "e1", "env": {"id": "math"}, "group": {"id": "g7"}, "ok": True,
    "task": {"data": {"prompt": "2+2?"}},
    "traces": [{
        "nodes": [{"message": message} for message in MESSAGES],
        "num_output_tokens": 5, "stop_condition": "done",
        "rewards": {"correct": {"score": 1.0, "weight": 1.0}, "format": {"score": 1.0, "weight": 0.5}},
    }],
}  # fmt: skip

CASES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "verl": ("rollouts/7.jsonl", [{"input": "2+2?", "output": "4", "score": 1.5, "uid": "g7"}]),
    "verl, validation": ("validation/7.jsonl", [{"input": "2+2?", "output": "4", "score": 1.5, "uid": "g7"}]),
    "areal": (
        "trial/rollout/7/300.jsonl",
        [{"task_id": "g7", "prompt": "2+2?", "completion": "4", "reward": 1.5}],
    ),
    "prime-rl": ("rollouts/step_7/train/all/traces.jsonl", [EPISODE]),
    "nemo-rl": ("exp_001/train_data_step7.jsonl", [{"content": [MESSAGES], "rewards": [1.5], "idx": 0}]),
    "skyrl": (
        "dumped_evals/global_step_7_evals/gsm8k.jsonl",
        [{"input_prompt": "2+2?", "output_response": "4", "score": [0.5, 0.0, 1.0], "stop_reason": "stop"}],
    ),
    "ms-swift": (
        "completions.jsonl",
        [{"step": ["7", "7"], "prompt": ["2+2?", "2+2?"], "completion": ["4", "5"], "Acc": [1.5, 0.0]}],
    ),
}


def index(root: Path) -> SampleIndex:
    """All samples below a folder."""
    made = SampleIndex()
    made.add(sample_files(str(root)))
    assert made.refresh(60.0)
    return made


def first(root: Path) -> Sample:
    """The first sample below a folder, with its text."""
    found = index(root)
    return found.load(found.heads[0])


@pytest.mark.parametrize("name", CASES)
def test_a_framework_s_layout(name: str, tmp_path: Path) -> None:
    """Step, prompt, answer and reward are found."""
    path, records = CASES[name]
    write_rows(tmp_path / path, records)
    sample = first(tmp_path)
    assert (sample.step, sample.prompt, sample.response, sample.reward) == (7, "2+2?", "4", 1.5)


def test_tinker_s_texts_lie_beside_its_numbers(tmp_path: Path) -> None:
    """The logtree's conversations belong to the first trajectories; the others say why they have no text."""
    folder = tmp_path / "iteration_000007"
    rows = [
        {"group_idx": 0, "traj_idx": k, "total_reward": float(k), "steps": [{"ac_len": 6}]} for k in range(2)
    ]
    write_rows(folder / "train_rollout_summaries.jsonl", rows)
    tree = [{"children": [], "data": {"type": "conversation", "messages": [message]}} for message in MESSAGES]
    (folder / "train_logtree.json").write_text(json.dumps({"root": {"children": tree}}))
    found = index(tmp_path)
    one, other = (found.load(head) for head in found.heads)
    assert (one.step, one.prompt, one.response, one.reward, one.length) == (7, "2+2?", "4", 0.0, 6)
    assert other.response == "" and "not logged" in other.note


def test_token_ids_without_text_say_so(tmp_path: Path) -> None:
    """Open-Instruct writes ids only."""
    row = {"step": 3, "prompt_idx": 1, "prompt_tokens": [1, 2], "response_tokens": [3, 4, 5], "reward": 10.0}
    write_rows(tmp_path / "run_rollouts_000000.jsonl", [row])
    sample = first(tmp_path)
    assert (sample.step, sample.length, sample.reward, sample.group) == (3, 3, 10.0, "1")
    assert sample.note.startswith("token ids only")


def test_a_table_of_weights_and_biases(tmp_path: Path) -> None:
    """One row a sample, or veRL's wide rows; the step is that of the row in the log where it is known."""
    folder = tmp_path / "files" / "media" / "table"
    folder.mkdir(parents=True)
    tall = {"columns": ["prompt", "completion", "reward"], "data": [["2+2?", "4", 1.0]]}
    wide = {"columns": ["step", "input_1", "output_1", "score_1", "input_2", "output_2", "score_2"],
            "data": [[7, "a", "b", 0.5, "c", "d", 1.0]]}  # fmt: skip
    (folder / "completions_9_0123456789ab.table.json").write_text(json.dumps(tall))
    (folder / "val_7_0123456789ab.table.json").write_text(json.dumps(wide))
    made = SampleIndex(lambda: {"completions_9_0123456789ab.table.json": 10})
    made.add(sample_files(str(tmp_path)))
    made.refresh(60.0)
    by_split = {(head.split, head.step): made.load(head) for head in made.heads}
    assert by_split["completions", 10].response == "4"
    assert [head.reward for head in made.heads if head.split == "val"] == [0.5, 1.0]


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    """A torch dump is named with the reason; no sample comes of it."""
    (tmp_path / "rollout_data").mkdir()
    (tmp_path / "rollout_data" / "3.pt").write_bytes(b"not even read")
    found = index(tmp_path)
    assert not found.heads and [problem.code for problem in found.problems.values()] == ["not-opened"]


def test_a_growing_file_gives_each_sample_once(tmp_path: Path) -> None:
    """A torn line waits for its end; what is rewritten is read anew."""
    path = tmp_path / "rollouts" / "1.jsonl"
    path.parent.mkdir()
    line = json.dumps({"input": "a", "output": "b", "score": 1.0}) + "\n"
    path.write_text(line + line[:20])
    found = index(tmp_path)
    assert len(found.heads) == 1
    with path.open("a") as file:
        file.write(line[20:])
    found.refresh(60.0)
    assert len(found.heads) == 2
    path.write_text(line)
    found.refresh(60.0)
    assert len(found.heads) == 1


def test_gzip_and_damage(tmp_path: Path) -> None:
    """A compressed dump is read; lines that are no JSON are left out and said."""
    folder = tmp_path / "rollouts"
    folder.mkdir()
    line = json.dumps({"input": "a", "output": "b", "score": 1.0}) + "\n"
    (folder / "1.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    (folder / "2.jsonl").write_text("{not json\n" + line)
    found = index(tmp_path)
    assert [head.step for head in found.heads] == [2, 1]
    assert [problem.code for problem in found.problems.values()] == ["not-json"]


def _nearest(*runs: tuple[str, str]) -> NearestRun:
    """Runs by the paths of a log of each."""
    nearest = NearestRun()
    for run, path in runs:
        nearest.add_all(run, [path])
    return nearest


def test_a_file_belongs_to_the_nearest_run() -> None:
    """The deepest run that holds it, else the one whose folder is nearest, else none."""
    runs = _nearest(("a", "a/x.jsonl"), ("a/b", "a/b/x.jsonl"), ("c", "c/x.jsonl"))
    assert runs.of("a/b/rollouts") == "a/b"
    assert _nearest(("p/e", "p/x.jsonl")).of("rollouts") == "p/e"
    assert runs.of("rollouts") is None


def test_what_prime_rl_writes_twice_is_counted_once(tmp_path: Path) -> None:
    """An answer that was trained on stands in `all` and in `effective`; it is one, and its split tells."""
    first_one, second = (EPISODE | {"id": name} for name in ("e1", "e2"))
    step = tmp_path / "rollouts" / "step_7" / "train"
    write_rows(step / "all" / "traces.jsonl", [first_one, second])
    made = index(tmp_path)
    write_rows(step / "effective" / "traces.jsonl", [second])
    made.add(sample_files(str(tmp_path)))
    assert made.refresh(60.0)
    for each in (made, index(tmp_path)):
        assert [head.split for head in each.heads] == ["train/all", "train/effective"]
        assert each.load(each.heads[1]).split == "train/effective"
    (step / "all" / "traces.jsonl").unlink()
    assert [head.split for head in index(tmp_path).heads] == ["train/effective"]


@needs_shared
@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("tinker", "tinker-examples/gsm8k-Llama-3.2-1B-16group-4e-05lr"),
        ("wandb-small", "wandb/9kxxomjj"),
        ("skyrl-evals", "wandb/ppf149wy"),
        ("trackio-closed", "trackio/verl_tiny/grpo-a"),
        ("verifiers-eval", "outputs/gsm8k--Qwen--Qwen3-4B--null--8cd272e0"),
    ],
)
def test_samples_have_the_name_of_their_run(name: str, run: str) -> None:
    """The samples of a log belong to the run that discovery says, whatever the files are called."""
    folder = str(SHARED / "trackers" / name)
    assert run in (found := sample_indexes_of([folder]))
    assert set(found) <= {log.run for log in assign_all([folder])[0]}


def test_files_are_searched_for_again_when_folders_changed(tmp_path: Path) -> None:
    """Once a minute then, and where a file may come to hold samples; less often else."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    reader = _Reader([str(tmp_path)])
    runs = {".": ("metrics.jsonl",)}

    def wait(changes: int | None) -> float:
        return round(reader.search_due(False, runs, changes) - reader._search_ended, 6)  # of large clocks

    reader.search(runs, 1)
    assert [wait(changes) for changes in (1, 2, None)] == [
        SEARCH_SECONDS_UNCHANGED,
        SEARCH_SECONDS_HIDDEN,
        SEARCH_SECONDS_HIDDEN,
    ]
    due = reader.search_due(False, {"a": ("metrics.jsonl",)}, 1)
    assert due - reader._search_ended == pytest.approx(SEARCH_SECONDS_HIDDEN)
    (tmp_path / "samples.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    reader.search(runs, 2)
    assert wait(2) == SEARCH_SECONDS_HIDDEN
    (tmp_path / "samples.jsonl").unlink()
    (tmp_path / "checkpoint_evals").mkdir()
    reader.search(runs, 3)
    assert wait(3) == SEARCH_SECONDS_HIDDEN
