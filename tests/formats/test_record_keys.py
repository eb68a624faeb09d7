"""What the keys of records say comes from `rltui/data/record_keys.toml` alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rltui.logs.formats.lines import jsonl
from rltui.logs.formats.printed_metrics import trainer_console
from rltui.logs.records.record_keys import LogKeys, compared, log_keys, step_keys
from rltui.logs.records.sample_statistics import SampledStep
from tests.support.logs.file_in_memory import MemFile, read_whole


def test_shipped_keys_can_be_found() -> None:
    """Every key stands in the form in which keys are compared, and no list names one twice."""
    keys, samples = log_keys(), log_keys().samples
    lists = [list(keys.steps), list(keys.wall_times)]
    lists += [list(getattr(samples, name)) for name in type(samples)._fields]
    for each in lists:
        assert each and len(set(each)) == len(each)
        assert [compared(key) for key in each] == each
    assert keys.integer_steps <= set(keys.steps) and set(keys.planned_steps) <= set(keys.steps)


@pytest.mark.parametrize("key", list(log_keys().steps))
def test_each_step_key_gives_the_step(key: str) -> None:
    """A record with any of the keys has its step from it, and the key is no series."""
    batch = read_whole(jsonl.FORMAT, MemFile("metrics.jsonl", b'{"%s": 7, "loss": 0.5}\n' % key.encode()))
    assert (list(batch.tags), batch.step.tolist()) == (["loss"], [7])


def test_a_new_key_needs_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step key or a reward column that is added to the table is read as such."""
    table = log_keys()
    fields = {name: getattr(table, name) for name in LogKeys._fields}
    fields["steps"] = {**table.steps, "gradient_update": 99}
    monkeypatch.setattr("rltui.logs.records.record_keys.log_keys", lambda: LogKeys(**fields))
    assert step_keys(["loss", "Gradient Update"]) == ["Gradient Update"]


def test_samples_are_grouped_by_the_keys_of_the_table() -> None:
    """Each key of the table that names a prompt group forms groups of samples."""
    for key in log_keys().samples.group:
        step = SampledStep()
        for number in range(4):
            step.add({key: number // 2, "reward": 1.0})
        assert dict(step.aggregates())["zero_advantage_pct"] == 100, key


def test_no_table_is_read_before_a_log_is() -> None:
    """Importing the readers of text logs reads no TOML."""
    code = (
        f"import {trainer_console.__name__}; from rltui.logs.records.record_keys import log_keys;"
        " print(log_keys.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
