"""Histograms as quantiles: what TensorBoard makes of them, and what stays of them in bounded memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import QUANTILES, Batch, Histogram
from rltui.logs.formats.tfevents.event_format import FORMAT
from rltui.logs.formats.trackers import wandb
from rltui.logs.records.histogram_quantiles import quantiles_of
from rltui.store.histograms import KEPT, HistogramSeries
from tests.support.logs import tfwriter as w
from tests.support.logs.file_in_memory import MemFile, read_whole
from tests.support.logs.record_logs import WANDB, history, record_log
from tests.support.shared import LOGS, needs_shared

NAME = "events.out.tfevents.1763600000.node7.991.0"
POINTS = [round(10_000 * share) for share in QUANTILES]
NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60)


def read(*events: bytes) -> Batch:
    """All that an event file with these records gives."""
    return read_whole(FORMAT, MemFile(NAME, w.version() + b"".join(events)))


@given(NUMBERS, st.integers(1, 40))
def test_quantiles_are_those_of_tensorboard(values: list[float], buckets: int) -> None:
    """A HistogramProto and a tensor give the values that TensorBoard draws as a distribution."""
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.distribution.compressor import compress_histogram_proto

    value = w.histogram_of("h", values, buckets)
    proto = Summary.Value.FromString(value).histo
    expected = np.array([at for _, at in compress_histogram_proto(proto, POINTS)])
    batch = read(w.event(7, value), w.event(8, w.histogram_tensor("h", values, buckets)))
    assert [(one.tag, one.step, one.count) for one in batch.histograms] == [
        ("h", 7, len(values)), ("h", 8, len(values))
    ]  # fmt: skip
    scale = max(map(abs, values), default=0.0) or 1.0
    width = np.ptp(np.histogram(values, buckets)[1]) / buckets  # a tensor says no more of its ends
    for one in batch.histograms:
        assert one.quantiles[0] == pytest.approx(min(values), abs=1.001 * width)
        assert one.quantiles[-1] == pytest.approx(max(values), abs=1.001 * width)
        assert (np.diff(one.quantiles) >= 0).all()
    got = np.array(batch.histograms[0].quantiles)
    near = np.isclose(got, expected, atol=1e-9 * scale)
    upto = np.cumsum(proto.bucket) / len(values)
    ties = [np.isclose(upto, share).any() for share in QUANTILES]  # on an edge rounding decides the bucket
    assert (near | ties).all()


@needs_shared
def test_histograms_of_a_real_event_file() -> None:
    """Each histogram of a file that torch wrote, with the steps of TensorBoard's accumulator."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.distribution.compressor import compress_histogram_proto

    (path,) = (LOGS / "odd/odd-torch/torch_all").glob("*rank0")
    accumulator = EventAccumulator(str(path), size_guidance={"histograms": 0})
    accumulator.Reload()
    expected = accumulator.Histograms("weights/layer1")
    batch = read_whole(FORMAT, MemFile(NAME, Path(path).read_bytes()))
    assert [(one.step, one.wall_time) for one in batch.histograms] == [
        (e.step, e.wall_time) for e in expected
    ]
    for one, event in zip(batch.histograms, expected, strict=True):
        values = event.histogram_value
        proto = type("Histo", (), {"num": values.num, "min": values.min, "max": values.max})()
        proto.bucket, proto.bucket_limit = values.bucket, values.bucket_limit
        wanted = [at for _, at in compress_histogram_proto(proto, POINTS)]
        assert one.quantiles == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    "counts",
    [[], [0.0, 0.0], [float("nan"), 1.0], [-1.0, 2.0], [float("inf"), 1.0]],
    ids=["empty", "nothing", "nan", "negative", "infinite"],
)
def test_histograms_without_meaning_give_nothing(counts: list[float]) -> None:
    """Nothing is made up of a histogram that counts nothing, or of counts that are none."""
    edges = np.arange(len(counts) + 1.0)
    assert quantiles_of(edges[:-1], edges[1:], np.array(counts)) is None


def test_damaged_histogram_hides_nothing() -> None:
    """A histogram whose columns do not fit is left out; the scalar beside it is read."""
    torn = w.raw_tag("h") + w.field(5, w.field(6, b"12345678") + w.field(7, b"1234567812345678"))
    batch = read(w.event(1, torn, w.simple("a", 2.0)), w.event(2, w.raw_tag("h") + w.field(5, b"\xff")))
    assert (batch.histograms, batch.value.tolist()) == ((), [2.0])


@pytest.mark.parametrize("flat", [True, False])
def test_histograms_of_wandb(flat: bool) -> None:
    """An object of counts and edges is a histogram, whole or in parts as newer versions write it."""
    whole = {"_type": "histogram", "values": [1, 0, 3], "bins": [0.0, 1.0, 2.0, 3.0]}
    items = {f"grad|{part}": value for part, value in whole.items()} if flat else {"grad": whole}
    row = history({**items, "loss": 1.0, "_timestamp": 5.0}, 3)
    batch = read_whole(wandb.FORMAT, MemFile("run-a.wandb", record_log(WANDB, [row])))
    (one,) = batch.histograms
    assert (one.tag, one.step, one.wall_time, one.count) == ("grad", 3, 5.0, 4.0)
    assert (one.quantiles[0], one.quantiles[-1]) == (0.0, 3.0)
    assert one.quantiles[3] == pytest.approx(2 + 1 / 3)
    assert list(batch.tags) == ["loss"]


def made(step: int, wall: float, level: float = 0.0) -> Histogram:
    """A histogram around a level."""
    return Histogram("h", step, wall, tuple(level + share for share in QUANTILES), 10.0)


def test_memory_is_bounded_and_the_newest_stays() -> None:
    """Of 10,000 histograms a bounded number stays, over the whole run, the first and newest too."""
    series = HistogramSeries()
    for step in range(10_000):
        series.add(made(step, 1e9 + step))
        assert len(series) <= KEPT
        assert series.step[-1] == step
    assert (series.count, series.step[0], series.quantiles.shape[1]) == (10_000, 0, 7)
    assert np.diff(series.step).max() <= 2 * series.stride


def test_restart_replaces_histograms_in_any_order() -> None:
    """What was written later at an equal or lower step replaces what came before, in any order of logs."""
    old = [made(step, 100.0 + step, 0.0) for step in range(0, 60, 10)]
    new = [made(step, 500.0 + step, 9.0) for step in range(30, 80, 10)]
    for order in (old + new, new + old):
        series = HistogramSeries()
        for one in order:
            series.add(one)
        assert series.step.tolist() == [0, 10, 20, 30, 40, 50, 60, 70]
        assert series.quantiles[:, 0].tolist() == [0.0] * 3 + [9.0] * 5


def test_histograms_reach_the_run(tmp_path: Path) -> None:
    """A run has its histograms by tag, from the file to the store."""
    from rltui.logs.follow.read_all import read_all
    from rltui.store.store import Store

    events = [w.event(step, w.histogram_of("w", [step, step + 1.0])) for step in range(3)]
    (tmp_path / NAME).write_bytes(w.version() + b"".join(events))
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"step": 1, "loss": 1.0}) + "\n")
    store = Store()
    for delivery in read_all([str(tmp_path)]):
        store.apply(delivery)
    (run,) = store.runs.values()
    assert run.histograms["w"].step.tolist() == [0, 1, 2]
    assert run.histograms["w"].quantiles[:, 0].tolist() == [0.0, 1.0, 2.0]
