"""JSON lines: every shape that trainers write, every damage that files meet."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import Batch
from rltui.logs.formats.interface import HEAD, LINE_CAP
from rltui.logs.formats.lines import jsonl
from rltui.logs.formats.lines.line_splitter import MAX_WAITS
from rltui.logs.records.tag_table import TAG_CAP
from rltui.metrics.resolve import MetricNames
from tests.support.logs.file_in_memory import (
    MemFile,
    SparseFile,
    cut,
    points,
    read_in_pieces,
    read_on,
    read_whole,
)

FORM = jsonl.FORMAT


def read(*lines: object, name: str = "metrics.jsonl") -> Batch:
    """A file of the given records (or raw lines), read to its end."""
    raw = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    return read_whole(FORM, MemFile(name, raw))


def table(batch: Batch) -> dict[str, list[tuple[int, float | None]]]:
    """Steps and values by tag."""
    found: dict[str, list[tuple[int, float | None]]] = {}
    for tag, step, _, value in points(batch):
        found.setdefault(tag, []).append((step, value))
    return found


def codes(batch: Batch) -> list[str]:
    """Codes of the diagnostics."""
    return [problem.code for problem in batch.problems]


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ({"step": 3, "loss": 0.5}, {"loss": [(3, 0.5)]}),
        ({"step": 3, "data": {"critic/score/mean": 1, "a": None}}, {"critic/score/mean": [(3, 1.0)]}),
        ({"loss": 2, "global_step/max_steps": "10/438"}, {"loss": [(10, 2.0)]}),
        (
            {"loss": "1.5", "iteration": "7/9", "token_acc": "45.5%"},
            {"loss": [(7, 1.5)], "token_acc": [(7, 45.5)]},
        ),
        ({"current_steps": 5, "loss": 0.1}, {"loss": [(5, 0.1)]}),
        ({"time/total_timesteps": 2048, "time/fps": 7}, {"time/fps": [(2048, 7.0)]}),
        ({"time": {"total_timesteps": 2048, "fps": 7}}, {"time/fps": [(2048, 7.0)]}),
        (
            {"training_iteration": 2, "info": {"learner": {"p0": {"kl": 0.5}}}, "done": True},
            {"info/learner/p0/kl": [(2, 0.5)]},
        ),
        ({"episode": 4, "reward": -1, "step": 9}, {"episode": [(9, 4.0)], "reward": [(9, -1.0)]}),
        ({"Episode": 4, "Total Reward": 2}, {"Total Reward": [(4, 2.0)]}),
        ({"step": 1.0, "x": 2}, {"x": [(1, 2.0)]}),
        ({"step": "12", "x": 2}, {"x": [(12, 2.0)]}),
        ({"step": -3, "x": 2}, {"x": [(-3, 2.0)]}),
        ({"step": 2**63 - 1, "x": 2}, {"x": [(2**63 - 1, 2.0)]}),
        ({"step": 1, "x": [1, 2, 6]}, {"x/mean": [(1, 3.0)], "x/min": [(1, 1.0)], "x/max": [(1, 6.0)]}),
        (
            {"step": 1, "x": [], "y": [1, "a"], "z": 1, "flag": True, "s": "tinker://a", "n": None},
            {"z": [(1, 1.0)]},
        ),
        (
            {"step": 1, "name": "000005", "date": "2026-11-20_08-18-47", "id": "f8f16_00000", "z": 1},
            {"z": [(1, 1.0)]},
        ),
        (
            {"step": 1, "counts": {"0.0": 3, "1.0": 1}},
            {"counts/mean": [(1, 0.25)], "counts/min": [(1, 0.0)], "counts/max": [(1, 1.0)]},
        ),
        ({"step": 1, "agents": {"0": 3.0, "1": 1}}, {"agents/0": [(1, 3.0)], "agents/1": [(1, 1.0)]}),
        ({"step": 1, "x": "NaN", "y": "-Infinity"}, {"x": [(1, None)], "y": [(1, -math.inf)]}),
    ],
)
def test_shapes(record: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Each shape of record gives its step, its keys as written and its numbers, and nothing else."""
    assert table(read(record)) == wanted


def test_durations_are_seconds() -> None:
    """Elapsed and remaining times, which LLaMA-Factory and ms-swift write as text, become seconds."""
    found = table(
        read(
            {"step": 1, "elapsed_time": "0:01:02", "remaining_time": "3 days, 17:51:32", "note": "0:01:02"},
            {"step": 2, "elapsed_time": "1m 3s", "remaining_time": "1h 2m 3s"},
        )
    )
    assert found == {
        "elapsed_time": [(1, 62.0), (2, 63.0)],
        "remaining_time": [(1, 3 * 86400 + 17 * 3600 + 51 * 60 + 32.0), (2, 3723.0)],
    }


def test_planned_steps_are_handed_up_once() -> None:
    """The planned number of steps is told when it is first declared and when it changes."""
    batch = read(*({"current_steps": n, "total_steps": 50 + n // 3, "loss": 1} for n in range(5)))
    assert [(text.kind, text.body) for text in batch.texts] == [("total-steps", "50"), ("total-steps", "51")]
    batch = read({"global_step/max_steps": "10/438", "loss": 1})
    assert [(text.kind, text.body) for text in batch.texts] == [("total-steps", "438")]
    assert read({"step": 1, "total_steps": 5}).texts == ()  # may well be a counter


def test_settings_first_are_no_scalars() -> None:
    """A first record of settings becomes a hparams text, not points."""
    for hparams_record in (
        {"type": "config", "lr": 0.1, "seed": 3},
        {"config": {"lr": 0.1}},
        {"model": "gpt2", "algo": "grpo", "lr": 0.1, "use_kl": True},
    ):
        batch = read(hparams_record, {"step": 1, "loss": 0.5})
        assert table(batch) == {"loss": [(1, 0.5)]}
        assert [json.loads(text.body) for text in batch.texts if text.kind == "hparams"] == [hparams_record]


def test_rows_that_look_like_settings_are_points() -> None:
    """Records mostly of text are rows, the first one too, where the second has the same keys."""
    rows = [{"task": "sum", "kind": "math", "parts": {"format": 1.0}, "score": n} for n in (0.5, 0.25, 0.75)]
    batch = read(*rows)
    assert table(batch)["score"] == [(1, 0.5), (2, 0.25), (3, 0.75)]
    assert table(batch)["parts/format"] == [(1, 1.0), (2, 1.0), (3, 1.0)]
    assert [text for text in batch.texts if text.kind == "hparams"] == []


def test_closing_summary_is_no_point() -> None:
    """The object that ms-swift appends at the end repeats the log and is left out."""
    summary = {
        "last_model_checkpoint": "a",
        "best_metric": 0.5,
        "global_step": 9,
        "log_history": [{"loss": 1}],
    }
    assert table(read({"step": 1, "loss": 0.5}, summary)) == {"loss": [(1, 0.5)]}


def test_records_without_a_step() -> None:
    """Where no record has a step, its number counts, said once; where others have one, the latest counts."""
    batch = read({"loss": 5}, {"loss": 4}, {"loss": 3})
    assert table(batch) == {"loss": [(1, 5.0), (2, 4.0), (3, 3.0)]}
    assert codes(batch) == ["no-step"]
    batch = read({"step": 7, "loss": 5}, {"test/acc": 0.5})
    assert table(batch) == {"loss": [(7, 5.0)], "test/acc": [(7, 0.5)]}
    assert codes(batch) == []


def test_several_lines_per_step_keep_their_order() -> None:
    """Lines with different keys, some with text, come out in the order of the file."""
    batch = read(
        {"step": 1, "a": 1},
        {"step": 1, "b": 2},
        {"step": 1, "a": 3, "note": "x"},
        {"step": 2, "a": 4},
        {"step": 2, "b": 5},
    )
    assert [(tag, step, value) for tag, step, _, value in points(batch)] == [
        ("a", 1, 1.0),
        ("b", 1, 2.0),
        ("a", 1, 3.0),
        ("a", 2, 4.0),
        ("b", 2, 5.0),
    ]


@pytest.mark.parametrize(
    ("key", "value", "wall"),
    [
        ("time", 1763600000.25, 1763600000.25),
        ("timestamp", 1763600000, 1763600000.0),
        ("_timestamp", 1763600000250, 1763600000.25),
        ("_timestamp", 1763600000123, 1763600000.123),
        ("timestamp", 1763600000123456, 1763600000.123456),
        ("timestamp", "2025-11-20T00:53:20+00:00", 1763600000.0),
        ("timestamp", "2025-11-20T00:53:20Z", 1763600000.0),
        ("time", 12.5, None),  # an elapsed time
        ("timestamp", "yesterday", None),
        ("timestamp", -1, None),
        ("timestamp", 1e308, None),
        ("timestamp", None, None),
    ],
)
def test_wall_times(key: str, value: object, wall: float | None) -> None:
    """Wall times in seconds, milliseconds and ISO text are understood; anything else is unknown."""
    found = [point[2] for point in points(read({"step": 1, key: value, "x": 1})) if point[0] == "x"]
    assert found == [wall]


def test_the_wall_time_of_wandb_is_no_series() -> None:
    """It is that of each point, as in W&B's own files; what is no clock reading stays a number of the run."""
    found = points(read({"step": 1, "_timestamp": 1763600000.25, "x": 1}))
    assert [(tag, wall) for tag, _, wall, _ in found] == [("x", 1763600000.25)]
    found = points(read({"step": 1, "_timestamp": 12.5, "x": 1}))
    assert {(tag, wall) for tag, _, wall, _ in found} == {("x", None), ("_timestamp", None)}


def test_numbers_survive_exactly() -> None:
    """Non-finite tokens, huge, tiny and negative zero values are the float64 that Python reads."""
    batch = read(
        b'{"step": 1, "a": NaN, "b": Infinity, "c": -Infinity, "d": -0.0}',
        b'{"step": 2, "e": 5e-324, "f": 1e400, "g": 9007199254740993}',
        b'{"step": 9007199254740993, "h": 1e308, "i": 123456789012345678901234567890}',
    )
    found = {tag: value for tag, _, _, value in points(batch)}
    assert found["a"] is None
    assert (found["b"], found["c"], found["e"], found["f"]) == (math.inf, -math.inf, 5e-324, math.inf)
    assert found["d"] is not None
    assert math.copysign(1, found["d"]) == -1
    assert (found["g"], found["h"], found["i"]) == (9007199254740992.0, 1e308, 1.2345678901234568e29)
    assert batch.step[-1] == 9007199254740993
    assert not batch.single.any()


def test_line_endings_marks_and_encodings() -> None:
    """CRLF, byte-order marks at the start and inside, blank lines and invalid UTF-8 lose nothing."""
    batch = read(
        b'\xef\xbb\xbf{"step": 1, "x": 1}\r',
        b"",
        b"   ",
        b'\xef\xbb\xbf{"step": 2, "x": 2}\r',
        b'{"step": 3, "x": 3, "\xff": 4}',
    )
    assert table(batch)["x"] == [(1, 1.0), (2, 2.0), (3, 3.0)]
    assert table(batch)["�"] == [(3, 4.0)]
    assert codes(batch) == []


def test_text_between_is_counted_once() -> None:
    """Foreign lines are counted in one diagnostic with the place and a cleaned quotation of the first."""
    batch = read(
        {"step": 1, "x": 1},
        b"Traceback (most recent call last):\x1b]0;evil\x07",
        b"{'py': 1}",
        b"[1, 2]",
        b"42",
        {"step": 2, "x": 2},
    )
    assert table(batch) == {"x": [(1, 1.0), (2, 2.0)]}
    (problem,) = batch.problems
    assert (problem.code, problem.count, problem.offset) == ("not-json", 4, len('{"step": 1, "x": 1}\n'))
    assert "Traceback" in problem.message
    assert "\x1b" not in problem.message


def test_two_objects_and_torn_lines() -> None:
    """Two objects on a line both count; a line torn by another writer loses only its torn part."""
    batch = read(
        b'{"step": 1, "x": 1}{"step": 2, "x": 2}',
        b'{"step": 3, "lo{"step": 4, "x": 4}',
        b'{"step": 5, "x": 5}{"step": 6, "x',
        b'"b": 1, "c": {"d": 2}}',
    )
    assert table(batch) == {"x": [(1, 1.0), (2, 2.0), (4, 4.0), (5, 5.0)]}
    assert batch.problems[0].count == 3


def test_all_objects_of_a_line_count() -> None:
    """However many a writer put on one line."""
    batch = read(b"".join(b'{"step": %d, "x": 1}' % step for step in range(40)))
    assert len(table(batch)["x"]) == 40


@pytest.mark.parametrize(
    "line",
    [
        b'{"step": 1, "x": ' + b"9" * 5000 + b"}",
        b'{"step": 1, "z": ' + b"9" * 400 + b', "counts": {"0.5": ' + b"9" * 400 + b"}}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"step": 1, "x": ' + b"[" * 2000 + b"]" * 2000 + b"}",
        b"\xff\xfe\x00",
        b'{"step": 1',
        b"{" * 50_000,
    ],
    ids=["digits", "huge", "brackets", "objects", "closed", "binary", "cut", "braces"],
)
def test_absurd_lines_touch_no_other(line: bytes) -> None:
    """5,000-digit integers, deep nesting and binary rubbish cost their own line only."""
    found = table(read({"step": 1, "y": 1}, line, {"step": 2, "y": 2}))
    assert found["y"] == [(1, 1.0), (2, 2.0)]


def test_hostile_keys() -> None:
    """Lone surrogates, escape sequences and duplicate keys become clean tags; the last duplicate counts."""
    batch = read(b'{"step": 1, "\\ud800": 1, "\\u001b]0;t\\u0007": 2, "d": 3, "d": 4}')
    assert table(batch) == {"\\ud800": [(1, 1.0)], "\\x1b]0;t\\x07": [(1, 2.0)], "d": [(1, 4.0)]}
    for tag in batch.tags:
        tag.encode()


def test_ever_new_keys_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys made anew for each record stop at the cap, which is said once."""
    monkeypatch.setattr("rltui.logs.records.tag_table.TAG_CAP", 50)
    assert TAG_CAP == 100_000
    batch = read(*({"step": n, f"k{n}": 1.0} for n in range(80)))
    assert len(batch.tags) == len(batch) == 50
    assert codes(batch) == ["too-many-tags"]


def test_a_torn_last_line_waits_for_its_newline() -> None:
    """Nothing of a line is taken before its newline came; when it came, the line counts once."""
    file = MemFile("metrics.jsonl", b'{"step": 1, "x": 1}\n{"step": 2, "x": 2', b"5}", b"\n")
    log = FORM.open(file.path)
    assert [len(batch) for batch in read_on(log, file)] == [1]
    file.grow()
    assert read_on(log, file) == []
    file.grow()
    assert [points(batch) for batch in read_on(log, file)] == [[("x", 2, None, 25.0)]]
    assert log.offset == file.size()


def test_finish_takes_a_complete_last_line_and_reports_a_torn_one() -> None:
    """At the end of reading a complete object needs no newline; a torn one is reported and left."""
    file = MemFile("metrics.jsonl", b'{"step": 1, "x": 1}\n{"step": 2, "x": 2}')
    assert table(read_whole(FORM, file)) == {"x": [(1, 1.0), (2, 2.0)]}
    batch = read_whole(FORM, MemFile("metrics.jsonl", b'{"step": 1, "x": 1}\n{"step": 2, "x'))
    assert table(batch) == {"x": [(1, 1.0)]}
    assert codes(batch) == ["torn-tail"]


def test_long_lines() -> None:
    """A line of 2 MB is read; one beyond the cap is skipped without being held, and said."""
    long = json.dumps({"step": 2, "x": 2, "text": "a" * 2_000_000}).encode()
    assert table(read({"step": 1, "x": 1}, long, {"step": 3, "x": 3}))["x"] == [(1, 1.0), (2, 2.0), (3, 3.0)]
    length = LINE_CAP + 100
    body = b'{"step": 1, "x": 1}\n' + b"a" * length + b"\n" + b'{"step": 2, "x": 2}\n'
    batch = read_whole(FORM, MemFile("metrics.jsonl", body))
    assert table(batch) == {"x": [(1, 1.0), (2, 2.0)]}
    (problem,) = batch.problems
    assert (problem.code, problem.offset) == ("long-line", 20)
    assert abs(problem.count - length) < 2


def test_a_huge_hole_is_skipped_in_constant_memory() -> None:
    """The hole of zeros that copytruncate leaves under a writer is skipped block by block, and said once."""
    size = 512 << 20
    tail = b'{"step": 1, "x": 1}\n'
    file = SparseFile("metrics.jsonl", size + len(tail), [(size, tail)])
    tracemalloc.start()
    batch = read_whole(FORM, file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table(batch) == {"x": [(1, 1.0)]}
    assert [(p.code, p.offset, p.count) for p in batch.problems] == [("zero-bytes", 0, size)]
    assert file.largest_read <= 1 << 20
    assert peak < 8 << 20


def test_zeros_that_fill_in_late_lose_nothing() -> None:
    """A page of zeros before later text is looked at again before it is judged; what fills in is read."""
    lines = b"".join(b'{"step": %d, "x": %d}\n' % (n, n) for n in range(1000))
    for begin, end in ((0, 4096), (100, 4196), (8192, 12288)):
        holed = lines[:begin] + b"\0" * (end - begin) + lines[end:]
        file = MemFile("metrics.jsonl", holed)
        log = FORM.open(file.path)
        early = read_on(log, file)
        file.fill(begin, lines[begin:end])
        late = read_on(log, file)
        assert sum(len(batch) for batch in early + late) == 1000
        assert not any(batch.problems for batch in early + late)


def test_zeros_that_stay_are_skipped_after_some_looks() -> None:
    """Zeros that never fill in cost only the lines they cover, after a bounded number of looks."""
    lines = b"".join(b'{"step": %d, "x": %d}\n' % (n, n) for n in range(1000))
    file = MemFile("metrics.jsonl", lines[:100] + b"\0" * 4096 + lines[4196:])
    log = FORM.open(file.path)
    batches = [log.read(file) for _ in range(2 * MAX_WAITS + 4)]
    assert log.offset == file.size()
    assert sum(map(len, batches)) > 700
    assert table(read_whole(FORM, file)).keys() == {"x"}


def test_newest_reads_the_end_only() -> None:
    """The newest values come from the last bytes alone, share the tag table and move nothing."""
    lines = b"".join(b'{"step": %d, "x": %d}\n' % (n, n) for n in range(10_000))
    file = MemFile("metrics.jsonl", lines + b'{"step": 10000, "x')
    log = FORM.open(file.path)
    batch = log.newest(file, 1000)
    assert table(batch)["x"][-1] == (9999, 9999.0)
    assert 20 < len(batch) < 60
    assert log.offset == 0
    assert sum(length for _, length in file.reads) <= 1000
    (first, *_) = read_on(log, file)
    assert first.tags is batch.tags


def test_newest_leaves_out_lines_whose_step_is_unknown() -> None:
    """Where line numbers are the steps, the end of the file cannot tell them."""
    file = MemFile("metrics.jsonl", b"".join(b'{"x": %d}\n' % n for n in range(1000)))
    assert len(FORM.open(file.path).newest(file, 100)) == 0


_keys = st.sampled_from(["step", "loss", "a/b", "é", "time", "n"])
_values = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.floats(), max_size=3),
)
_lines = st.one_of(
    st.dictionaries(_keys, _values, max_size=5).map(lambda record: json.dumps(record).encode()),
    st.binary(max_size=20).map(lambda junk: junk.replace(b"\n", b"").replace(b"\0", b"")),
)


def same(one: Batch, other: Batch) -> bool:
    """Whether two batches hold the same points, to the bit."""
    return (
        points(one) == points(other)
        and np.array_equal(one.value.view(np.uint64), other.value.view(np.uint64))
        and repr(one.texts) == repr(other.texts)  # a NaN is no time, and equals none
    )


@given(st.lists(_lines, max_size=8), st.lists(st.integers(0, 400), max_size=6), st.integers(1, 200))
def test_any_pieces_give_the_same(lines: list[bytes], places: list[int], budget: int) -> None:
    """The same bytes, cut anywhere and read with any budget, give the same scalars."""
    data = b"\n".join(lines) + b"\n"
    whole = read_whole(FORM, MemFile("metrics.jsonl", data))
    assert same(read_in_pieces(FORM, "metrics.jsonl", cut(data, places), budget), whole)


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_damage_loses_only_what_it_touches(place: int, damage: bytes) -> None:
    """Whatever overwrites some bytes, lines before and after it are read, and nothing raises."""
    lines = [b'{"step": %d, "x": %d.5}\n' % (n, n) for n in range(100)]
    data = bytearray(b"".join(lines))
    place = min(place, len(data) - len(damage))
    data[place : place + len(damage)] = damage
    touched = [
        n
        for n in range(100)
        if sum(map(len, lines[:n])) < place + len(damage) and sum(map(len, lines[: n + 1])) > place - 1
    ]
    found = table(read_whole(FORM, MemFile("metrics.jsonl", bytes(data)))).get("x", [])
    around = set(touched) | {n + 1 for n in touched}
    assert all((n, n + 0.5) in found for n in range(100) if n not in around)


def test_a_single_object_without_a_step_is_a_result() -> None:
    """It becomes a log when more follow; under a name that only logs have it is one at once.

    One that names its step is none before its line ends: a checkpoint says of itself where it is.
    """
    one = b'{"highest_score": 12}'
    assert not FORM.matches("score.json", one) and not FORM.matches("score.json", one + b"\n")
    assert FORM.matches("score.json", one + b"\n" + one)
    stepped = b'{"episode": 361, "score": 12}'
    assert FORM.matches("score.json", stepped + b"\n") and not FORM.matches("score.json", stepped)
    assert FORM.matches("metrics.json", one) and FORM.matches("score.jsonl", one)


_WORKERS = b"".join(
    json.dumps({"episode": k, "Worker ID": worker, "return": k + worker / 4}).encode() + b"\n"
    for worker in (1, 2)
    for k in (1, 2, 3)
)


@given(st.lists(st.integers(0, len(_WORKERS)), max_size=6))
def test_workers_that_count_by_themselves_are_told_apart(places: list[int]) -> None:
    """The first keeps its names; those that count the same steps, and a resumed one, are one series."""
    batch = read_in_pieces(FORM, "metrics.jsonl", cut(_WORKERS, places), 50)
    found = table(batch)
    assert found.pop("Worker ID") == [(k, 1.0) for k in (1, 2, 3)]
    assert found == {
        "return": [(k, k + 0.25) for k in (1, 2, 3)], "worker_2/return": [(k, k + 0.5) for k in (1, 2, 3)]
    }  # fmt: skip
    assert codes(batch) == ["several-writers"]
    same = read(*({"step": k, "env_id": k % 2, "return": k} for k in range(1, 6)), {"step": 2, "env_id": 0})
    resumed = read(*({"step": k, "rank": 0, "return": k} for k in (1, 2, 3, 1, 2, 3)))
    assert {*table(same)} == {"env_id", "return"} and {*table(resumed)} == {"rank", "return"}


@pytest.mark.parametrize(("key", "word"), [("agent", "agent"), ("AgentID", "agent"), ("client_id", "client")])
def test_agents_are_told_apart_at_one_step(key: str, word: str) -> None:
    """Agents learn something of their own, and have names; so do the clients of a federation."""
    batch = read(*({"step": k, key: who, "return": k} for k in (1, 2) for who in ("red", "blue")))
    assert table(batch) == {"return": [(1, 1.0), (2, 2.0)], f"{word}_blue/return": [(1, 1.0), (2, 2.0)]}


@pytest.mark.parametrize(("first", "stride"), [(0, 1), (1, 1), (0, 50), (50, 50)])
def test_steps_of_each_epoch_are_counted_on(first: int, stride: int) -> None:
    """Where epochs begin again as well, it is another training; a step that only falls is no new epoch."""
    epochs = [range(first, first + 3 * stride, stride)] * 3
    rows = [{"epoch": e, "step": k, "loss": 0.5} for e, steps in enumerate(epochs) for k in steps]
    steps = [first + k * stride for k in range(9)]
    assert [step for step, _ in table(read(*rows))["loss"]] == steps
    assert [step for step, _ in table(read(*rows, *rows[:3]))["loss"]] == [*steps, *steps[:3]]
    assert [step for step, _ in table(read(*rows, rows[-2]))["loss"]] == [*steps, steps[-2]]
    lengths = [{"episode": k, "step": length, "loss": 0.5} for k, length in enumerate((200, 180, 190, 30))]
    assert [step for step, _ in table(read(*lengths))["loss"]] == [200, 380, 570, 600]
    after = [{"epoch": k // 2, "step": 10 * (k // 2 + k % 2), "loss": 0.5} for k in range(6)]
    assert [step for step, _ in table(read(*after))["loss"]] == [0, 10, 10, 20, 20, 30]
    whole = [{**row, "step": steps[at]} for at, row in enumerate(rows)]  # of the whole training
    assert [step for step, _ in table(read(*whole))["loss"]] == steps


@given(st.lists(st.integers(0, 400), max_size=6))
def test_steps_of_epochs_are_the_same_wherever_the_bytes_are_cut(places: list[int]) -> None:
    """Nothing is remembered but the last counters; a preview of the end leaves such rows out."""
    rows = [{"episode": e, "epoch": e // 2, "step": k, "x": k} for e in range(4) for k in (5, 10)]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    batch = read_in_pieces(FORM, "metrics.jsonl", cut(data, places), 40)
    assert [step for step, _ in table(batch)["x"]] == [5, 10, 15, 20, 25, 30, 35, 40]
    assert len(FORM.open("metrics.jsonl").newest(MemFile("metrics.jsonl", data), 120)) == 0


@pytest.mark.parametrize("plan", ["total_timesteps", "Total Timesteps"])
def test_a_plan_beside_a_counter_is_no_step(plan: str) -> None:
    """It stays the same while the other counter increases; a total that counts is the step."""
    rows = [{plan: 9000, "timestep": 100 * k, "return": k} for k in range(1, 5)]
    batch = read(*rows)
    assert table(batch)["return"] == [(100 * k, float(k)) for k in range(1, 5)]
    assert [text.body for text in batch.texts if text.kind == "total-steps"] == ["9000"]
    counting = [{**row, plan: 900 * k} for k, row in enumerate(rows, 1)]
    assert table(read(*counting))["return"] == [(900 * k, float(k)) for k in range(1, 5)]
    assert table(read(rows[0]))["return"] == [(9000, 1.0)]


@pytest.mark.parametrize("key", ["step", "timesteps"])
def test_lengths_of_episodes_are_added_up(key: str) -> None:
    """The first of them, too, although they may grow at first; steps of the whole training only grow."""
    lengths = (20, 27, 30, 21, 25)
    rows = [{"episode": k, key: length, "return": 1.5} for k, length in enumerate(lengths)]
    found = table(read(*rows))
    assert found["return"] == [(step, 1.5) for step in (20, 47, 77, 98, 123)]
    assert [value for _, value in found[key]] == list(lengths)
    whole = [{"episode": k, key: 20 * k, "return": 1.5} for k in range(9)]
    assert [step for step, _ in table(read(*whole))["return"]] == [20 * k for k in range(9)]


def test_steps_beside_episodes_are_the_axis_if_they_are_added_up() -> None:
    """Lengths of single episodes vary, and mean lengths of a better agent grow by less, or ever faster."""
    totals = (31, 60, 102, 121, 150, 190, 214)
    rows = [{"episode": k, "steps": steps, "return": 1.5} for k, steps in enumerate(totals)]
    assert table(read(*rows))["return"] == [(steps, 1.5) for steps in totals]
    assert "steps" not in table(read(*rows))
    for lengths in (totals[:5], (31, 60, 55, 80, 90, 95, 99), (20, 21, 23, 24, 25, 27, 30)):
        found = table(read(*({"episode": k, "steps": each, "x": 1} for k, each in enumerate(lengths))))
        assert found["steps"] == [*enumerate(map(float, lengths))]
    means = (20, 60, 110, 200, 400, 700, 900)
    found = table(read(*({"episode": 10 * k, "steps": each, "x": 1} for k, each in enumerate(means, 1))))
    assert [value for _, value in found["steps"]] == list(means)


@given(st.lists(st.integers(0, 300), max_size=6))
def test_doubtful_steps_are_the_same_wherever_the_bytes_are_cut(places: list[int]) -> None:
    """Records wait until the doubt is settled, and the first ones have the steps that were found."""
    for rows in (
        [{"total_timesteps": 900, "timestep": 10 * k, "x": k} for k in range(1, 9)],
        [{"episode": k, "step": 20 + k * 5 % 7, "x": k} for k in range(8)],
        [{"episode": k, "steps": 20 * k + 9, "x": k} for k in range(8)],
    ):
        data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        assert points(read_in_pieces(FORM, "metrics.jsonl", cut(data, places), 40)) == points(
            read_whole(FORM, MemFile("metrics.jsonl", data))
        )


def test_pairs_of_answers_are_a_data_set() -> None:
    """Whatever their scores; a step makes a log of them."""
    row = {"chosen": "a", "rejected": "b", "score": 0.5}
    assert not FORM.matches("train.jsonl", json.dumps(row).encode() + b"\n")
    assert FORM.matches("train.jsonl", json.dumps({"step": 1, **row}).encode() + b"\n")


@pytest.mark.parametrize(
    "item", [{"question_index": 7}, {"prompt_id": 7}, {"Example Idx": 7}, {"question": "a", "response": "b"}]
)
def test_results_of_questions_are_no_log(item: dict[str, object]) -> None:
    """Numbered or answered ones, even under a telling name and with a score; a step makes a log of them."""
    row = {**item, "harm_score": 0.5, "answer": "a"}
    lines = json.dumps(row).encode() + b"\n"
    assert not FORM.matches("eval_results.jsonl", lines)
    assert not FORM.matches(
        "eval_results.jsonl", lines * 3 + lines[:-4]
    )  # cut within a record, whose keys are known
    assert not FORM.matches("eval_results.jsonl", lines * 3 + b'{"harm_score": 0.5, "ans')
    assert FORM.matches("eval_results.jsonl", json.dumps({"step": 1, **row}).encode() + b"\n")


@pytest.mark.parametrize("count", [1, 25, 80])
@pytest.mark.parametrize(
    "values",
    [
        {
            "mean_reward": 0.5,
            "reward_std": 0.1,
            "kl": 0.01,
            "entropy": 1.5,
            "clip_frac": 0.1,
            "grad_norm": 0.5,
        },
        {"reward": 0.5, "format_reward": 0.2, "correctness_reward": 0.3, "response_length": 100},
        {"score": 0.5, "kl": 0.01},
        {"score": 0.5, "entropy": 1.5},
    ],
)
def test_updates_with_a_sample_are_a_log_at_any_size(values: dict[str, float], count: int) -> None:
    """A prompt and its completion beside rewards or numbers of an update are no test set, without a step."""
    record = {**values, "prompt": "What is 2 + 2?", "completion": "It is 4."}
    text = (json.dumps(record).encode() + b"\n") * count
    assert count < 80 or len(text) > HEAD
    for name in ("train.jsonl", "rewards.jsonl"):
        assert FORM.matches(name, text[:HEAD])


@pytest.mark.parametrize(
    "value", [{"loss": 0.5}, {"lr": 1e-4}, {"timestamp": 1.76e9}, {"_timestamp": 1.76e9}]
)
def test_items_that_a_training_numbers_are_a_log(value: dict[str, float]) -> None:
    """A loss, a learning rate or a wall time is of an update; a duration is one of an answer, too."""
    row = {"example_idx": 7, "reward": 0.5}
    assert FORM.matches("log.jsonl", json.dumps({**row, **value}).encode() + b"\n")
    assert not FORM.matches("log.jsonl", json.dumps({**row, "time": 2.5}).encode() + b"\n")


def test_steps_and_numbers_may_both_be_in_groups() -> None:
    """A step alone in a group is one of anything."""
    row = {"time": {"step": 7}, "train": {"reward": 2.5}}
    assert FORM.matches("log.jsonl", json.dumps(row).encode() + b"\n")
    assert table(read(row, row)) == {"train/reward": [(7, 2.5)] * 2}
    assert not FORM.matches("log.jsonl", json.dumps({"session": {"step": 7, "id": "a"}}).encode() + b"\n")


def test_conditions_of_one_table_are_told_apart() -> None:
    """Each has steps of its own, which may be named, and is no restart; an answer is no value."""
    batch = read(
        *(
            {"method": method, "step": f"step_{k}", "mean_reward": k / 4, "ground_truth": "42"}
            for method in ("ppo", "no kl")
            for k in (100, 200)
        )
    )
    assert table(batch) == {
        "mean_reward": [(100, 25.0), (200, 50.0)], "method_no kl/mean_reward": [(100, 25.0), (200, 50.0)]
    }  # fmt: skip
    assert codes(batch) == ["several-writers"]
    assert MetricNames(None).name("method_no kl/mean_reward").canonical == "reward.mean"


_LONG = [
    {"env": env, "seed": seed, "step": 100 * k, "metric": metric, "value": k + seed / 4 + len(env)}
    for env in ("Ant", "Hopper")
    for seed in (1, 2)
    for k in (1, 2)
    for metric in ("loss", "reward")
]


@given(st.lists(st.integers(0, 1500), max_size=6), st.booleans())
def test_a_table_in_long_form_is_read_by_its_labels(places: list[int], by_step: bool) -> None:
    """Each row has one value under its name; environments and seeds are told apart, in blocks or by turns."""
    rows = sorted(_LONG, key=lambda row: row["step"]) if by_step else _LONG
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    batch = read_in_pieces(FORM, "metrics.jsonl", cut(data, places), 90)
    assert table(batch) == {
        f"{prefix}{metric}": [(100, 1 + add), (200, 2 + add)]
        for prefix, add in (
            ("", 3.25), ("seed_2/", 3.5), ("env_Hopper/", 6.25), ("env_Hopper/seed_2/", 6.5)
        )
        for metric in ("loss", "reward")
    }  # fmt: skip
    assert codes(batch) == ["several-writers"]


def test_processes_of_one_table_are_told_apart_if_they_write_by_turns() -> None:
    """A number of a process that changes once is a restart, which has the same names."""
    rows = [{"PID": pid, "Episode": k, "Reward": 0.5 * k} for pid in (71, 72) for k in (1, 2, 3)]
    assert {*table(read(*rows))} == {"PID", "Reward"}
    by_turns = sorted(rows, key=lambda row: row["Episode"])
    assert {*table(read(*by_turns))} == {"PID", "Reward", "pid_72/Reward"}
    assert MetricNames(None).name("pid_31693/Reward").canonical == "reward.mean"


def test_trials_of_one_file_are_told_apart_if_they_write_by_turns() -> None:
    """RLlib appends a later training to the file of the one before, which is no writer beside it."""
    trials = [{"training_iteration": k, "trial_id": trial, "x": k} for trial in "ab" for k in (1, 2, 3)]
    assert {*table(read(*trials))} == {"x"}
    assert {*table(read(*sorted(trials, key=lambda row: str(row["training_iteration"]))))} == {
        "x",
        "trial_b/x",
    }


def test_a_seed_of_each_episode_is_no_writer() -> None:
    """However the episodes are counted; the seed of a training is the same in several records."""
    each = [{"episode": k % 3, "seed": k, "x": k} for k in range(6)]
    assert {*table(read(*each))} == {"x"}
    assert {*table(read(*({**row, "seed": k // 3} for k, row in enumerate(each))))} == {"x", "seed_1/x"}
