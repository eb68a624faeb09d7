"""Files of SwanLab: both versions, x axes, hardware columns, ends, damage."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.formats.trackers import swanlab
from tests.support.logs.file_in_memory import MemFile, cut, read_in_pieces, read_whole, rows
from tests.support.logs.record_logs import SWANLAB, column, encode, finished, record_log, scalar

FORM = swanlab.FORMAT
NAME = "run-abc.swanlab"


def version_2(*payloads: bytes) -> bytes:
    """A file of version 2."""
    return record_log(SWANLAB + b"\x02", payloads)


def version_1(*records: dict[str, object]) -> bytes:
    """A file of version 1."""
    return record_log(SWANLAB + b"\x01", [json.dumps(record).encode() + b"\n" for record in records])


def test_scalars_of_version_2() -> None:
    """Key, step, time and value; NaN and infinities are values."""
    content = version_2(scalar("loss", 300, 0.5), scalar("val/acc", 300, math.inf), finished(2))
    batch = read_whole(FORM, MemFile(NAME, content))
    assert rows(batch) == [("loss", 300, 0.5), ("val/acc", 300, math.inf)]
    assert set(batch.wall_time) == {1_763_600_000.5}
    assert [(text.kind, text.body) for text in batch.texts] == [("exit-code", "1")]


def test_a_metric_with_an_x_axis_takes_its_value() -> None:
    """The axis may be logged before or after it; where it is missing, the step stays."""
    content = version_2(
        column("train/loss", axis="train/step"),
        scalar("train/loss", 1, 0.5), scalar("train/step", 1, 10.0),
        scalar("train/step", 2, 20.0), scalar("train/loss", 2, 0.25),
        scalar("train/loss", 3, 0.125),
    )  # fmt: skip
    found = [
        (step, value)
        for tag, step, value in rows(read_whole(FORM, MemFile(NAME, content)))
        if tag == "train/loss"
    ]
    assert sorted(found) == [(3, 0.125), (10, 0.5), (20, 0.25)]


def test_hardware_columns_are_system_metrics() -> None:
    """They have the step of the last metric, and a section of their own."""
    content = version_2(
        column("__swanlab__.gpu.0.pct", system=True),
        scalar("loss", 7, 1.0),
        scalar("__swanlab__.gpu.0.pct", 1, 93.0),
    )
    assert rows(read_whole(FORM, MemFile(NAME, content)))[-1] == ("system/gpu.0.pct", 7, 93.0)


def test_version_1() -> None:
    """JSON lines in frames; infinities have lost their sign, which is said."""

    def line(value: object, step: int) -> dict[str, object]:
        metric = {"index": step, "data": value, "create_time": "2026-11-22T06:22:28+00:00"}
        return {"model_type": "Scalar", "data": {"metric": metric, "key": "x", "step": step, "epoch": step}}

    content = version_1(
        line(0.5, 1), line("NaN", 2), line("INF", 3), {"model_type": "Footer", "data": {"success": True}}
    )
    batch = read_whole(FORM, MemFile("backup.swanlab", content))
    assert [(step, value) for _, step, value in rows(batch)][::2] == [(1, 0.5), (3, math.inf)]
    assert {problem.code for problem in batch.problems} == {"sign-lost"}
    assert [text.body for text in batch.texts] == ["0"]


@given(data=st.data(), count=st.integers(1, 900))
def test_any_cut_gives_the_same_points(data: st.DataObject, count: int) -> None:
    """However the bytes arrive, the points are the same."""
    content = version_2(column("b", axis="a"), *(scalar("ab"[k % 2], k // 2, k / 3) for k in range(count)))
    whole = read_whole(FORM, MemFile(NAME, content))
    assert sorted(
        rows(
            read_in_pieces(
                FORM, NAME, cut(content, data.draw(st.lists(st.integers(0, len(content)), max_size=12)))
            )
        )
    ) == sorted(rows(whole))
    assert len(whole) == count


def test_an_unknown_version_is_said_once() -> None:
    """Whatever the version byte, 0 too: one problem, and the file is read as version 2."""
    for version in (0, 9):
        content = record_log(SWANLAB + bytes([version]), [scalar("loss", 1, 0.5)])
        batch = read_whole(FORM, MemFile(NAME, content))
        assert rows(batch) == [("loss", 1, 0.5)]
        assert [problem.code for problem in batch.problems] == ["unknown-version"]


def test_a_scalar_with_a_damaged_number_costs_nothing_but_itself() -> None:
    """It looks like any other until its step or time is decoded; those around it stay."""
    long = b"\xff" * 11 + b"\x01"  # no number has so many bytes
    for sound in (encode(1_763_600_000), b"\x10" + encode(300)):
        record = scalar("loss", 300, 6.5)
        begin = record.rindex(sound)
        damaged = record[:begin] + sound[:1] * (len(sound) < 4) + long + record[begin + len(sound) :]
        content = version_2(scalar("loss", 1, 0.5), damaged, scalar("loss", 7, 7.5))
        batch = read_whole(FORM, MemFile(NAME, content))
        assert rows(batch) == [("loss", 1, 0.5), ("loss", 7, 7.5)]
