"""What the screen says of itself: messages, the moment shown, the filter in force, a terminal too small."""

from __future__ import annotations

import pytest

from rltui.screen.state import AppState
from tests.support.fakerun import NOW, FakeRun, believable
from tests.support.screens import monitor


class Clock:
    """A clock that is moved by hand."""

    now = NOW

    def __call__(self) -> float:
        return self.now


def desk(*runs: FakeRun, **options: object) -> AppState:
    """A desk with a clock of its own."""
    over = monitor(*(runs or (believable(),)), **options).desk
    over.clock = Clock()
    return over


def text(over: AppState, width: int = 100, height: int = 30) -> str:
    """What is on the screen."""
    return "\n".join(line.text.rstrip() for line in over.frame(width, height).lines)


# ---- messages


@pytest.mark.parametrize("width", [140, 80, 60])
@pytest.mark.parametrize("keys", ["", "3 enter"])
def test_a_message_leaves_the_way_out_in_sight(width: int, keys: str) -> None:
    """Beside a message of any length the key for help, and in a chart the way back, stay to be read."""
    over = desk()
    for key in keys.split():
        over.press(key)
    over.say("wrote " + "a/very/long/path/" * 6)
    foot = over.frame(width, 24).lines[-1]
    assert "wrote a/very" in foot.text and foot.width <= width
    assert ("Esc" if keys else "H help") in foot.text


def test_a_message_goes_with_the_next_key() -> None:
    """It does not outlive the pane in which it was said."""
    over = desk()
    over.press("y")
    assert "copied" in text(over)
    over.press("3")
    assert "copied" not in text(over)


def test_a_message_stays_as_long_as_it_takes_to_read() -> None:
    """A short one for a few seconds, a long one longer."""
    over = desk()
    over.say("theme: Night")
    assert _seconds(over, "theme: Night") < 5 < _seconds(over, "x" * 80) < 9


def _seconds(over: AppState, words: str) -> int:
    """For how many whole seconds something that is said can be read."""
    clock = over.clock
    assert isinstance(clock, Clock)
    over.say(words)
    for second in range(100):
        if not over.message:
            return second
        clock.now += 1.0
    raise AssertionError("it stands for ever")


# ---- the moment


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12)])
def test_the_header_says_that_it_shows_the_past(size: tuple[int, int]) -> None:
    """Where the state stands, in the colour of warnings: which step of how many."""
    over = desk()
    over.press("[")
    first = over.frame(*size).lines[0]
    assert "◂ past   step 285 of 300" in first.text and "live" not in first.text
    assert any("◂ past" in span and role == "warn" for span, role in first.spans)


def test_the_header_says_that_it_is_paused() -> None:
    """In all its panes, until the key that paused is pressed again."""
    over = desk()
    over.press("p")
    for pane in ("1", "3", "f", "c"):
        over.press(pane)
        assert "‖ paused   step 300" in over.frame(80, 24).lines[0].text
    assert "p: live again" in text(over)
    over.press("p")
    assert "● live" in over.frame(80, 24).lines[0].text and over.message == "live again"


def test_going_forward_ends_at_now() -> None:
    """Beyond the newest step the screen is live; paused from an earlier moment it is, too."""
    over = desk()
    over.press("[")
    over.press("]")
    assert "● live" in over.frame(80, 24).lines[0].text
    over.press("[")
    over.press("p")
    assert over.at_step is None and "● live" in over.frame(80, 24).lines[0].text


def test_a_chart_says_which_moment_it_shows() -> None:
    """A whole screen for one metric has no header of the run: its own line says it, in the same colour."""
    over = desk()
    for key in ("3", "[", "enter"):
        over.press(key)
    first = over.frame(80, 24).lines[0]
    assert "◂ step 285" in first.text and ("◂ step 285   ", "warn") in first.spans
    over.press("p")
    assert "step" not in over.frame(80, 24).lines[0].text


# ---- the filter


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12)])
def test_a_filter_stays_in_sight_with_its_count(size: tuple[int, int]) -> None:
    """What it is, and how many metrics of how many it leaves, whatever else is said."""
    over = desk(believable(), FakeRun(name="other"))
    over.choose_run("verl-grpo-a")
    over.press("3")
    for key in "/kl":
        over.press(key)
    over.press("enter")
    over.say("something else")
    second = over.frame(*size).lines[1].text
    assert "/kl" in second and "1 of 5" in second
    over.press("escape")
    assert "/kl" not in text(over, *size)


# ---- too small


def test_a_terminal_that_is_too_small_says_what_it_takes() -> None:
    """The size that is needed, and the one there is."""
    assert text(desk(), 12, 3) == "needs 20x5\nis 12x3"
    assert text(desk(), 40, 1) == "needs 20x5"
