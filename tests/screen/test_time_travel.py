"""Back in time the screen shows what was there then, and nothing that was yet to come."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rltui.panes.rows.row import rows_of
from rltui.screen import shown_run
from rltui.screen.start import build
from rltui.session.session import Session
from rltui.session.time_travel import MAX_POINTS
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import Live, append, write
from tests.support.screen.screens import Screen, screen_of

STEPS = 300
BEGAN = tfwriter.WALL
ENDED = BEGAN + 10 * STEPS + 1e6  # long after: nobody waits for another point


def log(steps: int = STEPS) -> list[bytes]:
    """A run that goes well for half its steps; then the reward crashes, gradients explode, and worse."""
    rng = np.random.default_rng(7)
    out = [tfwriter.version()]
    for step in range(1, steps + 1):
        late = step > steps // 2
        values = {
            "critic/score/mean": 0.02 * rng.normal() + (-7.0 if late else step / steps),
            "critic/score/max": 0.02 * rng.normal() + (-6.0 if late else 1.0 + step / steps),
            "critic/score/min": 0.02 * rng.normal() + (-8.0 if late else -1.0),
            "actor/grad_norm": math.nan if late and step % 3 else 0.4 + 0.02 * rng.normal(),
            "actor/pg_clipfrac": 31.0 if late else 0.01 + 0.001 * rng.random(),
            "actor/entropy": 1e-6 if late else 1.0 + 0.01 * rng.normal(),
            "response_length/mean": 200.0 + 2 * rng.normal(),
            "timing_s/step": 555.0 if late else 10.0 + 0.1 * rng.normal(),
        }
        wall = BEGAN + 10 * step
        out.append(tfwriter.event(step, *(tfwriter.simple(*each) for each in values.items()), wall=wall))
        # Counts something of its own: environment steps by the million.
        own = tfwriter.simple("Train/mean_reward/time", 88.0 if late else step / 10)
        out.append(tfwriter.event(10_000 * step, own, wall=wall))
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run, and a shorter one beside it."""
    root = tmp_path_factory.mktemp("logs")
    write(root / "a" / "events.out.tfevents.1763600000.host.1.0", b"".join(log()))
    write(root / "b" / "events.out.tfevents.1763600000.host.2.0", b"".join(log(240)))
    return root


def cut(view: Any, step: int, folder: Path) -> None:
    """Write what a run had logged when it was at a step."""
    for series in view.run.series.values():
        points = series.recent()
        keep = points.wall_time <= BEGAN + 10 * step
        name = series.tag.replace("/", ".")
        body = [
            tfwriter.event(int(at), tfwriter.simple(series.tag, float(value)), wall=float(wall))
            for at, wall, value in zip(*(column[keep] for column in points_of(points)), strict=True)
        ]
        path = folder / view.name / f"events.out.tfevents.1763600000.host.{name}"
        write(path, tfwriter.version() + b"".join(body))


@pytest.fixture(scope="module")
def whole_and_cut(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, Session]:
    """The finished run, and what was there of it at a third of its course."""
    whole = Session.load([folder], run_glob="a")
    then = tmp_path_factory.mktemp("cut")
    cut(whole.runs["a"], 100, then)
    return whole, Session.load([then])


def points_of(points: Any) -> tuple[Any, ...]:
    """The columns of points."""
    return points.step, points.wall_time, points.value


def opened_over(session: Session, **options: Any) -> Screen:
    """A screen over a session that was read, at a fixed time."""
    return screen_of(build(session, ["/logs"], clock=lambda: ENDED, theme="night", **options))


def text_of(screen: Screen, width: int, height: int) -> str:
    """What a screen shows at a size, without the state of the run: that is known only now."""
    return "\n".join(line.text.rstrip() for line in screen.frame(width, height).lines)


@pytest.mark.parametrize(("width", "height"), [(140, 45), (80, 24)])
@pytest.mark.parametrize("pane", ["overview", "reward", "policy", "timing", "all", "findings", "Train"])
def test_a_moment_shows_nothing_of_what_was_to_come(
    whole_and_cut: tuple[Session, Session], pane: str, width: int, height: int
) -> None:
    """A finished run at a third of its course is shown, to the letter, as a log that was cut there."""
    frames = []
    for session in whole_and_cut:
        screen = opened_over(session, at_step=100)
        screen.go(pane)
        frames.append(text_of(screen, width, height))
    assert frames[0] == frames[1]
    assert "step 100" in frames[0]
    screen = opened_over(whole_and_cut[0])
    screen.go(pane)
    assert text_of(screen, width, height) != frames[0]


@pytest.mark.parametrize("tag", ["critic/score/mean", "actor/grad_norm", "Train/mean_reward/time"])
def test_pages_of_one_metric_end_at_the_moment(whole_and_cut: tuple[Session, Session], tag: str) -> None:
    """The large chart, on every axis, and the page that explains a metric are those of a log that was cut."""
    pages = []
    for session in whole_and_cut:
        screen = opened_over(session, at_step=100)
        screen.go_to_tag(tag)
        screen.press("enter")
        found = []
        for _ in range(3):
            found.append(text_of(screen, 100, 20))
            screen.press("x")
        screen.press("escape")
        screen.press("e")
        pages.append([*found, text_of(screen, 100, 60)])
    assert pages[0] == pages[1]


def test_a_tag_that_came_later_is_not_there_yet(folder: Path) -> None:
    """Of a metric that was first written after the moment there is no row."""
    view = Session.load([folder], run_glob="a").runs["a"]
    assert not rows_of(view, view.run.series, at_step=0)
    assert len(rows_of(view, view.run.series, at_step=1, merge=False)) == len(view.run.series)


def test_the_list_of_runs_is_of_the_moment_too(folder: Path) -> None:
    """Runs beside the one shown are listed as they were when they were at the step shown."""
    screen = opened_over(Session.load([folder]))
    screen.press("r")
    assert "✖" in text_of(screen, 140, 45)
    screen = opened_over(Session.load([folder]), at_step=100)
    for page in (text_of(screen, 140, 45), screen.press("r") or text_of(screen, 140, 45)):
        assert not any(word in page for word in ("critical", "warning", "✖", "240", "300", "-7.0"))


def test_other_axes_are_a_fact_of_the_run(folder: Path) -> None:
    """A tag with the run's steps keeps to them, whatever moment is shown; another axis goes along."""
    view = Session.load([folder], run_glob="a").runs["a"]
    for at_step in (None, 290, 100, 3):
        rows = {row.tag: row for row in rows_of(view, view.run.series, at_step=at_step, merge=False)}
        assert [tag for tag, row in rows.items() if row.own_axis] == ["Train/mean_reward/time"]
        other = rows["Train/mean_reward/time"]
        assert other.at_step == (None if at_step is None else 10_000 * at_step)
        assert other.value == (88.0 if at_step in (None, 290) else pytest.approx(at_step / 10))


def test_going_back_and_forth_tells_what_was_then(folder: Path) -> None:
    """By `[` findings go as they had not come yet; by `]` they are there again; what is odd likewise."""
    screen = opened_over(Session.load([folder], run_glob="a"))
    screen.go("findings")
    now = [one.id for one in screen.findings()]
    assert "reward-crash" in now and "not finite" in text_of(screen, 140, 200)
    for _ in range(12):
        screen.press("[")
    assert screen.state.time.at_step is not None and screen.state.time.at_step < STEPS // 2
    assert screen.findings() == shown_run.resolved_findings(screen.state) == []
    assert not any(tab.warnings for tab in shown_run.tabs(screen.state))
    assert "not finite" not in text_of(screen, 140, 200)
    for _ in range(12):
        screen.press("]")
    assert [one.id for one in screen.findings()] == now


def test_a_moment_that_is_not_fully_remembered_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the points of then are not all held any more, findings are those remembered, without values."""
    monkeypatch.setattr("rltui.session.time_travel.MAX_POINTS", 10)
    screen = opened_over(Session.load([folder], run_glob="a"), at_step=200)
    screen.go("findings")
    for size in ((140, 45), (80, 24)):
        page = text_of(screen, *size)
        assert "critical   Values became NaN" in page and "Old values are no longer in memory" in page
        assert "-7.0" not in page
    assert "(as far as remembered)" in text_of(screen, 140, 45)
    assert all(one.state == "firing" and one.value is None for one in screen.findings())
    assert screen.findings()
    assert MAX_POINTS > 60 * 1024  # metrics of a rich run, and what is held of each


def test_the_key_back_to_the_end_is_live_again(tmp_path: Path) -> None:
    """A step back and a step forward lead to now, also when the run has gone on in between."""
    body = log()
    path = write(tmp_path / "run" / "events.out.tfevents.1763600000.host.1.0", b"".join(body[: 2 * 280 + 1]))
    live, session = Live(tmp_path, wall=ENDED), Session()
    session.apply(live.after(60.0))
    screen = opened_over(session)
    screen.press("[")
    assert screen.state.time.at_step is not None
    append(path, b"".join(body[2 * 280 + 1 :]))
    session.apply(live.after(60.0))
    screen.press("]")
    assert screen.state.time.at_step is None


def test_a_paused_screen_stands_still(tmp_path: Path) -> None:
    """Paused while a run goes on to twice its length, every pane stays as it was, to the letter."""
    body = log()
    path = write(tmp_path / "run" / "events.out.tfevents.1763600000.host.1.0", b"".join(body[: 2 * 140 + 1]))
    live, session = Live(tmp_path, wall=ENDED), Session()

    def read() -> None:
        session.apply(live.after(60.0))
        session.evaluate(force=True)

    read()
    screen = opened_over(session)
    screen.press("p")
    assert screen.state.time.at_step == 140

    def pages() -> list[str]:
        found = []
        for pane in ("overview", "reward", "policy", "Train", "findings", "all"):
            screen.go(pane)
            found.append(text_of(screen, 100, 30))
        return found

    before = pages()
    append(path, b"".join(body[2 * 140 + 1 :]))
    read()
    assert session.runs["run"].run.last_step == STEPS
    assert session.runs["run"].evaluator.health == "critical"
    assert pages() == before
