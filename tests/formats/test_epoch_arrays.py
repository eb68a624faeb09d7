"""Runs in one array per metric with a number for each epoch, as MushroomRL saves them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rltui.logs.formats.container import Part
from rltui.logs.formats.registry import REGISTRY
from tests.support.logs.live_logs import delivered_once


def save(folder: Path, epochs: int, seed: str = "", **others: int) -> None:
    """Arrays of an experiment, and others of the given lengths."""
    folder.mkdir(parents=True, exist_ok=True)
    for tag, length in {"J": epochs, "R": epochs, "entropy": epochs, **others}.items():
        np.save(folder / f"{tag}{seed}.npy", -np.arange(length, dtype=float))


def test_arrays_of_one_length_are_one_run(tmp_path: Path) -> None:
    """A number of each array is an epoch, also of few; losses of each fit have steps of their own."""
    save(tmp_path / "sac", 3, loss=400)
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["sac", "sac/loss"]
    assert found.points["sac/J.npy"] == [
        (tag, step, -step) for step in (0, 1, 2) for tag in ("J", "R", "entropy")
    ]


def test_each_seed_is_a_run_with_its_console(tmp_path: Path) -> None:
    """The console of a seed is named after the folder and the seed; it repeats the arrays."""
    for seed in (1, 2):
        save(tmp_path / "ppo", 12, f"-{seed}")
        lines = [f"27/11/2026 18:09:{k:02} [INFO] Epoch {k} | J: {-k}.0 R: {-k}.0" for k in range(12)]
        (tmp_path / "ppo" / f"ppo-{seed}.log").write_text("\n".join(lines) + "\n")
    found = delivered_once([tmp_path])
    assert sorted(found.runs()) == ["ppo/ppo-1", "ppo/ppo-2"]
    assert {place for place, points in found.points.items() if points} == {"ppo/J-1.npy", "ppo/J-2.npy"}


def test_other_arrays_named_so_are_no_run(tmp_path: Path) -> None:
    """A rotation, objects, and a few numbers without their partner."""
    np.save(tmp_path / "R.npy", np.eye(3))
    np.save(tmp_path / "J.npy", np.array([{}] * 12, dtype=object), allow_pickle=True)
    assert not delivered_once([tmp_path]).runs()
    np.save(tmp_path / "R.npy", np.arange(5.0))
    assert not delivered_once([tmp_path]).runs()


def test_epochs_are_read_once_and_a_torn_array_waits(tmp_path: Path) -> None:
    """Each epoch is there when all its arrays are; one that is being saved is read the next time."""
    save(tmp_path, 3)
    found = REGISTRY.parts(f"{tmp_path}/J.npy")
    assert found is not None
    (part,) = found.parts
    assert isinstance(part, Part)
    first = part.read(None, 1 << 20)
    assert first is not None and first.cursor == 3
    save(tmp_path, 5)
    whole = (tmp_path / "R.npy").read_bytes()
    (tmp_path / "R.npy").write_bytes(whole[:-8])
    assert part.read(first.cursor, 1 << 20) is None
    (tmp_path / "R.npy").write_bytes(whole)
    later = part.read(first.cursor, 1 << 20)
    assert later is not None and [step for step, *_ in later.records] == [3, 4]
