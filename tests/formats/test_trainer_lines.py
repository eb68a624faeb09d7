"""Dictionaries and tables that trainers print, and the steps that belong to them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.formats.printed_metrics.trainer_console import holds_metrics
from rltui.logs.formats.printed_metrics.trainer_lines import TrainerLines
from tests.support.shared import SHARED

Rows = list[tuple[int, dict[str, object]]]


def read(text: str) -> Rows:
    """The records of a console."""
    lines = TrainerLines()
    found = [row for line in text.split("\n") for row in lines.feed(line)]
    return found + list(lines.flush())


def bar(done: int, total: int) -> str:
    """A progress bar as tqdm draws it."""
    return f"\r {100 * done // total}%|██  | {done}/{total} [00:01<00:09,  1.0it/s]"


def steps(rows: Rows) -> list[int]:
    """The steps of records."""
    return [step for step, _ in rows]


def test_a_row_of_the_trainer_has_the_step_of_its_progress_bar() -> None:
    """With `logging_steps` 10 the bars before the rows say 10, 20, 30."""
    text = "\n".join(f"{bar(k, 100)}\r    \r{{'loss': '{k}.5', 'epoch': '0.{k}'}}" for k in (10, 20, 30, 40))
    rows = read(text)
    assert steps(rows) == [10, 20, 30, 40] and rows[0][1] == {"loss": 10.5, "epoch": 0.1}


def test_rows_are_counted_where_bars_say_nothing() -> None:
    """A buffered console writes all rows behind the last bar."""
    text = bar(30, 30) + "".join(
        f"\n{{'loss': {k}.0, 'grad_norm': nan, 'epoch': 0.{k}}}" for k in range(1, 6)
    )
    rows = read(text)
    assert steps(rows) == [1, 2, 3, 4, 5] and math.isnan(rows[0][1]["grad_norm"])


def test_other_bars_and_dictionaries_are_none_of_it() -> None:
    """A bar with a description, a dictionary without an epoch, and text that looks like one."""
    assert (
        read("Loading weights: 100%|███| 16/16 [00:00<00:00]\n{'bos_token_id': 96}\nsaid: {'a': 1, 'b': 2}")
        == []
    )


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (
            "(PPOTrainer pid=95) INFO ppo_trainer.py:547] ✨ Global step 12: {'kl': 0.5, 'reward': inf}",
            12,
        ),
        ("global_step 12, eval_metrics: {'kl': 0.5, 'reward': inf}", 12),
        (
            "\x1b[36m(A pid=1)\x1b[0m [2026] model.py:918 - step 3: {'kl': tensor(0.5000), 'reward': inf}",
            3,
        ),
        ("[2026] rollout_metrics.py:268 - perf 4: {'kl': np.float64(0.5), 'reward': inf}", 4),
    ],
)
def test_labelled_dictionaries(line: str, step: int) -> None:
    """OpenRLHF and slime name the step before the dictionary."""
    assert read(line) == [(step, {"kl": 0.5, "reward": math.inf})]


def test_skyrl_prints_over_several_lines() -> None:
    """Lines of other processes between are stepped over."""
    text = "INFO | Step 7: \n(e pid=1) {'a/b': '0.4125',\n(other pid=2) hello\n(e pid=1)  'c': 37}\n"
    assert read(text) == [(7, {"a/b": 0.4125, "c": 37.0})]


def test_areal_prints_a_grid() -> None:
    """Name and value alternate; the step stands lines before."""
    text = "Step 1/10 Train step 5/20 done.\n╒════╕\n│ ppo/loss │ 2.0e-01 │ ppo/kl │ 1.5e-03 │\n╘════╛"
    assert read(text) == [(5, {"ppo/loss": 0.2, "ppo/kl": 0.0015})]


def test_what_each_agent_got_is_no_dictionary_of_metrics() -> None:
    """Names of digits or of one letter are those of agents; the lines beside them may be of a training."""
    line = "Reward step 0: {'0': -0.25, '1': 0.5, 'p': 0.0}\n"
    assert not holds_metrics(line.encode()) and list(TrainerLines().feed(line)) == []
    assert holds_metrics(line.replace("'0'", "'return'").encode())


def test_a_table_of_stable_baselines3() -> None:
    """Keys have their heading before them; the step is `total_timesteps` of the block."""
    text = (
        "-----------------\n| rollout/ |  |\n|    ep_rew_mean | 19.2 |\n| time/ | |\n"
        "|    total_timesteps | 512 |\n-----------------\n"
    )
    assert read(text) == [(512, {"rollout/ep_rew_mean": 19.2, "time/total_timesteps": 512.0})]


@given(
    st.lists(
        st.text(alphabet="{}'|:-─│ \r\x1b[m0123456789.eEnaif(step)Train/done,", max_size=80), max_size=30
    )
)
def test_no_text_raises(lines: list[str]) -> None:
    """Whatever a console holds."""
    read("\n".join(lines))


CONSOLES = (
    "areal-console",
    "openrlhf-console",
    "slime-console",
    "skyrl-console",
    "sb3-stdout",
    "trl-grpo",
    "trl-old-grpo",
)


@pytest.mark.skipif(not (SHARED / "trackers").is_dir(), reason="the shared files are not here")
@pytest.mark.parametrize("name", CONSOLES)
def test_consoles_agree_with_their_oracles(name: str) -> None:
    """Every series has the oracle's steps and values, within the digits that were printed."""
    folder: Path = SHARED / "trackers" / name
    series = json.loads((folder.parent / f"{name}.oracle.json").read_text())["runs"][0]["series"]
    path = next(path for path in sorted(folder.iterdir()) if path.suffix in (".log", ".out", ".txt"))
    found: dict[str, list[tuple[int, float]]] = {}
    for step, record in read(path.read_text(errors="replace")):
        for key, value in record.items():
            found.setdefault(key, []).append((step, float(value)))
    for tag, expected in series.items():
        wanted = [float(value) for value in expected["values"]]
        assert [value for _, value in found[tag]] == pytest.approx(
            wanted, rel=1e-4, abs=1e-12, nan_ok=True
        ), tag
        if not expected.get("any_step"):
            assert [step for step, _ in found[tag]] in (expected["steps"], expected.get("steps_also")), tag


def test_consoles_of_trl_ppo_begin_with_episodes_per_second() -> None:
    """TRL's PPO and RLOO trainers print dictionaries without a loss in front; each is a step."""
    text = "\n".join(f"{{'eps': 4, 'objective/kl': 0.{k}, 'epoch': 0.{k}}}" for k in range(1, 6))
    assert holds_metrics(text.encode()) and steps(read(text)) == [1, 2, 3, 4, 5]
