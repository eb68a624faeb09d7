"""`rltui explain` and `rltui glossary`: what scripts may rely on and what people read."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from rltui.cli.commands.reference import explain as explain_command
from rltui.cli.commands.reference import glossary as glossary_command
from rltui.metrics.glossary_files import glossary
from rltui.panes.explanations import explained_entries
from tests.support.shared import SHARED

CATALOGUE = SHARED / "metric-catalog.json"

_FOUNDING = """
    env/success_once env/return env/reward env/episode_len rollout/advantages_mean rollout/rewards
    train/actor/approx_kl train/actor/clip_fraction train/critic/explained_variance train/entropy_loss
    val-core/gsm8k/acc/mean@1 val-aux/gsm8k/reward/mean@1 val-aux/num_turns/max actor/loss actor/pg_loss
    actor/entropy actor/grad_norm actor/ppo_kl actor/pg_clipfrac actor/lr critic/advantages/std
    response_length/clip_ratio response/aborted_ratio loss/dpo rewards/margins rm/accuracy num_turns/max
    global_seqlen/minmax_diff timing_s/gen timing_s/agent_loop/slowest/tool_calls timing_per_token_ms/gen
    perf/mfu/actor perf/throughput kl_divergence_inference grad_norm stop_reason_length_pct
    group_length_gini_mean timing_waiting_for_data eps objective/kl objective/rlhf_reward
    policy/approxkl_avg val/clipfrac_avg val/ratio val/num_eos_tokens episode completions/clipped_ratio
    rewards/my_reward/mean reward_std clip_ratio/low_min env/reward_mean objective/kl_coef
    ppo/mean_non_score_reward ppo/policy/ratio ppo/val/var_explained tokens/responses_len_std
    objective/ref_logprobs
"""
FOUNDING_KEYS = _FOUNDING.split()


@pytest.fixture(autouse=True)
def _no_user_config(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("RLTUI_CONFIG", raising=False)


def _run(command: click.Command, *args: str) -> Result:
    return CliRunner().invoke(command, list(args))


def _explain(*args: str) -> Result:
    return _run(explain_command.command, *args)


def _objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_explain_answers_for_a_framework_s_key() -> None:
    """A key as veRL writes it leads to the canonical metric, and says whose key it is."""
    found = _objects(_explain("actor/pg_clipfrac", "--json"))[0]
    assert found["canonical"] == "policy.clip_fraction"
    assert found["framework"] == "verl"
    assert "clip_ratio/region_mean" in found["aliases"]["trl"]


def test_explain_answers_for_a_canonical_id() -> None:
    """A canonical id belongs to no framework."""
    found = _objects(_explain("policy.kl_ref", "--json"))
    assert [each["canonical"] for each in found] == ["policy.kl_ref"]
    assert found[0]["framework"] is None


def test_framework_decides_between_meanings() -> None:
    """One key, two frameworks, two meanings."""
    kl = _objects(_explain("train/entropy_loss", "--framework", "stable-baselines3", "--json"))
    assert [each["canonical"] for each in kl] == ["policy.entropy"]
    assert _explain("train/entropy_loss", "--framework", "nobody").exit_code == 1


@pytest.mark.parametrize("key", FOUNDING_KEYS)
def test_every_founding_name_is_explained(key: str) -> None:
    """What the founding documents name has a meaning and a pane."""
    result = _explain(key, "--json")
    assert result.exit_code == 0, result.stderr
    for found in _objects(result):
        assert found["meaning"]
        assert found["pane"]


def test_an_unknown_name_ends_with_1_and_the_nearest() -> None:
    """A typing error is told with what was probably meant, on standard error; the known keys are answered."""
    result = _explain("actor/pg_clipfrack", "policy.entropy", "--json")
    assert result.exit_code == 1
    assert "actor/pg_clipfrac" in result.stderr
    assert [each["canonical"] for each in _objects(result)] == ["policy.entropy"]


def test_an_unknown_name_cannot_harm_the_terminal() -> None:
    """A key is untrusted text."""
    result = _explain("evil\x1b]0;title\x07")
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_cards_fit_80_columns() -> None:
    """The answer for people fits a terminal of 80 columns."""
    result = _explain("actor/ppo_kl", "policy.entropy")
    assert result.exit_code == 0
    for line in result.stdout.splitlines():
        assert len(line) <= 80 or " " not in line[12:], "only a single long word may stick out"


def test_glossary_prints_every_entry() -> None:
    """The document holds every metric, in the order of panes."""
    lines = _run(glossary_command.command).stdout.splitlines()
    for metric in glossary().metrics.values():
        assert f"{metric.title} ({metric.id})" in lines
    heads = [line.lower() for line in lines if line.isupper() and line[0] != " " and "(" not in line]
    assert heads == [pane.title.lower() for pane in glossary().panes]


def test_glossary_of_one_pane() -> None:
    """--pane leaves out the rest, an unknown pane is told with the known ones."""
    result = _run(glossary_command.command, "--pane", "critic", "--json")
    assert {each["pane"] for each in _objects(result)} == {"critic"}
    wrong = _run(glossary_command.command, "--pane", "critics")
    assert wrong.exit_code == 1
    assert "panes: validation, reward" in wrong.stderr


def test_glossary_of_one_framework() -> None:
    """--framework shows what it writes, by its own names, and nothing else."""
    text = _run(glossary_command.command, "--framework", "verl").stdout
    assert "actor/pg_clipfrac" in text
    assert "(discarded.oversize)" not in text


def test_glossary_as_json_is_one_object_a_line() -> None:
    """Every metric is one line that a program can read."""
    found = _objects(_run(glossary_command.command, "--json"))
    assert {each["canonical"] for each in found} == set(glossary().metrics)


@pytest.mark.skipif(not CATALOGUE.is_file(), reason="the shared catalogue is not here")
def test_all_founding_definitions_are_reached_by_their_own_names() -> None:
    """Every name that a founding document defines leads to its canonical metric, wildcards filled in."""
    seeds = [entry for entry in json.loads(CATALOGUE.read_text()) if entry.get("seed")]
    assert len(seeds) > 200
    for entry in seeds:
        meanings = explained_entries(entry["key"].replace("*", "x"))
        assert entry["canonical"] in {meaning.metric.id for meaning in meanings}, entry["key"]


def test_terms_and_problems_are_explained() -> None:
    """A term alone has all fields of a metric; beside a metric of the same title it stands below it.

    Above it where only a framework uses the word for the metric.
    """
    assert _explain("validation").stdout.startswith("Held-out evaluation\n")
    assert _explain("entropy").stdout.startswith("Entropy\n=======\n")
    assert "estimate advantages" in _explain("gae").stdout
    assert "Value function" in _explain("value", "function").stdout
    (alone,) = _objects(_explain("GAE", "--json"))
    assert alone["canonical"] is None and alone["kind"] == "term" and alone["meaning"]
    (beside,) = _objects(_explain("entropy", "--json"))
    assert beside["canonical"] == "policy.entropy" and beside["definition"]["id"] == "entropy"
    problems = _objects(_run(glossary_command.command, "--problems", "--json"))
    assert {"reward-crashes", "kl-spikes", "eval-stalls", "slow-training", "out-of-memory"} <= {
        each["id"] for each in problems
    }
    lines = _run(glossary_command.command).stdout.splitlines()
    assert "Problems" in lines and "Terms" in lines
