"""Settings: what a run was started with, from its own records and from files beside its logs."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from rltui.logs.batch import Text
from rltui.run_context.hparams.hparam_files import hparams_near, read
from rltui.run_context.hparams.hparams import (
    HIDDEN,
    MAX_HPARAMS,
    hparams_of,
    merge,
    parse_value,
    parse_yaml,
    same,
)
from rltui.run_context.hparams.logged_text import is_hparams_tag, logged_hparams, parse_mapping
from rltui.session.session import Session
from tests.support.shared import BUNDLED, LOGS, needs_shared


def values(hparams) -> dict[str, object]:
    """Key and value of all settings."""
    return {key: entry.value for key, entry in hparams.entries.items()}


def text(tag: str, body: str, kind: str = "text") -> Text:
    """A record of an event file."""
    return Text(tag, 0, 1.0, kind, body)


# ---- records


def test_nested_settings_become_paths() -> None:
    """Objects are merge by slashes, lists are one value, lists of objects are numbered."""
    record = {"a": {"b": 1, "c": {}}, "l": [1, 2.5, True], "m": [{"x": None}], "s": "text"}
    assert values(hparams_of(record, "f")) == {
        "a/b": 1,
        "a/c": "{}",
        "l": "[1, 2.5, true]",
        "m/0/x": None,
        "s": "text",
    }


@pytest.mark.parametrize(
    "body",
    [
        '{"lr": 0.1, "n": 3}',
        '```json\n{"lr": 0.1, "n": 3}\n```',
        '    {"lr": 0.1,\n    "n": 3}',
        '<pre>{"lr": 0.1, "n": 3}</pre>',
        "{'lr': 0.1, 'n': 3}",
        "|param|value|\n|-|-|\n|lr|0.1|\n|n|3|",
        "| param | value |\n|:--|--:|\n| `lr` | 0.1 |\n| **n** | 3 |\n",
        "lr: 0.1\nn: 3\n",
        "lr = 0.1\nn = 3",
    ],
)
def test_texts_in_many_forms(body: str) -> None:
    """JSON, fenced or indented JSON, Python, Markdown tables, YAML and plain lines say the same thing."""
    assert parse_mapping(body) == {"lr": 0.1, "n": 3}


@pytest.mark.parametrize(
    "body",
    ["", "a run about config", "| prompt | completion | reward |\n|-|-|-|\n|a|b|1|", "one line: 3", "[1, 2]"],
)
def test_texts_that_are_no_settings(body: str) -> None:
    """Prose, tables of samples and lists are not taken for settings."""
    assert parse_mapping(body) is None


def test_samples_are_no_settings() -> None:
    """Only texts that are named like settings are read: a prompt can hold any JSON."""
    assert is_hparams_tag("args/text_summary") and is_hparams_tag("train/hyperparameters")
    assert not is_hparams_tag("completions/text_summary") and not is_hparams_tag("samples/0")
    assert not logged_hparams([text("completions", '{"lr": 1}')]).entries


def test_a_part_keeps_its_name() -> None:
    """`args` are the run's settings, `model_config` is a part of them."""
    found = logged_hparams([text("args/text_summary", '{"lr": 1}'), text("model_config", '{"hidden": 8}')])
    assert values(found) == {"lr": 1, "model_config/hidden": 8}
    assert found.sources == ("args record", "model_config record")


def test_a_torn_record_is_told() -> None:
    """JSON that was cut off gives a problem, no guess."""
    found = logged_hparams([text("args", '{"lr": 1, "x": ')])
    assert not found.entries
    assert [one.code for one in found.problems] == ["settings-unreadable"]


def test_values_of_words() -> None:
    """Tables hold text; numbers, truth and nothing are taken for what they are, names of digits for names."""
    assert [parse_value(word) for word in ("3", "-2.5e-4", "True", "None", "007", "1.2.3")] == [
        3, -2.5e-4, True, None, "007", "1.2.3",
    ]  # fmt: skip
    assert math.isnan(parse_value("nan"))


def test_formats_agree_on_values() -> None:
    """The same value in another spelling is no difference."""
    assert same(1, 1.0) and same(True, 1) and same("1e-4", 0.0001) and same(None, "None") and same(None, "")
    assert not same(1, 2) and not same("a", "b") and not same(None, 0) and not same(None, False)


def test_the_first_source_is_believed_and_the_other_kept() -> None:
    """A contradiction between two places is not hidden."""
    both = merge([hparams_of({"lr": 1, "n": 2}, "a"), hparams_of({"lr": 3, "n": 2.0, "z": 0}, "b")])
    assert values(both) == {"lr": 1, "n": 2, "z": 0}
    assert [(one.key, one.value, one.source) for one in both.others] == [("lr", 3, "b")]


def test_passwords_and_tokens_are_not_shown() -> None:
    """Snapshots are pasted into chats: secrets stay behind, tokens of a tokenizer do not."""
    found = values(hparams_of({
        "hub_token": "hf_abcdefghijklmnopqrst", "wandb/api_key": "0123",
        "note": "use sk-ABCDEFGHIJKLMNOPQRST now",
        "db": "postgres://me:pw@host/x", "pad_token": "<pad>", "max_tokens": 5, "token": None,
    }, "f"))  # fmt: skip
    assert found["hub_token"] == found["wandb/api_key"] == HIDDEN
    assert "sk-" not in str(found["note"]) and "pw" not in str(found["db"])
    assert found["pad_token"] == "<pad>" and found["max_tokens"] == 5 and found["token"] is None


def test_untrusted_text_is_cleaned() -> None:
    """Neither a key nor a value reaches the terminal with a control character."""
    (entry,) = hparams_of(
        {
            "a\x1b]0;x\x07": "b\x1b[31m",
        },
        "f",
    ).entries.values()
    assert entry.key.isprintable() and entry.text.isprintable()


def test_endless_documents_end() -> None:
    """Aliases that double a document with each level, deep nesting and thousands of keys are cut and told."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )  # fmt: skip
    found = hparams_of(parse_yaml(bomb), "f")
    assert all(len(entry.text) <= 2000 for entry in found.entries.values())
    assert len(hparams_of({str(n): n for n in range(MAX_HPARAMS + 5)}, "f").entries) == MAX_HPARAMS
    deep: dict[str, object] = {}
    for _ in range(500):
        deep = {"d": deep}
    assert [one.code for one in hparams_of(deep, "f").problems] == ["settings-cut"]


# ---- files


def test_a_python_file_of_settings_is_read_and_never_run(tmp_path: Path) -> None:
    """Literals in the dictionaries that it assigns; a value that has to be computed is left out."""
    place = tmp_path / "total_config.py"
    place.write_text(
        "import os\nexp = {'policy': {'lr': 1e-3, 'on': True}, 'env': {'most': float('inf'), 'n': 8}}\n"
    )
    found = {key: one.value for key, one in read(place, "total_config.py").entries.items()}
    assert found == {"policy/lr": 1e-3, "policy/on": True, "env/n": 8}
    place.write_text("exp = {")
    assert [problem.code for problem in read(place, "f").problems] == ["settings-unreadable"]


def test_files_beside_the_logs(tmp_path: Path) -> None:
    """Every form of file is read, the nearest folder is believed, each setting says where it stands."""
    run = tmp_path / "exp" / "runs" / "one"
    (run / ".hydra").mkdir(parents=True)
    (run / "events.out.tfevents.1.x").touch()
    (run / ".hydra" / "config.yaml").write_text("actor:\n  lr: 1e-6\n  betas: [0.9, 0.95]\n")
    (run / ".hydra" / "overrides.yaml").write_text("- actor.lr=1e-6\n- +trainer.n=8\n")
    (tmp_path / "exp" / "params.json").write_text('{"gamma": 0.99, "actor": {"lr": 5}}')
    (tmp_path / "exp" / "args.yml").write_text(
        "!!python/object/apply:collections.OrderedDict\n- - - algo\n    - ppo\n  - - seed\n    - 3\n"
    )
    (tmp_path / "exp" / "trainer_state.json").write_text(
        '{"max_steps": 160, "global_step": 9, "log_history": [{"loss": NaN}], "train_batch_size": 16}'
    )
    found = hparams_near(["exp/runs/one/events.out.tfevents.1.x"], [tmp_path])
    assert values(found) == {
        "actor/lr": "1e-6", "actor/betas": "[0.9, 0.95]", "trainer/n": 8, "gamma": 0.99, "max_steps": 160,
        "train_batch_size": 16, "algo": "ppo", "seed": 3,
    }  # fmt: skip
    assert found.entries["actor/lr"].source == "exp/runs/one/.hydra/config.yaml"
    assert [(one.value, one.source) for one in found.others] == [(5, "exp/params.json")]


def test_settings_of_an_agent_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Isaac Lab keeps those of the agent in params, beside those of the environment."""
    params = tmp_path / "run" / "params"
    params.mkdir(parents=True)
    (params / "agent.yaml").write_text("algorithm:\n  gamma: 0.98\nmax_iterations: 1500\n")
    (params / "env.yaml").write_text("gamma: 0.5\n")
    found = hparams_near(["run/events.out.tfevents.1.a.1.0"], [tmp_path])
    assert values(found) == {"algorithm/gamma": 0.98, "max_iterations": 1500}


def test_nothing_outside_of_the_logdir_is_read(tmp_path: Path) -> None:
    """A file above the folder that was asked for is not ours to read."""
    run = tmp_path / "a" / "b"
    run.mkdir(parents=True)
    (tmp_path / "config.json").write_text('{"lr": 1}')
    assert not hparams_near(["b/x.jsonl"], [tmp_path / "a"]).entries
    assert values(hparams_near(["a/b/x.jsonl"], [tmp_path])) == {"lr": 1}


def test_two_logdirs_are_kept_apart(tmp_path: Path) -> None:
    """The file of one LOGDIR does not speak for the runs of the other."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"name": name}))
    found = hparams_near(["two/metrics.jsonl"], [tmp_path / "one", tmp_path / "two"])
    assert values(found) == {"name": "two"}


def test_a_saved_model_describes_itself(tmp_path: Path) -> None:
    """A model's config.json beside the logs is put under `model_config`, as in the trainer's own record."""
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "n_layer": 2}')
    assert set(read(tmp_path / "config.json", "config.json").entries) == {
        "model_config/model_type",
        "model_config/n_layer",
    }


def test_a_large_trainer_state_is_read_at_its_ends(tmp_path: Path) -> None:
    """The log in its middle is not loaded; what stands round it is."""
    state = {
        "best_metric": None, "log_history": [{"step": n, "loss": 0.1} for n in range(60_000)],
        "max_steps": 60_000, "train_batch_size": 4,
    }  # fmt: skip
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(state, indent=2))
    assert path.stat().st_size > 2 << 20
    assert values(read(path, path.name)) == {"max_steps": 60_000, "train_batch_size": 4}


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("config.json", '{"lr": 1', "not a JSON object"),
        ("config.json", "[1]", "not a JSON object"),
        ("config.json", "large", "too large"),
        ("config.yaml", "a: [1,\nb: 2", "line"),
        ("config.yaml", "- 1\n- 2\n", "no mapping"),
        ("config.yaml", "? [a, b]\n: 1\n? {c: d}\n: 2\n", "unhashable"),
        ("config.yaml", "a: !!bool maybe\n", "cannot be read as YAML"),
        ("config.yaml", "a: !!int ''\n", "cannot be read as YAML"),
    ],
)
def test_unusable_files_are_told(tmp_path: Path, name: str, body: str, words: str) -> None:
    """A file that cannot be used is one problem with its path, never an error."""
    (tmp_path / name).write_text(body if body != "large" else " " * (1 << 20) + "{}")
    found = read(tmp_path / name, name)
    assert not found.entries
    assert [one.path for one in found.problems] == [name]
    assert words in found.problems[0].message


def test_pipes_and_folders_named_like_settings(tmp_path: Path) -> None:
    """A FIFO must not stop anybody, a folder is no file; both are as good as absent."""
    os.mkfifo(tmp_path / "config.yaml")
    (tmp_path / "params.json").mkdir()
    found = hparams_near(["x.jsonl"], [tmp_path])
    assert not found.entries and not found.problems


def test_no_object_is_made_from_yaml(tmp_path: Path) -> None:
    """Tags that would call Python are passed over as plain data."""
    mark = tmp_path / "made"
    found = parse_yaml(f"x: !!python/object/apply:os.mkdir ['{mark}']\ny: 1\n")
    assert not mark.exists()
    assert isinstance(found, dict) and found["y"] == 1


# ---- real runs


def test_hparams_of_a_bundled_run() -> None:
    """The hyperparameters plugin's record is the run's settings."""
    (view,) = Session.load([BUNDLED / "torch-hparams"]).runs.values()
    assert values(logged_hparams(list(view.run.texts.values()), view.run.hparams)) == view.run.hparams
    assert view.run.hparams


@needs_shared
@pytest.mark.filterwarnings("ignore::Warning")
def test_settings_agree_with_the_oracle() -> None:
    """The same hyperparameters as tbparse reads from the same folder."""
    from tbparse import SummaryReader

    folder = LOGS / "trl" / "trl011-ppo-hot"
    (view,) = Session.load([folder]).runs.values()
    found = logged_hparams(list(view.run.texts.values()), view.run.hparams)
    table = SummaryReader(str(folder)).hparams
    oracle = dict(zip(table["tag"], table["value"], strict=True))
    assert set(oracle) == set(found.entries)
    assert all(same(found.entries[key].value, value) for key, value in oracle.items())


@needs_shared
@pytest.mark.parametrize(
    ("run", "key", "value", "source"),
    [
        ("trl/grpo-qwen-a", "learning_rate", 0.001, "args record"),
        ("trl/grpo-qwen-a", "model_config/hidden_size", 32, "model_config record"),
        ("trl/grpo-qwen-a", "train_batch_size", 16, "trainer_state.json"),
        ("cleanrl/cleanrl-ppo", "learning_rate", 0.00025, "hyperparameters record"),
        ("sb3/sb3-dqn-cartpole", "gamma", 0.99, "hparams record"),
        ("rlinf/rlinf-hot", "actor/optim/lr", 0.3, "tensorboard/config.yaml"),
        ("public/tinker-cookbook-rlvr", "lora_rank", 32, "config.json"),
        ("rllib/rllib-ppo", "batch_mode", "truncate_episodes", "params.json"),
        ("trl/trl011-ppo-hot", "adap_kl_ctrl", 1, "hparams record"),
    ],
)
def test_settings_of_real_runs(run: str, key: str, value: object, source: str) -> None:
    """Each framework's way to say how it was started is understood."""
    (view, *_) = Session.load([LOGS / run]).ordered()
    paths = [one.path for one in view.run.sources.values()]
    found = merge(
        (logged_hparams(list(view.run.texts.values()), view.run.hparams), hparams_near(paths, [LOGS / run]))
    ).entries[key]
    assert same(found.value, value)
    assert found.source.endswith(source)


@needs_shared
def test_each_attempt_keeps_its_own_settings(tmp_path: Path) -> None:
    """Two logs of one run, each with its own record: the newer does not overwrite what the older said."""
    run = tmp_path / "run"
    run.mkdir()
    for name in ("grpo-qwen-a", "grpo-qwen-hack"):
        (log,) = (LOGS / "trl" / name).rglob("events*")
        (run / log.name).symlink_to(log)
    (view,) = Session.load([run]).runs.values()
    rates = [
        values(logged_hparams(texts.values()))["learning_rate"] for texts in view.run.hparams_texts.values()
    ]
    assert sorted(rates) == [0.001, 0.004]


def test_parameters_of_a_clearml_task(tmp_path: Path) -> None:
    """The sections of `task.json` without the wrapping of each value, and the names of task and project."""
    lr = {"description": "", "name": "lr", "section": "General", "type": "float", "value": "1e-06"}
    task = {"hyperparams": {"General": {"lr": lr}, "Env": {"id": {"value": "CartPole"}}}, "name": "grpo-a"}
    (tmp_path / "task.json").write_text(json.dumps({**task, "project_name": "p", "script": {"diff": "x"}}))
    found = values(read(tmp_path / "task.json", "task.json"))
    assert found == {"lr": 1e-6, "Env/id": "CartPole", "clearml/name": "grpo-a", "clearml/project_name": "p"}
    (tmp_path / "task.json").write_text('{"instruction": "another task"}')
    assert values(read(tmp_path / "task.json", "task.json")) == {}
