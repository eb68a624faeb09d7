"""Compressed logs: every format inside gzip, whole, in members, cut and damaged."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

from rltui.logs.batch import Batch
from rltui.logs.follow.read_all import read_all
from rltui.logs.formats import gzip_and_utf16
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import REGISTRY
from tests.support.logs.file_in_memory import MemFile, points, read_on, read_whole
from tests.support.logs.text_oracles import read_path
from tests.support.shared import BUNDLED

LOGS = [
    "verl-grpo-nan/verl-grpo-nan.jsonl",
    "verl-grpo-nan/console.log",
    "sb3-sac/progress.csv",
    "trl-onlinedpo/trainer_state.json",
]


def read(name: str, data: bytes, budget: int = 1 << 20) -> Batch:
    """A compressed file, recognised and read to its end."""
    form = REGISTRY.recognise(name, data[:HEAD])
    assert form is not None
    assert form.name == "gzip"
    return read_whole(form, MemFile(name, data), budget)


def codes(batch: Batch) -> list[str]:
    """Codes of the diagnostics."""
    return [problem.code for problem in batch.problems]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("budget", [1000, 1 << 20])
def test_every_format_reads_the_same_inside(log: str, budget: int) -> None:
    """A compressed log gives what the plain one gives, read in small or large looks."""
    path = BUNDLED / log
    data = gzip.compress(path.read_bytes(), mtime=0)
    assert points(read(path.name + ".gz", data, budget)) == points(read_path(path))


def test_members_and_padding() -> None:
    """Members one after another are one log; zeros behind the last one are padding."""
    lines = [b'{"step": %d, "x": 1}\n' % n for n in range(4)]
    data = b"".join(gzip.compress(line, mtime=0) for line in lines) + b"\0" * 512
    batch = read("metrics.jsonl.gz", data)
    assert batch.step.tolist() == [0, 1, 2, 3]
    assert batch.problems == ()


def test_a_last_line_without_newline_counts() -> None:
    """Compressed data that are complete hold a complete file: a whole last object counts at once."""
    file = MemFile("metrics.jsonl.gz", gzip.compress(b'{"step": 1, "x": 1}\n{"step": 2, "x": 2}', mtime=0))
    form = REGISTRY.recognise(file.path, bytes(file.data[:HEAD]))
    assert form is not None
    log = form.open(file.path)
    assert [step for batch in read_on(log, file) for step in batch.step.tolist()] == [1, 2]
    assert log.offset == file.size()


def test_a_cut_file_gives_what_is_whole() -> None:
    """A compressed file that is cut gives its whole lines, and the cut is said."""
    lines = b"".join(b'{"step": %d, "x": %d}\n' % (n, n * n) for n in range(5000))
    data = gzip.compress(lines, mtime=0)
    batch = read("metrics.jsonl.gz", data[: len(data) // 2])
    assert 1000 < len(batch) < 5000
    assert batch.step.tolist() == list(range(len(batch)))
    assert "torn-tail" in codes(batch)


def test_damage_keeps_what_lies_before() -> None:
    """Damaged compressed data end the reading; what lies before is kept, and the damage is said once."""
    lines = b"".join(b'{"step": %d, "x": %d}\n' % (n, n * n) for n in range(50_000))
    data = bytearray(gzip.compress(lines, mtime=0))
    data[len(data) // 2 : len(data) // 2 + 64] = b"\xff" * 64
    batch = read("metrics.jsonl.gz", bytes(data), 4096)
    assert codes(batch).count("corrupt-gzip") == 1
    assert batch.step.tolist()[:1000] == list(range(1000))


def test_a_bomb_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unfolds to one enormous document is given up at the cap."""
    monkeypatch.setattr(gzip_and_utf16, "_CONTENT_CAP", 1 << 20)
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = engine.compress(b'[{"step": 1, "x": 1}' + b" " * (8 << 20)) + engine.flush()
    batch = read("metrics.jsonl.gz", data, 1 << 16)
    assert "too-large" in codes(batch)
    assert points(batch) == [("x", 1, None, 1.0)]


def test_other_compressions_say_so() -> None:
    """A log in a compression that is not read is found to say so, and other packed files are none of ours."""
    assert REGISTRY.could_be_log("metrics.jsonl.zst")
    assert not REGISTRY.could_be_log("weights.zst")
    assert REGISTRY.recognise("metrics.jsonl.zst", b"\x28\xb5\x2f\xfd") is None
    assert REGISTRY.recognise("logs.tar.gz", gzip.compress(b"x")) is None
    assert REGISTRY.recognise("metrics.jsonl.gz", b'{"step": 1}\n') is None
    assert REGISTRY.recognise("data.jsonl.gz", gzip.compress(b'{"step": 1, "x": 2}\n')) is None
    assert REGISTRY.recognise("weights.gz", gzip.compress(b"abc")) is None


def test_packed_copy_that_is_not_read_makes_no_run(tmp_path: Path) -> None:
    """A .zst beside a log is told of, and no run has its name; rotated logs inside gzip belong to theirs."""
    line = b'{"step": %d, "x": 2}\n'
    (tmp_path / "metrics.jsonl").write_bytes(line % 3)
    (tmp_path / "metrics.jsonl.1.gz").write_bytes(gzip.compress(line % 2))
    (tmp_path / "metrics.jsonl.2026-11-20.gz").write_bytes(gzip.compress(line % 1))
    (tmp_path / "metrics.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(range(64)))
    deliveries = list(read_all([tmp_path]))
    assert {delivery.source.run for delivery in deliveries if delivery.source.format} == {"."}
    assert [point[1] for delivery in deliveries for point in points(delivery.batch)] in ([2, 1, 3], [1, 2, 3])
    assert [problem.code for delivery in deliveries for problem in delivery.batch.problems] == ["not-read"]


@pytest.mark.parametrize(
    "name", ["rewards.xlsx", "episode_rewards.pkl", "training_history.pickle", "scores.ods"]
)
def test_values_in_formats_that_are_not_read_are_told_of(tmp_path: Path, name: str) -> None:
    """A spreadsheet or a pickle makes no run; it is said why, and what to do. Models are nothing of it."""
    (tmp_path / name).write_bytes(b"\x80\x04cos\nsystem\n" + bytes(99))
    for model in ("best_reward_model.pkl", "vecnormalize_stats.pkl", "scoreboard.xlsx"):
        (tmp_path / model).write_bytes(bytes(99))
    found = [problem for delivery in read_all([tmp_path]) for problem in delivery.batch.problems]
    assert [(problem.path, problem.code) for problem in found] == [(name, "not-read")]
    assert "; " in found[0].message
