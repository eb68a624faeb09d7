"""Journals of Optuna's workers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.formats.registry import REGISTRY
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_whole


def journal() -> bytes:
    """Three trials, of which the second one ends last and the third one fails."""
    numeric, choice = '{"name": "FloatDistribution"}', '{"name": "CategoricalDistribution"}'
    said: list[dict[str, object]] = [{"op_code": 0, "study_name": "ppo", "directions": [2]}]
    for trial in range(3):
        said.append({"op_code": 4, "study_id": 0, "datetime_start": "2025-01-01T00:00:00"})
        for name, distribution, value in (("lr", numeric, 0.5 * trial), ("net", choice, 1)):
            said.append(
                {"op_code": 5, "trial_id": trial, "param_name": name, "param_value_internal": value,
                 "distribution": distribution}
            )  # fmt: skip
    said.append({"op_code": 7, "trial_id": 0, "step": 3, "intermediate_value": 9.0})
    for trial, state, values in ((0, 1, [2.5]), (2, 3, None), (1, 1, [4.5])):
        said.append({"op_code": 6, "trial_id": trial, "state": state, "values": values,
                     "datetime_complete": f"2025-01-01T00:00:0{trial}"})  # fmt: skip
    lines = (json.dumps({"op_code": each.pop("op_code"), "worker_id": "a-1", **each}) for each in said)
    return "".join(f"{line}\n" for line in lines).encode()


WANTED = [
    ("objective", 1, 2.5), ("trial", 1, 0.0), ("params/lr", 1, 0.0),
    ("objective", 2, 4.5), ("trial", 2, 1.0), ("params/lr", 2, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("name", ["journal.log", "optuna.jsonl", "optuna_journal_storage.log"])
def test_a_finished_trial_is_a_point(name: str) -> None:
    """With its value and the parameters that are numbers; steps rise as trials end. Operations are none."""
    form = REGISTRY.recognise(name, journal())
    assert form is not None and form.name == "optuna"
    found = points(read_whole(form, MemFile(name, journal())))
    assert [(tag, step, value) for tag, step, _, value in found] == WANTED


@given(st.lists(st.integers(0, len(journal())), max_size=6))
def test_any_cut_of_a_journal_gives_the_same_points(cuts: list[int]) -> None:
    """Operations come one by one; what ends was begun before."""
    form = REGISTRY.recognise("journal.log", journal())
    assert form is not None
    found = points(read_in_pieces(form, "journal.log", cut(journal(), cuts), 64))
    assert [(tag, step, value) for tag, step, _, value in found] == WANTED
