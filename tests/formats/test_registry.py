"""Which files are logs, and that every real text log is read as its oracle says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.formats.container import Container
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.printed_metrics import labelled_console
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.log_file.format_detection import FormatDetection
from tests.support.logs.file_in_memory import MemFile, rows
from tests.support.logs.text_oracles import differences, oracle_cases, read_path
from tests.support.shared import BUNDLED, needs_shared

STEP_KEYS = {
    "metrics.jsonl": "step",
    "trainer_log.jsonl": "current_steps",
    "result.json": "training_iteration",
    "progress.json": "time/total_timesteps",
    "trainer_state.json": "step",
    "PPO_LunarLander-v2_log_0.csv": "timestep",
}
CASES = oracle_cases()


def step_key(path: Path, keys: dict[str, Any]) -> str | None:
    """The oracle key that the reader takes as the axis."""
    if path.name == "progress.csv":
        return next((key for key in ("time/total_timesteps", "training_iteration") if key in keys), None)
    return STEP_KEYS.get(path.name, "step")


@needs_shared
@pytest.mark.parametrize(("path", "said"), CASES, ids=[f"{p.parent.name}-{p.name}" for p, _ in CASES])
def test_real_logs_agree_with_their_oracles(path: Path, said: dict[str, Any]) -> None:
    """Counts, sums, non-finite and last values of each key of real text logs are as plain Python has it."""
    if path.name == "checkpoints.jsonl":
        assert (
            REGISTRY.recognise(path.name, path.read_bytes()[:HEAD]) is None
        )  # names of checkpoints, no metrics
        return
    batch = read_path(path)
    key = step_key(path, said["keys"])
    assert differences(batch, said["keys"], key) == []
    if key in said["keys"]:
        assert batch.step[-1] == said["keys"][key]["last"]


def test_bundled_logs_agree_with_their_oracle() -> None:
    """The same for the few logs that the project carries."""
    for name, keys in json.loads((BUNDLED / "text_oracle.json").read_text()).items():
        path = BUNDLED / name
        said = {
            key: {"numeric": row[0], "nonfinite": row[1], "last": row[2], "sum_finite": row[3]}
            for key, row in keys.items()
        }
        assert differences(read_path(path), said, step_key(path, said)) == [], name


def test_duplicates_of_one_training_agree() -> None:
    """One training logged as JSON lines, CSV and console gives the same points in each format."""
    for folder, names in {
        "sb3-sac": ("progress.json", "progress.csv"),
        "rllib-ppo": ("result.json", "progress.csv"),
        "verl-grpo-nan": ("verl-grpo-nan.jsonl", "console.log"),
    }.items():
        batches = [read_path(BUNDLED / folder / name) for name in names]
        first, second = (
            {
                (tag, step): value
                for tag, step, value in rows(batch)
                if value is not None and math.isfinite(value)
            }
            for batch in batches
        )
        both = first.keys() & second.keys()
        assert len(both) > 200
        # Stable-Baselines3 rounds float32 values in its CSV.
        assert all(abs(first[point] - second[point]) <= 1e-6 * abs(first[point]) for point in both)


@pytest.mark.parametrize(
    ("name", "head", "form"),
    [
        ("metrics.jsonl", b'{"step": 1, "loss": 0.5}\n', "jsonl"),
        ("run-a.jsonl", b'{"step": 1, "data": {"critic/score/mean": 0.5}}\n', "jsonl"),
        ("result.json", b'{"training_iteration": 1, "episode_reward_mean": 3.0}\n', "jsonl"),
        ("result.json", b'{"config": {"lr": 0.5, ' + b'"x": 1, ' * 600, "jsonl"),
        ("progress.json", b'{"time/total_timesteps": 1024, "rollout/ep_rew_mean": 3.0}\n', "jsonl"),
        ("logging.jsonl", b'{"loss": 1.5, "global_step/max_steps": "1/438"}\n', "jsonl"),
        ("train_metrics.jsonl", b'{"loss": 1.5}\n{"loss": 1.4}\n', "jsonl"),
        ("log.csv", b'{"generation": 0, "fitness": -7.5}\n{"generation": 1, "fitness": -7}\n', "jsonl"),
        ("log.csv", b'\xef\xbb\xbf{"step": 1, "loss": 0.5}\n', "jsonl"),
        ("log.csv", b'\r\n\n{"step": 1, "loss": 0.5}\n', "jsonl"),
        ("metrics.tsv", b'{ "step": 1, "loss": 0.5}\n', "jsonl"),
        ("metrics.jsonl", b'\xef\xbb\xbf{"step": 1, "loss": NaN}\n', "jsonl"),
        ("metrics.jsonl", b'{"type": "config", "lr": "x"}\n{"step": 0, "loss": 1}\n', "jsonl"),
        ("trainer_state.json", b'{\n  "best_metric": null,\n  "log_history": [\n', "document"),
        ("trainer_state.json", b'{"best_metric": null, "log_history": [{"loss": 1, "step": 1}]}', "document"),
        ("history.json", b'[{"step": 1, "loss": 2.0}, {"step": 2', "document"),
        ("metrics.jsonl", b'{\n  "step": 1,\n  "loss": 2.0\n}\n{\n', "document"),
        ("progress.csv", b"time/fps,time/total_timesteps\n100,1024\n", "csv"),
        ("my_run.csv", b"episode,timestep,reward\n6,600,-230.5\n", "csv"),
        ("0.monitor.csv", b'#{"t_start": 1614619328.3}\nr,l,t\n10.0,10,0.8\n', "csv"),
        ("progress.txt", b"Epoch\tAverageEpRet\n0\t1.5\n", "csv"),
        ("train.log", b"noise\nstep:1 - actor/lr:0.1 - b:2\n", "console"),
        ("slurm-12.out", b"(TaskRunner pid=12) step:1 - b:2\n", "console"),
        ("7.jsonl", b'{"input": "1+1=", "output": "2", "gts": "2", "score": 1.0, "step": 7}\n', "samples"),
        ("results.jsonl", b'{"example_id": 0, "prompt": [], "completion": [{}], "reward": 0.5}\n', "samples"),
        ("r.jsonl", b'{"step": 1, "prompt_id": 3, "reward": 0.5}\n', "samples"),
        ("12.jsonl", b'{"input": "' + b"x" * 5000, "samples"),
        ("events.out.tfevents.1.host", b"", "tfevents"),
    ],
)
def test_logs_are_recognised(name: str, head: bytes, form: str) -> None:
    """Each format knows its files by name and head, and passes the cheap test of names."""
    found = REGISTRY.recognise(name, head[:HEAD])
    assert found is not None
    assert found.name == form
    assert REGISTRY.could_be_log(name)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("config.json", b'{"learning_rate": 4e-05, "max_steps": 100}\n'),
        ("params.json", b'{"step": 1, "lr": 0.1}\n'),
        ("config.json", b'{\n  "hidden_size": 64,\n  "step": 3\n}\n'),
        ("package.json", b'{"version": 1, "step": 2}\n'),
        ("tokenizer.json", b'{"version": "1.0", "step": 1, "truncation": 2}\n'),
        ("tokenizer_config.json", b'{"model_max_length": 1024}\n'),
        ("generation_config.json", b'{"top_k": 50}\n'),
        ("model.safetensors.index.json", b'{"metadata": {"total_size": 1}}\n'),
        ("hparams.yml", b"lr: 0.1\n"),
        ("checkpoints.jsonl", b'{"name": "000005", "batch": 5, "step": 5}\n'),
        ("train.jsonl", b'{"prompt": "What is 1+1?", "answer": "2"}\n'),
        ("train.jsonl", b'{"prompt": "' + b"word " * 2000),
        ("data.jsonl", b'{"question": "a", "step": 1, "score": 0.5}\n'),
        ("eval_set.csv", b"prompt,response\nhello,world\n"),
        ("gsm8k_train.jsonl", b'{"question": "a", "answer": "b", "level": 3}\n'),
        ("gsm8k_train.jsonl", b'{"level": 3, "question": "' + b"word " * 2000),
        ("eval.csv", b"id,question,label\n1,what,3\n"),
        ("cars.csv", b"weight,price\n1,2\n"),
        ("prompts.csv", b'{"prompt": "What is 1+1?", "answer": "2"}\n'),
        ("log.csv", b'{"step": 1, "los'),  # incomplete, and no header of a table
        ("notes.txt", b"epoch 1 went well\n"),
        ("other.log", b"Starting server\n"),
        ("slurm-12.out", b"(TaskRunner pid=12) loading verl.trainer\n"),
        ("all_scalars.json", b'{"runs/a": [[1795161690.7, 0, -0.29], [1795161690.7, 10, -0.5]]}'),
        ("summary.json", b'{\n  "step": 3,\n  "loss": 0.5\n}\n'),
        (".metrics.jsonl.swp", b'{"step": 1, "loss": 0.5}\n'),
        (".metrics.jsonl", b'{"step": 1, "loss": 0.5}\n'),
        ("model.safetensors", b"\x00\x01"),
    ],
)
def test_other_files_are_no_logs(name: str, head: bytes) -> None:
    """Settings, tokenizers, data sets and single results beside a run are not taken for logs of it."""
    assert REGISTRY.recognise(name, head[:HEAD]) is None


def test_formats_have_their_own_names() -> None:
    """Each format has a name of its own; only whole-file writers are said to repeat themselves."""
    names = [form.name for form in REGISTRY.formats]
    assert len(set(names)) == len(names)
    assert {form.name for form in REGISTRY.formats if form.rewrites} == {
        "document",
        "csv",
        "evaluations",
        "array",
        "arrays",
    }


@pytest.mark.parametrize("form", REGISTRY.formats, ids=lambda form: form.name)
def test_the_test_of_names_is_cheap_and_no_head_breaks_it(form: Any) -> None:
    """No format fails on a head of another kind, whatever the name promises."""
    for name in (
        "metrics.jsonl",
        "progress.csv",
        "trainer_state.json",
        "a.log",
        "a.jsonl.gz",
        "",
        "x",
        "ü.jsonl",
    ):
        for head in (
            b"\0" * 100,
            b"\xff\xfe{\0",
            b"{",
            b"[",
            b'{"',
            b"[" * 4096,
            b"\x1f\x8b",
            b",\n,",
            b"#",
            b'"\n"',
        ):
            assert form.matches(name, head) in (True, False)


@pytest.mark.parametrize("container", REGISTRY.containers, ids=lambda container: type(container).__name__)
def test_every_kind_of_container_is_asked_for_paths_of_its_own(container: Container) -> None:
    """The endings of paths that are looked at before any kind is imported leave none of them out."""
    places = (
        "/runs/project.db",
        "/runs/tracking.sqlite",
        "/runs/tracking.sqlite3",
        "/runs/inbox/host-1/3.jsonl",
        "/runs/mlruns/0/4f/meta.yaml",
        "/runs/dvclive/plots",
        "/runs/scalars",
        "/runs/reward.csv",
        "/runs/0.monitor.csv",
        "/runs/J.npy",
    )
    own = [place for place in places if container.could_be(place)]
    assert own and all(map(REGISTRY.could_be_container, own))


_RECORDS = b", ".join(b'{"step": %d, "reward": 2}' % k for k in range(1, 9))


@pytest.mark.parametrize(
    ("data", "reads"),
    [
        (b"[" + b'{"step": 1, "reward": 2}, ' * 5000 + b'{"step": 1}]', 0),
        (b'{"args": {"note": "%s"}, "history": [%s]}' % (b"x" * 5000, _RECORDS), 1),
        (b'{"config": {"lr": 1}, "notes": "%s", "history": [%s]}' % (b"x" * 5000, _RECORDS), 1),
        (b'{"meta": {"seed": 1}, "epsilon": [1%s], "rewards": [2%s]}' % (b", 0.5" * 1500, b", 2" * 1500), 1),
    ],
)
def test_more_of_a_document_is_read_only_where_its_first_bytes_do_not_decide(data: bytes, reads: int) -> None:
    """Nothing else is read of records with steps; more is of long settings in front of them."""
    file = MemFile("train_log.json", data)
    detection = FormatDetection(file.path, file.path, REGISTRY, explicit=False)
    form, _ = detection.of(bytes(file.data[:HEAD]), None, file)
    assert len(file.reads) == reads
    assert form is not None and form.name == "document"


def test_numbers_without_a_letter_are_no_console(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maps and paths of a simulation are megabytes of numbers: they are not searched for names of metrics."""
    monkeypatch.setattr(labelled_console, "holds_metrics", lambda data: pytest.fail("searched"))
    assert REGISTRY.holds_metrics(b"622,-1,0,0;623,-1,1,0\r\n" * 9) is None
