"""Curves that a loop saves whole: arrays of numpy, and printed lists."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rltui.logs.follow.read_all import read_all
from rltui.logs.formats.documents.arrays_document import CURVE as FORMAT
from tests.support.logs.file_in_memory import MemFile, points, read_on, read_whole
from tests.support.logs.live_logs import Heard

CURVE = [k / 4 for k in range(12)]


def saved(values: ArrayLike) -> bytes:
    """What numpy.save writes."""
    file = io.BytesIO()
    np.save(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rewards.npy", saved(CURVE)),
        ("rewards.npy", saved([[each] for each in CURVE])),
        ("rewards.txt", str(CURVE).encode()),
        ("rewards.json", str(CURVE).encode() + b"\n"),
        ("rewards.txt", b"".join(b"%r, " % each for each in CURVE) + b"2.7"),
    ],
)
def test_each_number_is_an_episode(name: str, data: bytes) -> None:
    """They are called by the file; of a list that grows, what stands behind its last comma may be cut."""
    assert FORMAT.matches(name, data) and FORMAT.matches(name, data[:140])
    assert [
        (tag, step, value) for tag, step, _, value in points(read_whole(FORMAT, MemFile(name, data)))
    ] == [("rewards", step, value) for step, value in enumerate(CURVE, 1)]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rewards.npy", saved(np.zeros((12, 3)))),
        ("rewards.npy", saved(np.zeros(12, np.uint8))),  # of a replay buffer
        ("rewards.npy", saved([None] * 12)),
        ("rewards.npy", saved(CURVE[:3])),
        ("weights.npy", saved(CURVE)),
        ("rewards.npy", b"\x93NUMPY\x01\x00v"),
        ("rewards.txt", b"[1, 2, 3]"),
        ("rewards.csv", b"1,2,3,4,5,6,7,8,9,10,11,12\n1,2,3\n"),
    ],
)
def test_other_arrays_are_none(name: str, data: bytes) -> None:
    """Matrices, bytes, objects, a few results, and arrays that are not named after a metric."""
    assert not FORMAT.matches(name, data)


def test_an_array_that_was_saved_anew_goes_on() -> None:
    """Numbers that are not new are not said again; one that is not whole waits."""
    file = MemFile("rewards.npy", saved(CURVE))
    log = FORMAT.open(file.path)
    assert sum(map(len, read_on(log, file))) == 12
    longer = saved([*CURVE, 9.5])
    file.replace(longer[:-4])
    assert read_on(log, file) == []
    file.replace(longer)
    (batch,) = read_on(log, file)
    assert [(step, value) for _, step, _, value in points(batch)] == [(13, 9.5)]


def test_arrays_of_one_folder_are_one_run(tmp_path: Path) -> None:
    """Each is a metric of one loop; where a number tells them apart they are runs of their own."""
    for name in ("rewards", "losses", "rewards_2"):
        (tmp_path / f"{name}.npy").write_bytes(saved(CURVE))
    found = Heard()
    found.take(read_all([tmp_path]))
    assert set(found.runs()) == {".", "rewards_2"}
    assert {tag for values in found.points.values() for tag, *_ in values} == {"rewards", "losses"}
