"""The console pane on the screen: followed, searched, unfolded; lines and charts find each other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rltui.panes.render.console_lines import fitted_frame
from rltui.screen.input.key_table import Bind, bindings
from rltui.screen.state import ChartOverlay
from rltui.session.session import Session
from tests.support.logs.live_logs import write_rows
from tests.support.screen.consoles import SECONDS, clock, console_text, press
from tests.support.screen.screens import Screen

START = 1_700_000_000.0
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of thirty steps, ten seconds each, with a console."""
    rows = [{"step": step, "loss": 1.0, "wall_time": START + 10 * step} for step in range(30)]
    write_rows(tmp_path / "metrics.jsonl", rows)
    (tmp_path / "slurm-7.out").write_text(console_text(30, START))
    return tmp_path


def _screen(folder: Path) -> Screen:
    screen = Screen(Session.load([folder]))
    screen.set_clock(lambda: START + 100_000)
    return screen


def _selected(screen: Screen, width: int = 100, height: int = 30) -> str:
    lines = screen.frame(width, height).lines
    return next(line.text.strip() for line in lines if line.back == "select")


def test_the_end_is_followed(folder: Path) -> None:
    """Bars are one line, colours are gone, and what is appended appears; moving up stops that."""
    screen = _screen(folder)
    shown = press(screen, "C")
    assert "rollout: 75%|# | 75/100 [00:01]  ×4" in shown
    assert "3 warnings" in shown and "following" in shown
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write("appended\n")
    deadline = time.monotonic() + SECONDS
    while "appended" not in screen.text() and time.monotonic() < deadline:
        screen.frame(100, 30)
    assert _selected(screen) == "appended"
    shown = press(screen, "up", "up")
    assert "following" not in shown
    assert _selected(screen) == "rollout: 75%|# | 75/100 [00:01]  ×4"
    assert "following" in press(screen, "G")


def test_a_run_without_a_console_says_so(tmp_path: Path) -> None:
    """Once consoles were looked for, the pane waits no longer; before that it says that it looks."""
    write_rows(tmp_path / "metrics.jsonl", [{"step": step, "loss": 1.0} for step in range(30)])
    screen = _screen(tmp_path)
    assert "No console was found next to this run's logs." in press(screen, "C")
    hints = screen.text().splitlines()[-1]
    assert "unfold" not in hints and "level" not in hints and "q quit" in hints
    screen.state.session.consoles_searched = False
    assert "Looking for consoles." in screen.text()


def test_a_search_leads_from_line_to_line(folder: Path) -> None:
    """Enter goes to the nearest match before, n and N to the others; Escape leaves the search."""
    screen = _screen(folder)
    shown = press(screen, "C", "/", *"STEP 1", "enter")
    assert "/STEP 1 11 lines" in shown
    assert _selected(screen) == f"{clock(START + 190)} INFO step 19 begins"
    press(screen, "N")
    assert _selected(screen).endswith("step 18 begins")
    press(screen, "n")
    assert _selected(screen).endswith("step 19 begins")
    assert "/STEP" not in press(screen, "escape")


def test_levels_leave_errors_alone(folder: Path) -> None:
    """L shows errors and warnings, then errors; Enter unfolds a traceback; without errors that is said."""
    screen = _screen(folder)
    shown = press(screen, "C", "L")
    assert "only errors and warnings" in shown
    assert "UserWarning: slow  ×3" in shown
    assert "no errors" in press(screen, "L")
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write(TRACE)
    screen = _screen(folder)
    shown = press(screen, "C", "L", "L")
    assert "ValueError: no  ▸ 4 lines" in shown and "rollout" not in shown
    assert "    g()" in press(screen, "enter")
    assert "    g()" not in press(screen, "enter")
    assert "UserWarning" in press(screen, "escape")


def test_the_time_at_the_cursor_finds_the_line(folder: Path) -> None:
    """From a chart's cursor to the line of its time, and from a line to the chart at its time."""
    screen = _screen(folder)
    screen.go_to_tag("loss")
    press(screen, "enter")
    chart = screen.overlays[-1]
    assert isinstance(chart, ChartOverlay)
    chart.cursor = 12.0
    press(screen, "C")
    assert screen.pane == "console"
    assert _selected(screen).endswith("step 12 begins")
    press(screen, "n")  # without a search to the next error, of which there is none
    press(screen, *["down"] * 30, "x")
    chart = screen.overlays[-1]
    assert isinstance(chart, ChartOverlay) and chart.row.tag == "loss"
    assert chart.cursor == 22.0


def test_a_step_leads_to_the_chart_where_points_have_no_times(tmp_path: Path) -> None:
    """The line says a time, the one before it a step: the metric without times is found by that."""
    rows = [{"step": step, "loss": 1.0} for step in range(30)]
    write_rows(tmp_path / "metrics.jsonl", rows)
    (tmp_path / "slurm-7.out").write_text(f"step:7 - loss:1.0\n{clock(START)} saved a checkpoint\n")
    screen = _screen(tmp_path)
    press(screen, "C", "x")
    chart = screen.overlays[-1]
    assert isinstance(chart, ChartOverlay) and chart.cursor == 7.0


def test_a_failure_leads_to_its_line(folder: Path) -> None:
    """Enter on a finding of a console opens the console at the line that tells of it."""
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.\n" + "bye\n" * 40
        )
    screen = _screen(folder)
    shown = press(screen, "f", "enter")
    assert screen.pane == "console"
    assert _selected(screen).startswith("torch.OutOfMemoryError")
    assert "A GPU ran out of memory" in shown


def test_unfolding_is_offered_only_where_there_is_something_to_unfold(folder: Path) -> None:
    """The footer names Enter on tracebacks and on lines that are cut; elsewhere Enter says what there is."""
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write(TRACE + "long " * 30 + "\nshort\n")
    screen = _screen(folder)
    assert "unfold" not in press(screen, "C").splitlines()[-1]
    assert "this line is shown in full" in press(screen, "enter")
    assert "unfold" in press(screen, "up").splitlines()[-1]
    press(screen, "up")
    assert _selected(screen).startswith("ValueError")
    assert "fold" in press(screen, "enter").splitlines()[-1]
    assert "unfold" not in screen.text().splitlines()[-1]
    assert "unfold" in press(screen, "enter").splitlines()[-1]


def test_a_failure_whose_line_looks_ordinary_is_shown_among_all_lines(folder: Path) -> None:
    """Where only errors were shown, the line of the finding would not be there."""
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write("ERROR: no heartbeat\nKilled\n")
    screen = _screen(folder)
    assert "only errors" in press(screen, "C", "L", "L")
    press(screen, "f", "enter")
    assert _selected(screen) == "Killed"


def test_a_run_that_was_stopped_leads_to_the_end_of_its_console(tmp_path: Path) -> None:
    """What ended it is told below the row of its last step, where no line has a time."""
    rows = [{"step": step, "loss": 1.0, "wall_time": START + 10 * step} for step in range(30)]
    write_rows(tmp_path / "metrics.jsonl", rows)
    text = "".join(f"INFO step {step} begins\n" for step in range(30))
    (tmp_path / "slurm-7.out").write_text(text + TRACE.replace("ValueError: no", "KeyboardInterrupt"))
    for place in tmp_path.iterdir():
        os.utime(place, (START + 300, START + 300))
    screen = _screen(tmp_path)
    screen.state.session.update_liveness_findings(START + 100_000)
    assert "stopped by its user" in press(screen, "f")
    press(screen, "C")
    assert _selected(screen).startswith("KeyboardInterrupt")


def test_several_consoles_of_a_run_are_turned_through(folder: Path) -> None:
    """The order of consoles is that of their names, whichever is written."""
    (folder / "slurm-7.err").write_text("stderr\n")
    screen = _screen(folder)
    names = [press(screen, "C" if not at else "]").split("slurm-7.")[1][:3] for at in range(3)]
    assert sorted(names[:2]) == ["err", "out"] and names[0] == names[2]


def test_a_run_that_failed_before_its_first_step_is_shown(tmp_path: Path) -> None:
    """Its header says why, the console is there; a console of something else is no run."""
    (tmp_path / "train.log").write_text("import torch\nloading\n" + TRACE)
    (tmp_path / "pip.log").write_text("installing\n" + TRACE)
    session = Session.load([tmp_path])
    assert list(session.runs) == ["train"]
    screen = Screen(session)
    screen.set_clock(lambda: time.time() + 100)
    session.set_consoles({"train": screen.view.consoles if screen.view else ()}, time.time() + 100)
    assert "ValueError: no, in f (a.py line 1); it ended the program" in screen.text()
    console = press(screen, "C")
    assert "ValueError: no  ▸ 4 lines" in console and "Read the traceback" not in console


def test_frames_keep_file_and_line() -> None:
    """A path is cut at its beginning: with 78 cells it is read where the program failed."""
    frame = '  File "/root/miniconda3/lib/python3.12/verl/trainer/main_ppo.py", line 159, in main_task'
    shown = fitted_frame(frame, 78)
    assert len(shown) <= 78 and shown.startswith('  File "…')
    assert shown.endswith('verl/trainer/main_ppo.py", line 159, in main_task')
    assert fitted_frame(frame, 30) == frame and fitted_frame("x" * 90, 78) == "x" * 90


def test_the_last_error_stands_in_the_headline_of_a_run_that_stopped(folder: Path) -> None:
    """Where no known failure tells why; not while it is live, and not behind later metrics."""
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write("2023-11-14 ERROR broker went away\n")
    screen = _screen(folder)
    assert "Last error: 2023-11-14 ERROR broker went away" in screen.text(140, 30)
    screen.set_clock(lambda: START + 295)
    assert "Last error" not in screen.text(140, 30)


@pytest.mark.parametrize("size", [(20, 5), (24, 7), (40, 12), (80, 24), (140, 45)])
def test_it_fits_any_screen(folder: Path, size: tuple[int, int]) -> None:
    """At any size the selected line is in sight and nothing is wider than the screen."""
    with (folder / "slurm-7.out").open("a") as stream:
        stream.write(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.\n" + "漢" * 200 + "\n"
        )
    screen = _screen(folder)
    press(screen, "C", "up", "enter", width=size[0], height=size[1])
    lines = screen.frame(*size).lines
    assert len(lines) == size[1]
    assert all(line.width <= size[0] for line in lines)
    if size[1] > 6:
        assert any(line.back == "select" for line in lines)


def test_a_console_that_cannot_be_read_is_said(folder: Path) -> None:
    """The screen goes on, with one line that says why."""
    screen = _screen(folder)
    (folder / "slurm-7.out").unlink()
    assert "cannot be read" in press(screen, "C")


KEYS: dict[str, tuple[str, Callable[[Screen], bool]]] = {
    "console-level": ("C", lambda d: d.state.console.level == "warning"),
    "console-chart": ("C", lambda d: isinstance(d.overlays[-1], ChartOverlay)),
    "console-before": ("C", lambda d: "this run has one console" in d.message),
    "console-after": ("C", lambda d: "this run has one console" in d.message),
}


@pytest.mark.parametrize(
    ("bind", "key"), [(bind, key) for bind in bindings() if bind.where == "console" for key in bind.keys]
)
def test_every_key_of_the_console_does_what_it_says(bind: Bind, key: str, folder: Path) -> None:
    """Each key of each action of this place has the promised effect."""
    before, check = KEYS[bind.action]
    screen = _screen(folder)
    press(screen, *before.split(), key)
    assert check(screen)
