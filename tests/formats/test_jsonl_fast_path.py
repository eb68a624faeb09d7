"""JSON lines give what Python's parser gives, whichever parser reads them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.formats.lines.jsonl import objects, whole_objects
from rltui.logs.records.flatten import scalars
from rltui.logs.records.parse_number import wall_time
from rltui.logs.records.record_batcher import RecordBatcher
from tests.support.logs.file_in_memory import points

_PIECES = [
    "NaN",
    "Infinity",
    "-Infinity",
    '"',
    ":",
    ",",
    "[",
    "]",
    "{",
    "}",
    " ",
    "1",
    "-",
    "\\",
    "\x7f",
    "a",
]
_words = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
_values = st.recursive(
    st.floats() | st.integers(-9, 9) | st.none() | st.booleans() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)


def spelled(value: object) -> str:
    """JSON text in which NaN, infinities, whole floats and the order of keys can be told apart."""
    return json.dumps(value)


@given(st.dictionaries(_words, _values, max_size=5))
def test_bare_nan_and_infinity_are_read_as_python_reads_them(record: dict[str, object]) -> None:
    """At any depth, and the same words in keys and texts: as `json.loads` has them."""
    line = json.dumps(record, ensure_ascii=False)
    assert [spelled(each) for each in objects(line.encode())] == [spelled(json.loads(line))]


@given(st.lists(st.sampled_from([*_PIECES, '"a":', "NaN,", '{"']), max_size=14).map("".join))
def test_what_is_no_json_is_not_made_json(line: str) -> None:
    """Of any row of pieces only that is read which Python reads too, and as the same."""
    try:
        whole = json.loads(line)
    except ValueError:
        whole = None
    try:
        found = [spelled(each) for each in objects(line.encode())]
    except ValueError:
        assert not isinstance(whole, dict)
        return
    if isinstance(whole, dict):
        assert found == [spelled(whole)]
    assert "".join(found) == "".join(spelled(each) for each in whole_objects(line)[0])


_CELLS = (
    st.floats(allow_nan=False) | st.integers(-(10**20), 10**20) | st.none() | st.booleans()
    | st.sampled_from(["ppo", "0.5", "NaN", "12%", "1:02:03", "2026-11-20T10:00:00", "", [1, 2.5], {"x": 1}])
)  # fmt: skip


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b", "eta", "lr", "time", "data"]), _CELLS, max_size=6),
        max_size=8,
    )
)
def test_rows_say_what_their_records_say(records: list[dict[str, object]]) -> None:
    """Records of numbers, null, text and lists in any mixture: every scalar, in order, at its step."""
    rows = RecordBatcher("metrics.jsonl")
    expected = []
    for step, cells in enumerate(records):
        record = {"step": step, **cells}
        rows.add(record)
        inner = record.get("data")
        skip = ("step", "time") if math.isfinite(wall_time(record.get("time"))) else ("step",)
        enveloped = isinstance(inner, dict) and set(record) <= {"step", "data", "time"}
        said = scalars(inner) if enveloped and isinstance(inner, dict) else scalars(record, skip)
        expected += [(tag, step, None if math.isnan(value) else value) for tag, value in said]
    assert [(tag, step, value) for tag, step, _, value in points(rows.batch())] == expected


@pytest.mark.parametrize("pieces", [1, 7])
def test_null_after_many_numbers_is_a_lost_value(pieces: int) -> None:
    """Of veRL it is NaN. A metric that is not measured each time has nulls among its first records."""
    batcher, found = RecordBatcher("metrics.jsonl"), []
    for step in range(60):
        lost = {"actor/loss": 0.1 if step < 40 else None, "val/score": 0.5 if step % 10 == 0 else None}
        batcher.add({"step": step, "reward": 1.0, **lost})
        batcher.add({"step": step, "data": {"loss": None if step in (3, 50) else 1.0, "kl": 0.1}})
        batcher.add({"step": step, "a": 1.0, "alone": None if step == 40 else 1.0})
        batcher.add({"step": step, "c": 1.0, **dict.fromkeys(("x", "y", "z"), 2.0 if step < 30 else None)})
        if step % pieces == 0:
            found += points(batcher.batch())
    found += points(batcher.batch())
    missing = [(tag, step) for tag, step, _, value in found if value is None]
    assert missing == [(tag, step) for step in range(30, 60) for tag in "xyz"]
    assert sum(tag == "y" for tag, *_ in found) == 60
