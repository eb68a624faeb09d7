"""Expressions that choose runs: settings, metrics, health, state and words together."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.panes.runs.run_expression import amount, is_expression, parse_expression
from rltui.panes.runs.run_facts import RunFacts, RunHParams
from rltui.run_context.hparams.hparams import HParam, HParams, Value
from tests.support.runs.made_run import NOW, MadeRun, believable, finding

SETTINGS: dict[str, Value] = {
    "actor_rollout_ref/actor/optim/lr": 1e-3, "critic/optim/lr": 1e-5, "algo/Gamma": 0.99, "seed": 2,
    "model/path": "Qwen/Qwen2.5-7B", "trainer/project_name": "gsm8k", "use_kl": True,
    "train_batch_size": "512", "tags": "[sweep, good]",
}  # fmt: skip


@cache
def critical_run() -> MadeRun:
    """A run of 300 steps; nothing is added to it."""
    run = believable(name="exp/ppo_lr=1e-3_seed2")
    run.found = [finding("actor/ppo_kl", "critical", id="kl-spike", title="KL spike")]
    return run


def facts(hparams: dict[str, Value] | None = None) -> RunFacts:
    """Such a run with settings."""
    chosen = SETTINGS if hparams is None else hparams
    known = HParams({key: HParam(key, value, "config.yaml") for key, value in chosen.items()})
    return RunFacts(critical_run(), NOW, RunHParams(lambda view: known), health="critical")


@pytest.mark.parametrize(
    "text",
    [
        "", "lr>1e-4", "lr>=1e-3", "lr=0.001", "lr = 1e-3", "lr>1e-4 critical", "learning_rate>1e-4",
        "actor/optim/lr>1e-4", "critic/optim/lr<1e-4", "config.lr>1e-4", "gamma=0.99", "seed=1|2", "seed!=3",
        "path~qwen", "path=*7B", "use_kl=true", "batch_size>500", "project:gsm8k", "project_name=gsm8k",
        "tag:sweep", "tag:actor/*", "step>200", "step<=300", "reward>0.3", "metric.actor/entropy<2",
        "age<1m", "eta>10m", "share>20%", "points>1k", "critical", "live", "verl", "-warning", "!ended",
        "-lr>1", "warning|critical", "ppo", "exp/*seed2", "/seed[0-9]$", "finding:kl", "kl-spike",
        "lr>", "name:ppo verl live critical", '"ppo_lr=1e-3"', "entropy<2",
    ],
)  # fmt: skip
def test_what_holds(text: str) -> None:
    """Each of these chooses the run."""
    assert parse_expression(text).holds(facts())


@pytest.mark.parametrize(
    "text",
    [
        "lr>1e-2", "lr>1e-4 ok", "critic/optim/lr>1e-4", "seed=3", "seed!=2", "-critical", "nothing",
        "step>300", "age>1m", "path~llama", "tag:nothing", "unknown>1", "unknown=1",
        "use_kl>x", "-live", "ok|warning",
        "/seed3", "finding:entropy", "reward>0.9",
    ],
)  # fmt: skip
def test_what_does_not_hold(text: str) -> None:
    """None of these chooses it."""
    assert not parse_expression(text).holds(facts())


def test_a_name_made_of_settings_is_found_where_no_setting_is_known() -> None:
    """`lr=1e-3` in the name of a run counts as one where its log says nothing of it."""
    assert parse_expression("lr=1e-3").holds(facts({}))
    assert not parse_expression("lr=1e-4").holds(facts({}))


def test_only_what_asks_for_settings_waits_for_them() -> None:
    """Numbers of a run, words and health need no files beside the logs."""
    assert not parse_expression("step>3 critical verl age<3d").asks_hparams
    assert parse_expression("critical lr>1").asks_hparams


@pytest.mark.parametrize("name", ["run_1", "grpo*", "exp/[ab]*", "a?c", "-", "ppo"])
def test_names_and_globs_are_no_expressions(name: str) -> None:
    """What named runs before still does just that."""
    assert not is_expression(name)


@pytest.mark.parametrize("text", ["lr>1", "critical", "verl live", "-ok", "tag:x", "a=b"])
def test_what_can_be_no_glob_is_an_expression(text: str) -> None:
    """Comparisons, healths and states, several words."""
    assert is_expression(text)


def test_numbers_as_people_type_them() -> None:
    """Letters for thousands, percent, and units of time where a time is meant."""
    assert [amount(text) for text in ("1e-4", "2k", "1.5M", "30%")] == [1e-4, 2000, 1.5e6, 0.3]
    assert amount("x") is None and amount("") is None
    assert [amount(text, seconds=True) for text in ("90", "10m", "2h", "1d")] == [90, 600, 7200, 86400]


@given(st.text(max_size=40))
def test_any_text_is_an_expression(text: str) -> None:
    """Nothing that is typed, and no part of it, raises."""
    is_expression(text)
    parse_expression(text).holds(facts())
