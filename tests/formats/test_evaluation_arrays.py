"""`evaluations.npz` of Stable-Baselines3's EvalCallback."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rltui.logs.formats.documents.arrays_document import EVALUATIONS as FORMAT
from tests.support.logs.file_in_memory import MemFile, points, read_on, read_whole
from tests.support.logs.live_logs import delivered_once

NAME = "evaluations.npz"


def written(count: int, *, successes: bool = False, **more: ArrayLike) -> bytes:
    """What the callback has written after so many evaluations of three episodes."""
    steps = np.arange(1, count + 1) * 1000
    arrays: dict[str, ArrayLike] = {
        "timesteps": steps,
        "results": np.stack([steps / 1000.0, steps / 1000.0 + 1, steps / 1000.0 + 2], axis=1),
        "ep_lengths": np.full((count, 3), 20),
        **({"successes": np.tile([True, False, True], (count, 1))} if successes else {}),
        **more,
    }
    file = io.BytesIO()
    np.savez(file, allow_pickle=True, **arrays)
    return file.getvalue()


def test_each_evaluation_is_its_means_at_its_step() -> None:
    """Return, length and success of the episodes, by the names that the callback logs elsewhere."""
    batch = read_whole(FORMAT, MemFile(NAME, written(3, successes=True)))
    assert [(tag, step, value) for tag, step, _, value in points(batch) if step == 2000] == [
        ("eval/mean_reward", 2000, 3.0),
        ("eval/mean_ep_length", 2000, 20.0),
        ("eval/success_rate", 2000, pytest.approx(2 / 3)),
    ]
    assert not batch.problems and set(batch.step) == {1000, 2000, 3000}


def test_a_file_written_anew_gives_what_is_new() -> None:
    """Every evaluation replaces the file by its continuation."""
    file = MemFile(NAME, written(2))
    log = FORMAT.open(NAME)
    first = read_on(log, file)
    file.replace(written(4))
    again = read_on(log, file)
    assert [set(each.step.tolist()) for each in (*first, *again) if len(each)] == [{1000, 2000}, {3000, 4000}]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_file_that_is_cut_is_said_to_be(kept: float) -> None:
    """It waits for the rest; at the end it is told."""
    data = written(3)
    batch = read_whole(FORMAT, MemFile(NAME, data[: int(kept * len(data))]))
    assert not len(batch) and [each.code for each in batch.problems] == ["torn-tail"]


def test_objects_are_never_loaded() -> None:
    """An array of objects is a pickle: it would run what it says."""
    batch = read_whole(FORMAT, MemFile(NAME, written(2, results=np.array([[{}], [{}]], dtype=object))))
    assert not len(batch) and batch.problems


def test_a_packed_giant_is_not_unpacked() -> None:
    """A member that claims to be vast is left alone."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("timesteps.npy", b"\0" * (40 << 20))
    assert not len(read_whole(FORMAT, MemFile(NAME, file.getvalue())))


def test_damage_never_raises() -> None:
    """Any byte may be wrong."""
    data = written(2)
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        read_whole(FORMAT, MemFile(NAME, bytes(damaged)))


def test_beside_the_table_of_its_training_it_is_the_same_run(tmp_path: Path) -> None:
    """Its folder's run, whether the table says the evaluations or not."""
    (tmp_path / NAME).write_bytes(written(9))
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,rollout/ep_rew_mean\n" + "".join(f"{k}00,{k}.5\n" for k in range(1, 9))
    )
    delivered = delivered_once([tmp_path])
    assert list(delivered.runs()) == ["."] and len(delivered.points[NAME]) == 18
