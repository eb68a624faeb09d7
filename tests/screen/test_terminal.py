"""The screen in a real pseudo-terminal: it ends in every way and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.screen.terminal import ROOT, Terminal

SCREEN = ("-m", "tests.support.screen.small_screen")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose state folder is a test's own."""
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "LC_ALL": "C.UTF-8"}


def started(home: dict[str, str], **options: object) -> Terminal:
    """A terminal that shows the overview."""
    env = {**home, **options.pop("env", {})}
    return Terminal.python(*SCREEN, env=env, **options).until_text("Entropy")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A screen that several tests type into; none of them ends it, and none sees that it was ended."""
    state = tmp_path_factory.mktemp("terminal")
    with started({"XDG_STATE_HOME": str(state), "LC_ALL": "C.UTF-8"}) as terminal:
        yield terminal
        terminal.type("q")
        assert terminal.wait() == 0


@pytest.fixture
def overview(running: Terminal) -> Terminal:
    """The same on the overview."""
    running.type("1")
    return running.until_text("Entropy")


def test_quit_gives_the_terminal_back(home: dict[str, str]) -> None:
    """`q` ends with 0 and every mode and line setting is as before."""
    with started(home) as terminal:
        assert terminal.modes_on()
        terminal.type("q")
        assert terminal.wait() == 0
        assert terminal.restored(), terminal.modes_on()


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)],
)
def test_signals_give_the_terminal_back(home: dict[str, str], sent: signal.Signals, code: int) -> None:
    """Each ending signal restores the terminal at once and ends with 128 plus its number."""
    with started(home) as terminal:
        begun = time.monotonic()
        os.kill(terminal.pid, sent)
        assert terminal.wait() == code
        assert time.monotonic() - begun < 5
        assert terminal.restored(), terminal.modes_on()


@pytest.mark.parametrize("ignored", [False, True])
def test_a_lost_connection_ends_the_program(home: dict[str, str], ignored: bool) -> None:
    """A terminal that is gone ends the program within five seconds, under nohup too, and nothing spins."""
    with started(home, ignore_hup=ignored) as terminal:
        before = terminal.cpu_seconds()
        terminal.hang_up()
        used = 0.0
        begun = time.monotonic()
        while terminal.wait(0.1) is None and time.monotonic() - begun < 6:
            used = terminal.cpu_seconds() - before
        assert terminal.status is not None
        assert used < 1.0


def test_an_internal_error_is_one_line_and_a_file(home: dict[str, str], tmp_path: Path) -> None:
    """An error restores the terminal, says one line, and leaves its traceback in the user's state folder."""
    with started(home, env={"RLTUI_TEST_CRASH": "key"}) as terminal:
        terminal.type("!")
        assert terminal.wait() == 70
        assert terminal.restored(), terminal.modes_on()
        after = terminal.raw.rpartition(b"\x1b[?25h")[2].decode()
        assert "internal error (ZeroDivisionError)" in after
        assert "Traceback" not in after
        (report,) = (tmp_path / "state" / "rltui").glob("crash-*.txt")
        assert "made by a test" in report.read_text()


def test_bytes_that_are_not_utf8_do_no_harm(overview: Terminal) -> None:
    """Stray bytes from a keyboard or a paste are passed over and keys go on working."""
    overview.type(b"\xff\xfe\x80\xc3(")
    overview.type("3")
    overview.until_text("Learning rate")


def test_random_keys_do_no_harm(home: dict[str, str]) -> None:
    """Hundreds of random keys neither crash nor hang the screen; Ctrl-C leaves it as an interrupt does."""
    import random

    rng = random.Random(7)
    keys = "123456789vdmuofjkhl\t \r?e/ab+-=[]wrxSnHLzZ0i*ay:t<>p\x1b\x7f"
    with started(home) as terminal:
        for _ in range(30):
            terminal.type("".join(rng.choice(keys) for _ in range(10)))
            terminal.pump(0.01)
        terminal.type("\x1b\x1b\x1b\x1b")
        terminal.quiet()
        assert terminal.status is None
        terminal.type(b"\x03")
        assert terminal.wait() == 130
        assert terminal.restored(), terminal.modes_on()


@pytest.mark.parametrize("missing", ["stdin", "stdout"])
def test_without_a_terminal_it_says_so(home: dict[str, str], missing: str) -> None:
    """Where one of its streams is no terminal the screen does not start: one line, exit code 2."""
    leader, follower = os.openpty()
    streams = {"stdin": follower, "stdout": follower, missing: subprocess.DEVNULL}
    done = subprocess.run(
        [sys.executable, *SCREEN],
        env={**os.environ, **home},
        cwd=ROOT,
        **streams,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(leader)
    os.close(follower)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "terminal" in done.stderr


def test_resizing_down_to_nothing_and_back(overview: Terminal) -> None:
    """Every size is survived; a tiny terminal says that it is too small."""
    for width, height in ((40, 12), (20, 5), (15, 4), (1, 1), (300, 100), (80, 24), (100, 30)):
        overview.resize(width, height)
        overview.quiet(0.1, 2)
        assert overview.status is None
        if width == 15:
            overview.until_text("needs 20x5")
    overview.until_text("Entropy")


def test_stop_and_continue(home: dict[str, str]) -> None:
    """A stopped program leaves the terminal as it was and draws itself again when it goes on."""
    with started(home) as terminal:
        os.kill(terminal.pid, signal.SIGTSTP)
        terminal.until(lambda t: t.stopped() and t.restored())
        assert terminal.restored(), terminal.modes_on()
        terminal.screen.reset()
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.until(lambda t: 1049 in t.modes_on())
        terminal.until_text("Entropy")
        terminal.type("q")
        assert terminal.wait() == 0
        assert terminal.restored(), terminal.modes_on()


def test_ctrl_l_mends_what_other_programs_wrote(overview: Terminal) -> None:
    """After something else has written over the screen, one key brings back all of it."""
    overview.quiet(0.3)
    whole = overview.text
    for _ in range(3):
        overview.stream.feed(b"\x1b[5;1Hbroadcast message from root " * 4)
    assert overview.text != whole
    overview.type(b"\x0c")
    overview.until(lambda t: t.text == whole)


def test_nothing_is_sent_while_nothing_changes(overview: Terminal) -> None:
    """An idle screen sends no byte, and uses next to no processor time once the start is over.

    What panes need is imported after the first frame, which takes as long as the machine lets it.
    """
    overview.quiet(0.5)
    used = 1.0
    for _ in range(20):
        before = overview.cpu_seconds()
        assert overview.quiet(1.0) == 0
        used = overview.cpu_seconds() - before
        if used < 0.06:
            break
    assert used < 0.06


def test_colours_can_be_switched_off(home: dict[str, str]) -> None:
    """With NO_COLOR not one colour is sent."""
    with started(home, env={"NO_COLOR": "1"}) as terminal:
        terminal.type("3")
        terminal.until_text("Learning rate")
        import re

        for match in re.findall(rb"\x1b\[([0-9;]*)m", terminal.raw):
            codes = [int(code or 0) for code in match.split(b";")]
            # 39 and 49 are the terminal's own
            assert all(code in (0, 1, 2, 3, 4, 7, 22, 23, 24, 27, 39, 49) for code in codes), codes


def test_sixteen_colours(home: dict[str, str]) -> None:
    """A terminal with sixteen colours gets its own sixteen, nothing else."""
    with started(home, env={"TERM": "xterm", "COLORTERM": ""}) as terminal:
        assert b"38;2;" not in terminal.raw
        assert b"38;5;" not in terminal.raw
        assert b"\x1b[" in terminal.raw
