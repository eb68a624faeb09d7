"""Damaged files of trackers: nothing raises, reads differently in pieces, or loses what stands before it."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import NamedTuple

from rltui.logs.batch import concat
from rltui.logs.formats.interface import HEAD, Format
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers import clearml, swanlab, wandb
from tests.fuzz.damage import damaged
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_on, read_whole
from tests.support.logs.record_logs import (
    SWANLAB,
    WANDB,
    column,
    config,
    ended,
    finished,
    history,
    metric,
    record_log,
    scalar,
    stats,
)


class Seed(NamedTuple):
    """A small file of a tracker: its format, its name, its header and its records."""

    form: Format
    name: str
    header: bytes
    records: list[bytes]

    @property
    def framed(self) -> bool:
        """Whether its records stand in frames with checksums."""
        return bool(self.header)

    def file(self, records: list[bytes]) -> bytes:
        """The file with these records."""
        return record_log(self.header, records) if self.framed else b"".join(records)


@cache
def seeds() -> list[Seed]:
    """One small file of each shape."""
    rows = [
        {"loss": 1 / (1 + at), "val|acc": at, "odd": float("nan"), "_step": at, "_timestamp": 1e9 + at}
        for at in range(12)
    ]
    histogram = {"grad|_type": "histogram", "grad|values": [1, 2], "grad|bins": [0.0, 1.0, 2.0], "loss": 1.0}
    wandb_records = [
        config({"lr": 0.1}), metric("step"), metric(glob="val/*", axis="step"),
        *[history(row, at, nested=at % 2 == 0) for at, row in enumerate(rows)],
        history(histogram, 12), stats({"gpu.0.gpu": 50.0}, 1_000_000_000), ended(1),
    ]  # fmt: skip
    swan = [column("loss"), column("train/loss", axis="train/step"), column("gpu", system=True)]
    swan += [
        scalar(key, at, at / 7) for at in range(12) for key in ("loss", "train/step", "train/loss", "gpu")
    ]
    first = [
        {"model_type": "Scalar", "data": {"metric": {"index": at, "data": at / 3}, "key": "loss", "step": at}}
        for at in range(12)
    ]
    events = [{"timestamp": 1763600000000 + at, "type": "training_stats_scalar", "metric": "train",
               "variant": "loss", "iter": at, "value": at / 9} for at in range(8)]  # fmt: skip
    return [
        Seed(wandb.FORMAT, "run-abc.wandb", WANDB, wandb_records),
        Seed(swanlab.FORMAT, "run-abc.swanlab", SWANLAB + b"\x02", [*swan, finished(1)]),
        Seed(swanlab.FORMAT, "a.swanlab", SWANLAB + b"\x01", [json.dumps(one).encode() for one in first]),
        Seed(clearml.FORMAT, "metrics.jsonl", b"", [json.dumps(events[at : at + 2]).encode() + b"\n"
                                                    for at in range(0, 8, 2)]),
    ]  # fmt: skip


def mutate(seed: Seed, draw: random.Random) -> tuple[bytes, int]:
    """The file with some damage, and how many of its first bytes are as they were.

    Damage of content in a sound frame comes first, so that the messages themselves are damaged, too.
    """
    records = list(seed.records)
    sound = len(records)
    if draw.random() < 0.6:
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(records))
            records[at], _ = damaged(records[at], draw)
            sound = min(sound, at)
    whole = seed.file(records)
    first = len(seed.file(records[:sound]))
    if sound == len(records) or draw.random() < 0.5:
        whole, same = damaged(whole, draw)
        first = min(first, same)
    return whole, first


def attempt(seed: Seed, draw: random.Random) -> None:
    """Damage a file and read it in every way. Raises whatever a reader raises, AssertionError."""
    data, first = mutate(seed, draw)
    form, name = seed.form, seed.name
    REGISTRY.recognise(name, data[:HEAD])
    form.open(name).newest(MemFile(name, data), draw.randint(1, 4000))
    whole = points(read_whole(form, MemFile(name, data)))
    pieces = cut(data, [draw.randrange(len(data) + 1) for _ in range(3)])
    parts = points(read_in_pieces(form, name, pieces, draw.choice((7, 1000, 1 << 20))))
    assert parts == whole, "read differently in pieces"
    intact = points(concat(read_on(form.open(name), MemFile(name, data[:first]))))
    assert [repr(one) for one in whole[: len(intact)]] == [repr(one) for one in intact], (
        "lost what came before"
    )
