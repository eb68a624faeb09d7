"""What the screen says of itself: messages, the moment shown, the filter in force, a terminal too small."""

from __future__ import annotations

import pytest

from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.runs.made_run import NOW, MadeRun, believable
from tests.support.screen.screens import Screen, opened, screen_of


class Clock:
    """A clock that is moved by hand."""

    now = NOW

    def __call__(self) -> float:
        return self.now


def opened_with(*runs: MadeRun, **options: object) -> Screen:
    """A screen with a clock of its own."""
    screen = opened(*(runs or (believable(),)), **options)
    screen.set_clock(Clock())
    return screen


# ---- messages


@pytest.mark.parametrize("width", [140, 80, 60])
@pytest.mark.parametrize("keys", ["", "3 enter"])
def test_a_message_leaves_the_way_out_in_sight(width: int, keys: str) -> None:
    """Beside a message of any length the key for help, and in a chart the way back, stay to be read."""
    screen = opened_with()
    for key in keys.split():
        screen.press(key)
    screen.state.notify("wrote " + "a/very/long/path/" * 6)
    lines = screen.frame(width, 24).lines
    assert "wrote a/very" in " ".join(" ".join(line.text.split()) for line in lines[-3:])
    assert lines[-1].width <= width and ("Esc" if keys else "? help") in lines[-1].text


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12), (30, 6)])
@pytest.mark.parametrize("keys", ["", "3 enter", "r", "3 e", "?"])
def test_a_message_is_never_cut(size: tuple[int, int], keys: str) -> None:
    """One that is longer than the last line takes lines above it, wherever it is said."""
    screen = opened_with()
    for key in keys.split():
        screen.press(key)
    words = "no spread was logged with this metric, and no other run differs from it by the seed"
    screen.state.notify(words)
    lines = screen.frame(*size).lines
    assert all(line.width <= size[0] for line in lines)
    shown = " ".join(" ".join(line.text for line in lines).split())
    assert words in shown if size[1] > 6 else words[:20] in shown


@pytest.mark.parametrize("keys", ["r", "3 e", "?", "E"])
def test_a_key_without_use_in_a_list_says_so(keys: str) -> None:
    """Silence would read as a key that does not work at all."""
    screen = opened_with()
    for key in keys.split():
        screen.press(key)
    screen.press("p")
    assert screen.message == "p does nothing in this list; Esc leaves it"
    assert screen.overlays and screen.state.time.at_step is None
    screen.press("down")
    assert not screen.message


def test_a_message_goes_with_the_next_key() -> None:
    """It does not outlive the pane in which it was said."""
    screen = opened_with()
    screen.press("y")
    assert "copied" in screen.text()
    screen.press("3")
    assert "copied" not in screen.text()


def test_a_message_stays_as_long_as_it_takes_to_read() -> None:
    """A short one for a few seconds, a long one longer."""
    screen = opened_with()
    screen.state.notify("theme: Night")
    assert _seconds(screen, "theme: Night") < 5 < _seconds(screen, "x" * 80) < 9


def _seconds(screen: Screen, words: str) -> int:
    """For how many whole seconds something that is said can be read."""
    clock = screen.state.options.clock
    assert isinstance(clock, Clock)
    screen.state.notify(words)
    for second in range(100):
        if not screen.message:
            return second
        clock.now += 1.0
    raise AssertionError("it stands for ever")


# ---- the moment


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12)])
def test_the_header_says_that_it_shows_the_past(size: tuple[int, int]) -> None:
    """Where the state stands, in the colour of warnings: which step of how many."""
    screen = opened_with()
    screen.press("[")
    first = screen.frame(*size).lines[0]
    assert "◂ past   step 285 of 300" in first.text and "live" not in first.text
    assert any("◂ past" in span and role == "warn" for span, role in first.spans)


def test_the_header_says_that_it_is_paused() -> None:
    """In all its panes, until the key that paused is pressed again."""
    screen = opened_with()
    screen.press("p")
    for pane in ("1", "3", "f", "c"):
        screen.press(pane)
        assert "‖ paused   step 300" in screen.frame(80, 24).lines[0].text
    assert "p: newest" in screen.text()
    assert "p: newest …" not in screen.text(40, 12) and "p: newest" in screen.text(40, 12)
    screen.press("p")
    assert "● live" in screen.frame(80, 24).lines[0].text and screen.message == "live again"


def test_nothing_is_set_that_is_not_shown() -> None:
    """The only run has none to be compared with, and findings show no crosshair, which other panes would."""
    screen = opened_with()
    screen.press("x")
    assert screen.message == "there is no other run" and not screen.state.selection.marked_runs
    screen.press("f")
    screen.press(")")
    assert screen.message == "the findings have no crosshair" and screen.state.time.crosshair is None


@pytest.mark.parametrize("key", ["p", "[", "]", "n", "N", "x"])
def test_without_a_run_keys_for_one_say_so(key: str) -> None:
    """In a folder that is still empty nothing happens without a word."""
    screen = screen_of(build(Session(), ["/logs"], clock=lambda: NOW))
    screen.press(key)
    assert screen.message == "there is no run yet"


def test_a_run_that_ended_is_never_live_again() -> None:
    """Of a run that no longer writes, the way back from a pause or an earlier step leads to its last step."""
    screen = opened_with()
    later = screen.state.now + 86_400.0
    screen.set_clock(lambda: later)
    for there, back in (("p", "p"), ("[", "]")):
        screen.press(there)
        assert "p: newest" in screen.text()
        screen.press(back)
        assert screen.message == "last step again"
    screen.press("]")
    assert screen.message == "this is the newest step"


def test_going_forward_ends_at_now() -> None:
    """Beyond the newest step the screen is live; paused from an earlier moment it is, too."""
    screen = opened_with()
    screen.press("[")
    screen.press("]")
    assert "● live" in screen.frame(80, 24).lines[0].text
    screen.press("[")
    screen.press("p")
    assert screen.state.time.at_step is None and "● live" in screen.frame(80, 24).lines[0].text


def test_a_chart_says_which_moment_it_shows() -> None:
    """A whole screen for one metric has no header of the run: its own line says it, in the same colour."""
    screen = opened_with()
    for key in ("3", "[", "enter"):
        screen.press(key)
    first = screen.frame(80, 24).lines[0]
    assert "◂ step 285" in first.text and ("◂ step 285   ", "warn") in first.spans
    screen.press("p")
    assert "step" not in screen.frame(80, 24).lines[0].text


# ---- the filter


@pytest.mark.parametrize("size", [(140, 45), (80, 24), (40, 12)])
def test_a_filter_stays_in_sight_with_its_count(size: tuple[int, int]) -> None:
    """What it is, and how many metrics of how many it leaves, whatever else is said."""
    screen = opened_with(believable(), MadeRun(name="other"))
    screen.choose_run("verl-grpo-a")
    screen.press("3")
    for key in "/kl":
        screen.press(key)
    screen.press("enter")
    screen.state.notify("something else")
    second = screen.frame(*size).lines[1].text
    assert "/kl" in second and "1 of 5" in second
    screen.press("escape")
    assert "/kl" not in screen.text(*size)


# ---- too small


def test_a_terminal_that_is_too_small_says_what_it_takes() -> None:
    """The size that is needed, and the one there is."""
    assert opened_with().text(12, 3) == "needs 20x5\nis 12x3"
    assert opened_with().text(40, 1) == "needs 20x5"


@pytest.mark.parametrize(
    ("pane", "gone"), [("T", ("read", "sort", "step before")), ("0", ("chart", "explain"))]
)
def test_an_empty_pane_offers_no_key_that_does_nothing(pane: str, gone: tuple[str, ...]) -> None:
    """Without a sample or a metric the footer has only keys that work."""
    screen = opened_with()
    screen.press(pane)
    foot = screen.frame(140, 24).lines[-1].text
    assert "help" in foot and "runs" in foot
    assert not [word for word in gone if word in foot]
