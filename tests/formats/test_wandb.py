"""Files of Weights & Biases: history rows, step metrics, statistics, ends, damage."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import Batch
from rltui.logs.formats.trackers import wandb
from tests.support.logs.file_in_memory import MemFile, cut, read_in_pieces, read_whole, rows
from tests.support.logs.record_logs import WANDB, config, ended, history, metric, record_log, stats
from tests.support.shared import SHARED

FORM = wandb.FORMAT
NAME = "run-abc.wandb"


def read(*payloads: bytes) -> Batch:
    """A file of these records, read to its end."""
    return read_whole(FORM, MemFile(NAME, record_log(WANDB, payloads)))


def row(step: int) -> bytes:
    """A row as a trainer logs it."""
    return history({"loss": 1 / (step + 1), "val|acc": step, "_step": step, "_timestamp": 1e9 + step}, step)


def test_rows_become_points() -> None:
    """Keys are joined by `/`, the tracker's own items are no series, `_timestamp` is the wall time."""
    batch = read(row(3))
    assert rows(batch) == [("loss", 3, 0.25), ("val/acc", 3, 3.0)]
    assert set(batch.wall_time) == {1e9 + 3}


def test_a_plain_key_is_read_as_a_nested_one() -> None:
    """Releases up to 0.17 write `key`, later ones `nested_key`."""
    assert rows(read(history({"a/b": 0.5, "_step": 1}, 1, nested=False))) == [("a/b", 1, 0.5)]


def test_values_that_are_no_numbers_are_left_out() -> None:
    """Texts, booleans, lists and objects with a type are no points; NaN and infinities are."""
    batch = read(
        history(
            {"s": "warm", "b": True, "l": [1], "x": math.nan, "y": math.inf, "z": -math.inf, "n": {"m": 2}}, 7
        )
    )
    found = {tag: value for tag, _, value in rows(batch)}
    assert set(found) == {"x", "y", "z", "n/m"}
    assert found["y"] == math.inf and found["z"] == -math.inf and found["n/m"] == 2.0


@pytest.mark.parametrize("flat", [True, False])
def test_a_media_object_is_no_series(flat: bool) -> None:
    """Whether it is one item or flattened; its table is known with the row's step."""
    table: dict[str, object] = {"_type": "table-file", "path": "media/table/t_4_ab.table.json", "nrows": 3}
    items = {f"t|{key}": value for key, value in table.items()} if flat else {"t": table}
    file = MemFile(NAME, record_log(WANDB, [history({**items, "loss": 1.0}, 5)]))
    assert rows(read_whole(FORM, file)) == [("loss", 5, 1.0)]
    assert wandb.table_steps(file) == {"t_4_ab.table.json": 5}


def test_x_is_the_step_metric() -> None:
    """An exact name goes before a glob; without a whole number of the step metric, x is the step."""
    batch = read(
        metric(glob="train/*", axis="train/global_step"),
        metric(name="train/odd", axis="other"),
        history({"train/loss": 1.0, "train/odd": 2, "eval/acc": 3, "train/global_step": 70, "other": 5}, 1),
        history({"train/loss": 4.0}, 2),
        history({"train/loss": 5.0, "train/global_step": 1.5}, 3),
    )
    found = {(tag, value): step for tag, step, value in rows(batch)}
    assert found["train/loss", 1.0] == 70 and found["train/odd", 2.0] == 5 and found["eval/acc", 3.0] == 1
    assert found["train/loss", 4.0] == 2 and found["train/loss", 5.0] == 3


@pytest.mark.parametrize("nested", [True, False])
def test_x_is_the_global_step_of_rows_from_event_files(nested: bool) -> None:
    """Wandb syncs each event as a row of its own with its step beside it, whatever rows it has had before."""
    synced = [
        history({"global_step": 2048 * k, "rollout/ep_rew_mean": k, "_step": 7 * k}, 7 * k, nested=nested)
        for k in (1, 2)
    ]
    own = history({"global_step": 0.5, "loss": 3, "_step": 20}, 20, nested=nested)
    assert rows(read(*synced, own))[1::2] == [
        ("rollout/ep_rew_mean", 2048, 1.0), ("rollout/ep_rew_mean", 4096, 2.0), ("loss", 20, 3.0)
    ]  # fmt: skip


@pytest.mark.parametrize("nested", [True, False])
def test_x_of_rows_from_several_event_files_is_the_global_step_of_their_folder(nested: bool) -> None:
    """Wandb puts the folder of an event file before the names of its items, that of the step included."""
    row = {"train/global_step": 2048, "train/losses/value": 1.0, "eval/global_step": 512, "eval/return": 2.0}
    found = {tag: step for tag, step, _ in rows(read(history(row, 7, nested=nested)))}
    assert (found["train/losses/value"], found["eval/return"]) == (2048, 512)


def test_a_preview_leaves_the_reading_as_it_is() -> None:
    """A step metric that is declared in the previewed end does not place the rows before it."""
    rows_and_axis = [
        history({"loss": 1.0, "seen": 70}, 1),
        metric(name="loss", axis="seen"),
        history({"loss": 2.0, "seen": 80}, 2),
    ]
    file = MemFile(NAME, record_log(WANDB, rows_and_axis))
    reader = FORM.open(NAME)
    reader.newest(file, file.size())
    assert rows(reader.read(file)) == [
        ("loss", 1, 1.0),
        ("seen", 1, 70.0),
        ("loss", 80, 2.0),
        ("seen", 2, 80.0),
    ]


def test_statistics_configuration_and_end() -> None:
    """System statistics have the step of the last row; configuration and exit code are handed up."""
    batch = read(
        config({"lr": 1e-6, "algorithm": {"kl": 0.1}}), row(4), stats({"gpu.0.gpu": 93.5}, 1_763), ended(1)
    )
    assert ("system/gpu.0.gpu", 4, 93.5) in rows(batch)
    bodies = {text.kind: text.body for text in batch.texts}
    assert json.loads(bodies["hparams"]) == {"lr": 1e-6, "algorithm": {"kl": 0.1}}
    assert bodies["exit-code"] == "1"


def test_a_bad_checksum_costs_one_row() -> None:
    """The damaged record is skipped and said, its neighbours are read."""
    data = bytearray(record_log(WANDB, [row(step) for step in range(9)]))
    data[len(data) // 2] ^= 0xFF
    batch = read_whole(FORM, MemFile(NAME, bytes(data)))
    assert len({step for _, step, _ in rows(batch)}) == 8
    assert [(problem.code, problem.count) for problem in batch.problems] == [("corrupt-record", 1)]


def test_a_torn_end_is_no_damage_while_the_file_may_grow() -> None:
    """The last record waits; only when the file will not grow is it reported, as torn."""
    data = record_log(WANDB, [row(step) for step in range(5)])
    file = MemFile(NAME, data[:-3])
    log = FORM.open(NAME)
    batch = log.read(file)
    assert max(step for _, step, _ in rows(batch)) == 3 and not batch.problems
    assert [problem.code for problem in FORM.open(NAME).finish(file).problems] == ["torn-tail"]
    file.append(data[-3:])
    assert {step for _, step, _ in rows(log.read(file))} == {4}


@given(data=st.data(), count=st.integers(1, 60), wide=st.integers(1, 60))
def test_any_cut_gives_the_same_points(data: st.DataObject, count: int, wide: int) -> None:
    """However the bytes arrive, the points are the same; records cross blocks of 32 KiB."""
    payloads = [history({f"metric/{k}": step + k / 7 for k in range(wide)}, step) for step in range(count)]
    content = record_log(WANDB, payloads)
    whole = read_whole(FORM, MemFile(NAME, content))
    pieces = cut(content, data.draw(st.lists(st.integers(0, len(content)), max_size=12)))
    assert rows(read_in_pieces(FORM, NAME, pieces)) == rows(whole)
    assert len(whole) == count * wide


def test_the_newest_rows_are_found_without_the_rest() -> None:
    """A preview of the end reads no more than asked for and gives the last rows."""
    content = record_log(WANDB, [history({f"m/{k}": step for k in range(40)}, step) for step in range(300)])
    file = MemFile(NAME, content)
    batch = FORM.open(NAME).newest(file, 65_536)
    assert max(step for _, step, _ in rows(batch)) == 299
    assert sum(length for _, length in file.reads) <= 65_536


FIXTURES = sorted((SHARED / "trackers").glob("wandb-*/wandb/*run-*/run-*.wandb"))


@pytest.mark.parametrize("path", FIXTURES, ids=[path.parts[-4] for path in FIXTURES])
def test_files_of_the_real_software_agree_with_their_oracles(path: Path) -> None:
    """Every series of a run has the oracle's number of points, first and last point."""
    oracle = json.loads((SHARED / "trackers" / f"{path.parts[-4]}.oracle.json").read_text())
    found: dict[str, list[tuple[int, float]]] = {}
    for tag, step, value in rows(read_whole(FORM, MemFile(NAME, path.read_bytes()))):
        found.setdefault(tag, []).append((step, value))
    for run in oracle["runs"]:
        if path.parent.name.rpartition("-")[2] not in " ".join(run["names"]) or "attempts" in run:
            continue
        for tag, series in run["series"].items():
            assert len(found[tag]) == series["count"], tag
            assert found[tag][0] == (series["first"][0], float(series["first"][1]))
            assert found[tag][-1] == (series["last"][0], float(series["last"][1]))
