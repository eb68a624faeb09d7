"""Lines of consoles: bars, repeats, tracebacks, levels; a file read from its end."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.run_context.console.console_file import PIECE, ConsoleFile
from rltui.run_context.console.line_at_time import TimeAndStep, offset_at, time_and_step_of
from rltui.run_context.console.line_search import LineSearch
from rltui.run_context.console.line_window import KEPT, MARGIN, LineWindow, index_at
from rltui.run_context.console.lines import console_lines, level_of, wall_time_of

TRACE = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'


def _texts(data: bytes) -> list[tuple[str, int]]:
    return [(line.text, line.count) for line in console_lines(data)]


def _file(tmp_path: Path, data: bytes) -> ConsoleFile:
    place = tmp_path / "console.log"
    place.write_bytes(data)
    file = ConsoleFile(str(place), "console.log")
    file.look()
    return file


def test_a_progress_bar_is_one_line() -> None:
    """Its last state stays, with the number of states, whether it overwrites itself or not."""
    states = [f"train: {n}%|##  | {n}/100 [00:01<00:09]" for n in (1, 2, 3)]
    assert _texts("\r".join(states).encode()) == [(states[2], 3)]
    assert _texts("\n".join(states).encode()) == [(states[2], 3)]
    other = "eval: 1%|##  | 1/7 [00:01<00:09]"
    assert _texts("\n".join([*states, other]).encode()) == [(states[2], 3), (other, 1)]


def test_repeated_lines_are_counted() -> None:
    """Equal neighbours become one line with their number."""
    assert _texts(b"a\na\na\nb\na\n") == [("a", 3), ("b", 1), ("a", 1)]


def test_a_traceback_is_folded_to_its_exception() -> None:
    """Frames are kept below the exception, also behind a prefix on every line."""
    plain = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "ValueError: no"]
    for prefix in ("", "(TaskRunner pid=12) ", "[rank3]: "):
        lines = console_lines("\n".join(prefix + line for line in [*plain, "after"]).encode())
        assert [line.text.removeprefix(prefix) for line in lines] == ["ValueError: no", "after"]
        assert lines[0].level == "error"
        assert len(lines[0].folded) == 4


def test_marks_below_left_out_code_belong_to_the_traceback() -> None:
    """Ray leaves out the first frame of a worker, but not the marks below its code."""
    lines = ["Traceback (most recent call last):", "  f()", "RayTaskError(ValueError): g()", "     ^^^^",
             '  File "a.py", line 1, in g', "    h()", "ValueError: no"]  # fmt: skip
    (line,) = console_lines("\n".join(lines).encode())
    assert (line.text, len(line.folded)) == ("ValueError: no", len(lines))


def test_levels_are_words_of_loggers_not_of_metrics() -> None:
    """Errors and warnings are told from values that are called so."""
    assert level_of("2026-01-01 ERROR trainer: lost") == "error"
    assert level_of("[rank1]: KeyError: 'reward'") == "error"
    assert level_of("UserWarning: old") == "warning"
    assert level_of("error_rate: 0.1 errors: 0") == ""
    assert level_of("{'loss': 0.1, 'value_error': 3}") == ""


def test_lines_are_cleaned() -> None:
    """Colours go, other controls are spelled out, bytes that are no UTF-8 are replaced."""
    assert _texts(b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x07 \xff\n") == [("red \\x07 �", 1)]


@given(st.binary(max_size=400))
def test_any_bytes_are_lines(data: bytes) -> None:
    """Nothing raises, and lines cover the bytes in their order."""
    lines = console_lines(data)
    assert not lines or (lines[0].offset == 0 and lines[-1].end == len(data))
    assert all(one.end <= other.offset for one, other in pairwise(lines))


def test_a_line_says_its_wall_time() -> None:
    """ISO dates and times are read in the local zone; impossible ones are none."""
    expected = time.mktime((2026, 1, 31, 4, 40, 19, 0, 0, -1))
    assert wall_time_of("[2026-01-31T04:40:19Z] x") == expected
    assert wall_time_of("2026-13-31 04:40:19") is None


def test_pages_of_a_file_fit_together(tmp_path: Path) -> None:
    """Pages before and after a place hold the lines in their order, and numbers of lines are right."""
    data = "".join(f"line {n} {'x' * (n % 90)}\n" for n in range(40_000)).encode()
    assert len(data) > 2 * PIECE
    file = _file(tmp_path, data)
    last = file.before(file.size, 5)
    assert [line.text.split()[1] for line in last] == ["39995", "39996", "39997", "39998", "39999"]
    assert [line.text for line in file.after(last[0].offset, 5)] == [line.text for line in last]
    assert file.line_number(last[0].offset) is None
    assert file.index()
    assert file.line_number(last[0].offset) == 39_996


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that are searched at once: few, so that a small console has many of them."""
    monkeypatch.setattr("rltui.run_context.console.line_search.BLOCK", 1 << 12)
    return 1 << 12


def test_search_finds_lines_across_pieces(tmp_path: Path, block: int) -> None:
    """Each line that holds the text is found once, with its place, in any case."""
    data = b"".join(b"Needle %d\n" % n if n % 250 == 0 else b"hay %d\n" % n for n in range(4000))
    assert len(data) > 8 * block
    file = _file(tmp_path, data)
    search = LineSearch(file, "nEEdle")
    while search.search():
        pass
    assert [line.text for line in search.lines] == [f"Needle {n}" for n in range(0, 4000, 250)]
    assert all(file.after(line.offset, 1)[0].text == line.text for line in search.lines)


@pytest.mark.parametrize("before", [0, 4, 50, len(TRACE) - 9])
def test_search_finds_lines_on_the_border_of_two_blocks(tmp_path: Path, block: int, before: int) -> None:
    """A word or a traceback that reaches over a border is found whole, once, however much is before it."""
    rest = block - (len(TRACE) - before)  # the search begins with the last block
    file = _file(tmp_path, b"x\n" * block + TRACE + b"y" * (rest - 1) + b"\n")
    for search in (LineSearch(file), LineSearch(file, level="error")):
        while search.search():
            pass
        assert [(line.text, len(line.folded)) for line in search.lines] == [("ValueError: no", 4)]


def test_search_goes_on_where_a_console_grows(tmp_path: Path) -> None:
    """What is appended is searched without what was searched before; the end of an open line counts."""
    file = _file(tmp_path, b"ERROR one\nfine\nERR")
    search = LineSearch(file)
    while search.search():
        pass
    with Path(file.place).open("ab") as stream:
        stream.write(b"OR two\nUserWarning: three\nERROR four\nERROR four\n")
    assert file.look()
    while search.search():
        pass
    told = [(line.text, line.level, line.count) for line in search.lines]
    assert told == [
        ("ERROR one", "error", 1),
        ("ERROR two", "error", 1),
        ("UserWarning: three", "warning", 1),
        ("ERROR four", "error", 2),
    ]


def test_a_window_moves_through_a_console_without_gaps(tmp_path: Path) -> None:
    """Wherever the place is, the lines round it are there, in their order, as the whole file has them."""
    data = "".join(f"line {n} {'x' * (n % 90)}\n" for n in range(40_000)).encode()
    file = _file(tmp_path, data)
    offsets = [line.offset for line in console_lines(data)]
    window = LineWindow(file)
    for number in (39_000, 38_600, 100, 0, 20_000, 20_900, 21_700):
        window.show(offsets[number])
        numbers = [int(line.text.split()[1]) for line in window.lines]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert numbers[0] <= max(number - MARGIN // 2, 0)
        assert numbers[-1] >= min(number + MARGIN // 2, 39_999)
        assert len(numbers) <= KEPT
        assert window.lines[index_at(window.lines, offsets[number])].offset == offsets[number]


@given(st.lists(st.sampled_from([b"a", b"a\n", b"b\n", b"\n", b" 5%|# | 1/9 [1]\r", TRACE]), max_size=8))
def test_a_followed_end_is_what_the_file_says(pieces: list[bytes]) -> None:
    """However a console grows, the followed lines are those of the whole file."""
    with TemporaryDirectory() as folder:
        file = _file(Path(folder), b"start\n")
        window = LineWindow(file)
        window.show(None)
        for piece in pieces:
            with Path(file.place).open("ab") as stream:
                stream.write(piece)
            file.look()
            window.show(None)
        whole = console_lines(Path(file.place).read_bytes())
        assert [line.text for line in window.lines][-1:] == [line.text for line in whole][-1:]
        assert window.at_end
        assert all(one.end <= other.offset for one, other in pairwise(window.lines))
        assert window.lines[-1].end == file.size


def test_a_window_around_a_line_within_a_traceback_has_it_folded(tmp_path: Path) -> None:
    """The traceback of a failure that is shown is one line, not two halves."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'
    place = tmp_path / "out.log"
    place.write_text("".join(f"before {n}\n" for n in range(900)) + trace + "after\n" * 3)
    file = ConsoleFile(str(place), "out.log")
    file.look()
    for word in ("File", "g()", "ValueError"):
        window, at = LineWindow(file), place.read_text().index(word)
        at = place.read_text().rindex("\n", 0, at) + 1
        window.show(at)
        shown = window.lines[index_at(window.lines, at)]
        assert (shown.text, len(shown.folded)) == ("ValueError: no", 4)


def test_a_moment_is_found_by_times_and_by_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line at or before a time or a step, in a console of any size; None where it tells neither."""
    monkeypatch.setattr("rltui.run_context.console.line_at_time.SPAN", 1 << 10)
    monkeypatch.setattr("rltui.run_context.console.line_at_time.AHEAD", 1 << 14)
    lines = []
    for n in range(3000):
        clock = f"{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}"
        lines += [f"2026-01-31 {clock} step:{n} - a:1", "  some text without a time", ""]
    file = _file(tmp_path, "\n".join(lines).encode())
    start = time.mktime((2026, 1, 31, 0, 0, 0, 0, 0, -1))
    for step in (0, 1, 1234, 2999):
        for wanted in (TimeAndStep(start + step + 0.5), TimeAndStep(None, step)):
            place = offset_at(file, wanted)
            assert place is not None
            assert f" step:{step} - " in file.after(place, 1)[0].text
    assert time_and_step_of(file.after(0, 1)[0]) == TimeAndStep(start, 0)
    silent = tmp_path / "silent"
    silent.mkdir()
    assert offset_at(_file(silent, b"hello\n" * 5000), TimeAndStep(start, 3)) is None


def test_a_bar_counts_steps_where_its_total_is_that_of_the_run() -> None:
    """Other bars count something else."""
    line = console_lines(b" 5%|# | 12/240 [1]")[0]
    assert time_and_step_of(line, 240).step == 12
    assert time_and_step_of(line, 100).step is None


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    """A shorter file under the same name is another one."""
    file = _file(tmp_path, b"a\n" * PIECE)
    assert file.index()
    assert not file.look()
    Path(file.place).write_bytes(b"b\nc\n")
    assert file.look()
    assert [line.text for line in file.before(file.size, 9)] == ["b", "c"]
    assert file.line_number(2) == 2


def test_the_end_of_a_large_console_is_there_at_once(tmp_path: Path) -> None:
    """Only the end is read to show it, whatever the size: a hole of a gigabyte costs nothing."""
    place = tmp_path / "console.log"
    with place.open("wb") as stream:
        stream.seek(1 << 30)
        stream.write(b"\n" + b"\r".join(b" %d%%|# | %d/90 [1]" % (n, n) for n in range(90)) + b"\nend\n")
    file = ConsoleFile(str(place), "console.log")
    file.look()
    assert [line.text for line in file.before(file.size, 2)] == [" 89%|# | 89/90 [1]", "end"]
