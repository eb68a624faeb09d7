"""Curves that a loop saves whole: arrays of numpy, and printed lists."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rltui.logs.formats.documents.arrays_document import ARCHIVE
from rltui.logs.formats.documents.arrays_document import CURVE as FORMAT
from tests.support.logs.file_in_memory import MemFile, points, read_on, read_whole
from tests.support.logs.live_logs import delivered_once

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
        ("rewards.npy", saved([CURVE])),
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


@pytest.mark.parametrize("indent", [None, 1])
def test_pairs_in_a_json_document(indent: int | None) -> None:
    """In a list, or in an object with the steps as keys; one that is cut waits."""
    pairs = [[100 * k, value] for k, value in enumerate(CURVE)]
    for whole in (pairs, dict(pairs)):
        data = json.dumps(whole, indent=indent).encode()
        assert FORMAT.matches("rewards.json", data) and not FORMAT.matches("sizes.json", data)
        found = points(read_whole(FORMAT, MemFile("rewards.json", data)))
        assert [(tag, step, value) for tag, step, _, value in found] == [("rewards", *pair) for pair in pairs]
        assert len(FORMAT.open("rewards.json").read(MemFile("rewards.json", data[:-2]))) == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_pairs_of_a_step_and_a_number(order: Literal["C", "F"]) -> None:
    """The first column counts, in either layout; other pairs are no curve."""
    pairs = np.asarray([[100 * k, value] for k, value in enumerate(CURVE)], order=order)
    assert FORMAT.matches("rewards.npy", saved(pairs))
    assert [
        (tag, step, value)
        for tag, step, _, value in points(read_whole(FORMAT, MemFile("rewards.npy", saved(pairs))))
    ] == [("rewards", 100 * k, value) for k, value in enumerate(CURVE)]
    assert not FORMAT.matches("rewards.npy", saved(pairs[::-1]))
    late = np.concatenate([pairs, pairs[:1]])
    assert len(read_whole(FORMAT, MemFile("rewards.npy", saved(late)))) == 0


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rewards.npy", saved(np.zeros((12, 3)))),
        ("rewards.npy", saved(np.zeros(12, np.uint8))),  # of a replay buffer
        ("rewards.npy", saved([None] * 12)),
        ("rewards.npy", saved(CURVE[:3])),
        ("weights.npy", saved(CURVE)),
        ("rewards.npy", b"\x93NUMPY\x01\x00v"),
        ("rewards.npy", saved(np.zeros((1, 1, 12))).replace(b"(1, 1, 12)", b"(-1,-1,12)")),
        ("rewards.txt", b"[1, 2, 3]"),
        ("rewards.csv", b"1,2,3,4,5,6,7,8,9,10,11,12\n1,2,3\n"),
    ],
)
def test_other_arrays_are_none(name: str, data: bytes) -> None:
    """Matrices, bytes, objects, a few results, and arrays that are not named after a metric."""
    assert not FORMAT.matches(name, data)


RECORDED = [
    [1024.0, -1217.0, 217.0, -1.4, 74.0, 0.03, 0.005],
    [4096.0, -1346.0, 277.0, -1.4, 33.4, 0.02, -0.06],
]


@pytest.mark.parametrize(
    ("columns", "tags"),
    [
        (3, ["Time", "avgR"]),
        (6, ["avgR", "stdR", "expR", "objC", "objA"]),
        (7, ["avgR", "stdR", "expR", "objC", "objA", "etc."]),
    ],
)
def test_rows_of_a_known_table_are_evaluations(columns: int, tags: list[str]) -> None:
    """ElegantRL's recorder, in which only the number of columns tells what they are."""
    data = saved(np.array(RECORDED)[:, :columns])
    assert FORMAT.matches("recorder.npy", data) and FORMAT.matches("recorder.npy", data[:140])
    assert [
        (tag, step, value)
        for tag, step, _, value in points(read_whole(FORMAT, MemFile("recorder.npy", data)))
    ] == [
        (tag, int(row[0]), value) for row in RECORDED for tag, value in zip(tags, row[1:columns], strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("recorder.npy", np.zeros((5, 4))),
        ("recorder.npy", np.zeros((0, 6))),
        ("recorder.npy", np.zeros(12)),
        ("buffer.npy", np.zeros((5, 6))),
    ],
)
def test_other_tables_are_none(name: str, values: ArrayLike) -> None:
    """Layouts with another number of columns, no rows, no columns, and other names."""
    assert not FORMAT.matches(name, saved(values))


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


def archive(**arrays: ArrayLike) -> bytes:
    """What `np.savez` writes; an array of objects is pickled."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=True, **{name: np.asarray(each) for name, each in arrays.items()})
    return file.getvalue()


@pytest.mark.parametrize("steps", [range(100, 1300, 100), None])
def test_arrays_of_one_archive_are_columns(steps: range | None) -> None:
    """One named like a step is theirs; objects are not read, nor arrays of several columns."""
    arrays = {"returns": CURVE, "notes": np.array([{}] * 12), "weights": np.zeros((12, 3))}
    data = archive(**arrays, **({} if steps is None else {"timesteps": steps}))
    assert ARCHIVE.matches("training_log.npz", data[:4096])
    batch = read_whole(ARCHIVE, MemFile("training_log.npz", data))
    assert [(tag, step, value) for tag, step, _, value in points(batch)] == [
        ("returns", step, value) for step, value in zip(steps or range(1, 13), CURVE, strict=True)
    ]


def test_other_archives_are_none() -> None:
    """Data sets, replay buffers, names of something else; a cut one waits."""
    data = archive(rewards=CURVE, actions=CURVE, states=CURVE)
    assert len(read_whole(ARCHIVE, MemFile("rewards.npz", data))) == 0
    assert not ARCHIVE.matches("train.npz", archive(x_train=CURVE)[:4096])
    assert not ARCHIVE.matches("weights.npz", archive(returns=CURVE)[:4096])
    assert not ARCHIVE.matches("replay_rewards.npz", archive(rewards=CURVE)[:4096])
    assert not ARCHIVE.matches("evaluations.npz", archive(returns=CURVE)[:4096])
    assert len(ARCHIVE.open("rewards.npz").read(MemFile("rewards.npz", archive(returns=CURVE)[:-9]))) == 0


def test_arrays_of_one_folder_are_one_run(tmp_path: Path) -> None:
    """Each is a metric of one loop; where a number tells them apart they are runs of their own."""
    for name in ("rewards", "losses", "rewards_2"):
        (tmp_path / f"{name}.npy").write_bytes(saved(CURVE))
    found = delivered_once([tmp_path])
    assert set(found.runs()) == {".", "rewards_2"}
    assert {tag for values in found.points.values() for tag, *_ in values} == {"rewards", "losses"}
