"""The tags of one log are bounded in number and length, whatever its format, and two stay two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.common.display_text import clean
from rltui.logs.batch import Batch, concat
from rltui.logs.formats.lines import jsonl
from rltui.logs.formats.tfevents import event_format
from rltui.logs.formats.tfevents.templates import ALL_TEMPLATES
from rltui.logs.records.tag_table import NAME_CAP, TagNames, name_of
from tests.support.logs import tfwriter as w
from tests.support.logs.file_in_memory import MemFile

LONG = st.text(min_size=NAME_CAP + 1, max_size=3 * NAME_CAP)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log may have fifty tags."""
    monkeypatch.setattr("rltui.logs.records.tag_table.TAG_CAP", 50)


def _events(tags: Sequence[str], steps: Sequence[int], value: float = 0.5) -> bytes:
    return b"".join(w.event(step, w.simple(tag, value + step)) for step in steps for tag in tags)


def _read(data: bytes, budget: int) -> Batch:
    """Everything of an event file, read in pieces."""
    file = MemFile("events.out.tfevents.1.host", data)
    log = event_format.FORMAT.open(file.path)
    batches = []
    while log.offset < len(data):
        batches.append(log.read(file, budget))
    return concat([*batches, log.finish(file)])


@pytest.mark.parametrize("budget", [300, 4_000, 1 << 20])
def test_further_tags_of_an_event_file_are_left_out_and_told(few: None, budget: int) -> None:
    """The first tags keep all their points, restarts keep their places, and it is said once."""
    tags = [f"group/tag{number}" for number in range(80)]
    data = w.version() + _events(tags, [1, 2]) + w.session_start(2) + _events(tags, range(2, 30))
    batch = _read(data, budget)
    assert list(batch.tags) == tags[:50]
    assert np.bincount(batch.tag).tolist() == [30] * 50
    assert [(start.index, start.step) for start in batch.starts] == [(100, 2)]
    assert (batch.value == batch.step + 0.5).all()
    assert [problem.code for problem in batch.problems] == ["too-many-tags"]
    assert "more than 50 different tags" in batch.problems[0].message


def test_the_end_of_an_event_file_names_no_more_tags(few: None) -> None:
    """A look at the newest values keeps to the cap, too."""
    tags = [f"tag{number}" for number in range(80)]
    data = w.version() + _events(tags, range(3))
    file = MemFile("events.out.tfevents.1.host", data)
    batch = event_format.FORMAT.open(file.path).newest(file, 1 << 16)
    assert len(batch.tags) == 50 and int(batch.tag.max()) < 50


def test_a_long_tag_keeps_what_its_first_metadata_said() -> None:
    """Later values of a tag may leave its metadata out, however long its name is."""
    batch = _read(w.first_metadata_file(20, ["y" * 9000, "z" * 9000]), 1 << 20)
    assert np.bincount(batch.tag).tolist() == [20, 20]


def test_records_of_many_values_keep_to_the_cap(few: None) -> None:
    """Summaries that hold all tags at once, which are read by templates, lose the further ones alone."""
    tags = [f"tag{number}" for number in range(80)]
    data = w.version() + b"".join(
        w.event(step, *(w.simple(tag, float(step)) for tag in tags)) for step in range(40)
    )
    for budget in (4_000, 1 << 20):
        batch = _read(data, budget)
        assert np.bincount(batch.tag).tolist() == [40] * 50
        assert (batch.value == batch.step).all()


def test_long_names_are_cut_and_stay_two() -> None:
    """Two names that differ only in the middle are two series, by the same names in every format."""
    tags = ["a" * 3000 + middle + "z" * 3000 for middle in "xy"] + ["short"]
    batch = _read(w.version() + _events(tags, range(5)), 1 << 20)
    assert [len(name) for name in batch.tags] == [NAME_CAP, NAME_CAP, 5]
    assert np.bincount(batch.tag).tolist() == [5, 5, 5]
    lines = "".join(json.dumps({"step": step, **dict.fromkeys(tags, 1.0)}) + "\n" for step in range(5))
    file = MemFile("metrics.jsonl", lines.encode())
    log = jsonl.FORMAT.open(file.path)
    assert list(log.read(file).tags) == list(batch.tags)


def test_a_name_of_megabytes_is_not_kept() -> None:
    """What is remembered of a log does not grow with the length of its names."""
    tags = ["x" * 200_000 + str(number) for number in range(5)]
    data = w.version() + _events(tags, range(3))
    file = MemFile("events.out.tfevents.1.host", data)
    log = event_format.FORMAT.open(file.path)
    while log.offset < len(data):
        log.read(file)
    assert max(map(len, _held(log))) <= 4 * NAME_CAP


def _held(log: object) -> Iterator[bytes | str]:
    """Every text that a log holds, its tables and those of all logs included."""
    seen: set[int] = set()
    left = [log, ALL_TEMPLATES]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, bytes | str):
            yield one
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            left += one
        else:
            left += vars(one).values() if hasattr(one, "__dict__") else []


@given(LONG)
def test_a_name_is_bounded_and_clean(key: str) -> None:
    """However long a key is, its name is short, harmless and always the same."""
    name = name_of(key)
    assert len(name) <= NAME_CAP
    assert name == clean(name) == name_of(key)


@given(LONG, LONG)
def test_two_long_keys_have_two_names(one: str, other: str) -> None:
    """Names are those of the whole key, not of its ends."""
    assert (name_of(one) == name_of(other)) == (one == other)


def test_short_names_are_only_cleaned() -> None:
    """What people write is left alone."""
    assert name_of("actor/ppo_kl") == "actor/ppo_kl"
    assert name_of("") == ""
    assert name_of("x" * NAME_CAP) == "x" * NAME_CAP


def test_a_full_table_still_knows_its_names(few: None) -> None:
    """A name that has a number keeps it when there is no room for others."""
    names = TagNames()
    assert [names.take(str(number)) for number in range(60)] == [*range(50), *[-1] * 10]
    assert names.take("7") == 7


@given(st.text("ab\x1b\u200b\\x1u20", max_size=24), st.text("ab\x1b\u200b\\x1u20", max_size=24))
def test_two_keys_never_share_a_name(one: str, other: str) -> None:
    """A key that is written as another one looks when it is cleaned has a name of its own."""
    assert (name_of(one) == name_of(other)) is (one == other)
    assert name_of("loss\x1b[0m") != name_of("loss\\x1b[0m") == name_of("loss\\x1b[0m")
