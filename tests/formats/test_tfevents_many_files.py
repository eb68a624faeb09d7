"""Event files read together: each says what it says alone, whatever the others are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.batch import Batch, concat
from rltui.logs.formats.tfevents import FORMAT
from rltui.logs.formats.tfevents.bulk import many_files
from tests.support import tfwriter as w
from tests.support.memfile import MemFile, read_on
from tests.support.tfdraw import COLUMNS, SINGLY, columns_from, content, files, record

NAME = "events.out.tfevents.1763600000.node7.991.0"

_kinds = st.sampled_from(["simple", "simple", "float", "double", "once"])


@st.composite
def _run(draw: st.DrawFn) -> bytes:
    """A few steps of a few tags, as most programs write them, with an odd record now and then."""
    tags = draw(st.lists(st.tuples(st.sampled_from(["a", "loss", "y" * 120, "x" * 60]), _kinds), max_size=4))
    step, data = draw(st.integers(0, 200)), b""
    for k in range(draw(st.integers(1, 4))):
        for tag, kind in tags:
            if kind == "simple":
                value = w.simple(tag, draw(st.binary(min_size=4, max_size=4)))
            else:
                plugin = "scalars" if kind != "once" or not k else None
                value = w.tensor(tag, 0.1 * k, "double" if kind == "double" else "float", plugin=plugin)
            data += w.event(step + k, value)
    return data + (draw(record()) if draw(st.integers(0, 9)) == 0 else b"")


# Most logs begin with their version, many are alike, some are torn, none need to be plain.
_logs = st.tuples(_run(), st.lists(st.one_of(_run(), _run(), files), min_size=1, max_size=5)).flatmap(
    lambda drawn: st.lists(
        st.tuples(st.booleans(), st.sampled_from([*drawn[1], drawn[0], drawn[0]]), st.integers(0, 60), files),
        min_size=1,
        max_size=8,
    )
)


def read(contents: list[bytes], more: list[bytes], *, begun: bool, verify: bool = False) -> list[Batch]:
    """What logs give that hold `contents` and then get `more`, begun together or not."""
    logs = [FORMAT.open(NAME, verify=verify) for _ in contents]
    if begun:
        FORMAT.begin(logs, contents)
    batches = []
    for log, first, rest in zip(logs, contents, more, strict=True):
        file = MemFile(NAME, first, rest)
        given = read_on(log, file)
        file.grow()
        batches.append(concat([*given, *read_on(log, file), log.finish(file)]))
    return batches


def same(contents: list[bytes], more: list[bytes], size: int, *, verify: bool = False) -> None:
    """Together as alone."""
    with columns_from(size):
        alone = read(contents, more, begun=False, verify=verify)
        both = read(contents, more, begun=True, verify=verify)
    assert [content(batch) for batch in both] == [content(batch) for batch in alone]
    assert [batch.problems for batch in both] == [batch.problems for batch in alone]


def cut(drawn: list[tuple[bool, bytes, int, bytes]]) -> tuple[list[bytes], list[bytes]]:
    """The logs as they are first, and what comes later: the end that was torn off, and more."""
    wholes = [(w.version() if versioned else b"") + data for versioned, data, _, _ in drawn]
    ends = [
        len(whole) - min(torn if torn % 3 == 0 else 0, len(whole))
        for whole, (_, _, torn, _) in zip(wholes, drawn, strict=True)
    ]
    first = [whole[:end] for whole, end in zip(wholes, ends, strict=True)]
    later = [whole[end:] + more for whole, end, (_, _, _, more) in zip(wholes, ends, drawn, strict=True)]
    return first, later


@settings(max_examples=60)
@given(_logs, st.sampled_from([SINGLY, COLUMNS]))
def test_together_as_alone(drawn: list[tuple[bool, bytes, int, bytes]], size: int) -> None:
    """Any logs, plain or not, torn or whole, give the same together as alone, and go on alike."""
    same(*cut(drawn), size)


@settings(max_examples=60)
@given(_logs, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1500), st.integers(0, 7)), max_size=4))
def test_damage_together_as_alone(
    drawn: list[tuple[bool, bytes, int, bytes]], flips: list[tuple[int, int, int]]
) -> None:
    """Flipped bits cost a log the same records together as alone, and no other log anything."""
    first, later = cut(drawn)
    damaged = [bytearray(each) for each in first]
    for log, place, bit in flips:
        if log < len(damaged) and place < len(damaged[log]):
            damaged[log][place] ^= 1 << bit
    same([bytes(each) for each in damaged], later, SINGLY)
    same([bytes(each) for each in damaged], later, COLUMNS, verify=True)


def ends(contents: list[bytes], length: int, *, shown: bool) -> list[tuple[object, ...]]:
    """The last `length` bytes of logs, previewed together or not, and then the whole logs."""
    logs = [FORMAT.open(NAME) for _ in contents]
    if shown:
        FORMAT.preview(logs, [each[-length:] for each in contents])
    said: list[tuple[object, ...]] = []
    for log, each in zip(logs, contents, strict=True):
        file = MemFile(NAME, each)
        newest = log.newest(file, length)
        said += [content(newest), content(concat([*read_on(log, file), log.finish(file)]))]
        assert list(newest.tags) == list(log.newest(file, length).tags)[: len(newest.tags)]
    return said


@settings(max_examples=60)
@given(_logs, st.integers(1, 3000), st.sampled_from([SINGLY, COLUMNS]))
def test_ends_together_as_alone(drawn: list[tuple[bool, bytes, int, bytes]], length: int, size: int) -> None:
    """The ends of logs, wherever they are cut, give the same together as alone, and so do the logs then."""
    contents, _ = cut(drawn)
    with columns_from(size):
        assert ends(contents, length, shown=True) == ends(contents, length, shown=False)


@pytest.mark.parametrize("size", [SINGLY, COLUMNS])
def test_all_styles_together(size: int) -> None:
    """Logs of every style, several of each, give the same together as alone."""
    contents = [w.version() + make(20)[len(w.version()) :] for make in w.STYLES.values()] * 3
    same(contents, [b""] * len(contents), size)


def test_logs_of_one_program_share_what_they_know() -> None:
    """Plain logs that met the same shapes are slices of one read, with the same tags."""
    one, other = w.simple_file(20), w.simple_file(30)
    many_files.decode([one])
    first, second = many_files.decode([one, other])
    assert first.known is second.known
    assert first.decoded.batch.tags is second.decoded.batch.tags


def test_tags_that_come_late() -> None:
    """Logs that begin alike and differ in what comes after a hundred records have the tags that they have."""
    late = [w.event(60, w.simple(tag, 1.0)) + w.event(60, w.simple("a", 1.0)) for tag in "cdc"]
    plain = w.version() + b"".join(w.event(step, w.simple(tag, step)) for step in range(50) for tag in "ab")
    same([plain, *(plain + more for more in late), plain], [b""] * 5, COLUMNS)


def test_tensors_of_the_new_style_are_plain() -> None:
    """Tags whose first value alone carries metadata are read together, too."""
    content = w.STYLES["tf2"](20)
    many_files.decode([content])
    first, second = many_files.decode([content, content])
    assert first.known is second.known


def test_learning_apart() -> None:
    """A new tag in one of the logs that share what they know is no tag of the other."""
    alike = w.simple_file(5)
    logs = [FORMAT.open(NAME) for _ in range(2)]
    FORMAT.begin(logs, [alike, alike])
    news = [w.event(9, w.simple("only here", 1.0)), w.event(9, w.simple("only there", 1.0))]
    grown = [MemFile(NAME, alike + new) for new in news]
    given = [concat(read_on(log, MemFile(NAME, alike))) for log in logs]
    tags = list(given[0].tags)
    later = [concat(read_on(log, file)) for log, file in zip(logs, grown, strict=True)]
    assert [list(batch.tags) for batch in later] == [[*tags, "only here"], [*tags, "only there"]]
    assert [list(batch.tags) for batch in given] == [tags, tags]


def test_what_is_read_counts() -> None:
    """A log that holds other bytes than those it was begun with gives what it holds."""
    log = FORMAT.open(NAME)
    FORMAT.begin([log], [w.simple_file(5)])
    now = w.version() + w.event(1, w.simple("other", 2.0))
    batch = concat(read_on(log, MemFile(NAME, now)))
    assert (list(batch.tags), batch.value.tolist()) == (["other"], [2.0])


@pytest.mark.parametrize("cut", range(1, 5))
def test_torn_record_that_holds_what_looks_like_another(cut: int) -> None:
    """A log whose only record is torn, and so is what looks like one within it: nothing of it is read."""
    inner = w.event(1, w.simple("a", 0.5))[:24]
    torn = w.record(b"\x09" + bytes(8) + b"\x1a" + bytes([len(inner)]) + inner)[:-cut]
    same([torn, w.simple_file(3, ["a", "b"]), torn], [b"", b"", b""], 1 << 20, verify=True)
