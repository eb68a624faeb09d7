"""Random event files, and their batches in a form for exact comparison."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from rltui.logs.batch import Batch
from rltui.logs.formats.tfevents.bulk import bulk_reader
from tests.support.logs import tfwriter as w

SINGLY, COLUMNS = 1 << 60, 0

_tags = st.sampled_from(
    ["a", "loss", "reward/mean", "actor/" + "x" * 50, "y" * 120, "z" * 250, "näme\x1b[1m"]
)
_steps = st.one_of(
    st.integers(0, 300), st.integers(-(2**63), 2**63 - 1), st.sampled_from([127, 128, 16383, 16384, 2**49])
)
_walls = st.one_of(st.just(w.WALL), st.floats(allow_nan=True))
_floats = st.binary(min_size=4, max_size=4)


@st.composite
def _value(draw: st.DrawFn) -> bytes:
    tag = draw(_tags)
    kind = draw(st.integers(0, 9))
    if kind >= 8:
        of = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
        return (w.histogram_of if kind == 8 else w.histogram_tensor)(tag, of, draw(st.integers(1, 5)))
    if kind <= 2:
        return w.simple(tag, draw(_floats))
    number = draw(st.integers(0, 100))
    if kind <= 5:
        dtype = draw(st.sampled_from(list(w.DTYPES)))
        content, packed = draw(st.booleans()), draw(st.booleans())
        plugin = draw(st.sampled_from(["scalars", "scalars", None, "histograms"]))
        return w.tensor(tag, number, dtype, content=content, packed=packed, plugin=plugin)
    return w.histogram(tag, 3) if kind == 6 else w.text(tag, "some\ntext")


@st.composite
def record(draw: st.DrawFn) -> bytes:
    """One record, or several of the same kind."""
    kind = draw(st.integers(0, 19))
    step, wall = draw(_steps), draw(_walls)
    if kind == 0:
        return w.session_start(step, wall)
    if kind == 1:
        return w.record(draw(st.binary(max_size=40)))
    if kind == 2:
        return w.event(step, w.hparams({"lr": 0.1}), wall=wall)
    if kind == 3:
        return w.graph(draw(st.integers(0, 600)))
    if kind == 4:
        return w.event(step, w.simple("a", 1.0), wall=wall, extra=b"\x10\x05")  # a second step, which counts
    values = draw(st.lists(_value(), min_size=1, max_size=3))
    return w.event(step, *values, wall=wall) * draw(st.integers(1, 4))


files = st.lists(record(), max_size=40).map(b"".join)


@contextmanager
def columns_from(size: int) -> Iterator[None]:
    """Read blocks of at least `size` bytes as columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_reader, "COLUMNS_FROM", size)
        yield


def content(batch: Batch) -> tuple[object, ...]:
    """Everything but the problems, comparable to the bit."""
    texts = [(t.tag, t.step, struct.pack("<d", t.wall_time), t.kind, t.body) for t in batch.texts]
    columns = (batch.tag, batch.step, batch.wall_time, batch.value, batch.single)
    histograms = [
        (h.tag, h.step, struct.pack("<9d", h.wall_time, *h.quantiles, h.count)) for h in batch.histograms
    ]
    return (list(batch.tags), [c.tobytes() for c in columns], batch.starts, texts, histograms)
