"""Alerts and acknowledgements in the monitor: what rings, what is dimmed, what tabs count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rltui.config import AlertConfig, Config
from rltui.draw.cells import Line
from rltui.screen.app import Monitor
from rltui.screen.pages.chart.chart_page import _marks
from rltui.screen.pages.chart.x_axis import XAxis
from rltui.screen.shown_run import tabs
from rltui.screen.shown_run import unacknowledged as counting_findings
from rltui.screen.start import build
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.screens import screen_of, session

SIZE = (120, 40)


def sick() -> MadeRun:
    """A believable run with a critical finding and a warning."""
    run = believable()
    run.found = [finding(severity="critical"), finding("actor/grad_norm", id="grad-norm", since_step=120)]
    return run


def monitor(*, layout_path: Path | None = None, **alerts: Any) -> Monitor:
    """The application over one sick run, without a terminal."""
    config = Config(alerts=AlertConfig(**alerts))
    return build(
        session(sick()), ["/logs"], theme="night", config=config, layout_path=layout_path, clock=lambda: NOW
    )


def shown(app: Monitor) -> str:
    """The screen as text."""
    return "\n".join("".join(text for text, _ in one.spans) for one in screen_of(app).frame(*SIZE).lines)


def counted(app: Monitor) -> int:
    """What the tab of the findings counts."""
    return next(tab.warnings for tab in tabs(app.state) if tab.id == "findings")


def test_the_monitor_sends_nothing_unless_asked() -> None:
    """No configuration, no dispatcher; a table without a way out is none either."""
    assert monitor().alerts is None and monitor(severity="warning").alerts is None


def test_a_way_out_that_fails_is_told_in_the_footer_only() -> None:
    """There is no terminal here: the footer and the findings pane say so, once; nothing is raised."""
    app = monitor(bell=True, for_=0.0)
    app._alert()
    app._alert()
    assert "there is no terminal to ring" in app.state.message
    assert [one.code for one in app.session.problems.values()] == ["alert-failed"]
    screen_of(app).go("findings")
    assert "there is no terminal to ring" in shown(app)


def test_what_was_acknowledged_rings_no_more() -> None:
    """Seen before the dwell time is over: not told outside."""
    rung: list[str] = []

    def ring(text: str) -> str:
        rung.append(text)
        return ""

    app = monitor(bell=True, for_=0.0)
    app.alerts.receivers[0].write = ring
    screen_of(app).go("findings")
    screen_of(app).press("A")
    app._alert()
    assert rung == []
    app.state.selection.rows["findings"] = "1"  # seen ones come last
    screen_of(app).press("A")
    app._alert()
    assert rung == ["\x07"]


def test_an_acknowledged_finding_is_dimmed_and_not_counted(tmp_path: Path) -> None:
    """`A`: last, one dim line, off tabs and overview; kept for the next start; `A` again undoes it."""
    path = tmp_path / "layout.json"
    app = monitor(layout_path=path)
    assert counted(app) == 2
    screen_of(app).go("findings")
    screen_of(app).press("A")
    assert counted(app) == 1 and "acknowledged" in shown(app)
    assert [one.severity for one in screen_of(app).findings()] == ["warning", "critical"]
    assert [one.severity for one in counting_findings(app.state)] == ["warning"]
    app.stop()
    again = monitor(layout_path=path)
    assert counted(again) == 1
    screen_of(again).go("findings")
    again.state.selection.rows["findings"] = "1"
    screen_of(again).press("A")
    assert counted(again) == 2


def roles(line: Line, text: str) -> set[str]:
    """The roles of the spans of a line that contain a text."""
    return {role.partition("/")[0] for span, role in line.spans if text in span}


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (40, 12)])
def test_what_was_acknowledged_keeps_its_sign_everywhere(size: tuple[int, int]) -> None:
    """Header, tabs and list of findings say that something is wrong and acknowledged, in no loud colour."""
    run = believable()
    run.found = [finding(severity="critical", title="a higher learning rate broke the policy")]
    screen = screen_of(build(session(run), ["/logs"], theme="night", clock=lambda: NOW))
    screen.go("findings")
    tabs_before = screen.frame(*size).lines[2].text
    screen.press("A")
    screen.press("H")  # the note of what `A` did is gone
    screen.press("escape")
    lines = screen.frame(*size).lines
    header = next(line for line in lines if "acknowledged" in line.text)
    assert header.text.startswith(" ✖ acknowledged   ") and "✓" not in header.text
    assert roles(header, "acknowledged") == {"dim"}
    assert any("✖ acknowledged: a " in line.text for line in lines[2:])
    if "✖1" in tabs_before:
        assert "✖1" in lines[2].text and roles(lines[2], "✖1") == {"dim"}
    screen.press("r")
    runs = screen.frame(*size).lines
    assert roles(runs[0], "✖1") == {"dim"} and not any("✓" in line.text for line in runs[:3])


def test_what_was_acknowledged_is_told_behind_the_rest() -> None:
    """The header tells what is not acknowledged first; with nothing else it says that all is acknowledged."""
    app = monitor()
    screen_of(app).go("findings")
    before = shown(app).splitlines()[1]
    screen_of(app).press("A")
    one = shown(app).splitlines()[1]
    app.state.selection.rows["findings"] = "0"  # the warning is first now
    screen_of(app).press("A")
    both = shown(app)
    assert "critical" in before and "critical" not in one and "warning" in one
    assert one.rstrip().endswith("; 1 acknowledged")
    assert both.splitlines()[1].startswith(" ✖ acknowledged   ")
    assert sum("acknowledged: " in one for one in both.splitlines()) == 2  # in the list
    screen_of(app).press("A")  # of two seen ones the worse is first again
    assert "critical" in shown(app).splitlines()[1]
    assert next(iter(app.session.runs.values())).evaluator.health == "critical"  # what `check` tells


def test_a_seen_symptom_takes_along_what_it_gathers() -> None:
    """Acknowledging one sentence is enough: the findings below it are not told instead."""
    run = believable()
    run.found = [
        finding(id="collapsed", severity="critical"),
        finding("actor/entropy", id="entropy", severity="warning", explained_by="collapsed"),
    ]
    app = build(session(run), ["/logs"], theme="night", clock=lambda: NOW)
    screen_of(app).go("findings")
    screen_of(app).press("A")
    assert counted(app) == 0 and counting_findings(app.state) == []


def test_a_snooze_ends_by_itself() -> None:
    """`Z`: half an hour of silence, then it counts again."""
    app = monitor()
    screen_of(app).go("findings")
    screen_of(app).press("Z")
    assert counted(app) == 1 and "snoozed for 30m" in shown(app)
    screen_of(app).set_clock(lambda: NOW + 1801)
    assert counted(app) == 2


def test_elsewhere_the_keys_only_say_what_is_missing() -> None:
    """Outside the findings pane nothing is chosen, so nothing is acknowledged."""
    app = monitor()
    screen_of(app).press("A")
    screen_of(app).press("Z")
    assert counted(app) == 2 and "findings pane" in app.state.message


def test_an_onset_is_marked_on_the_chart() -> None:
    """A large chart has a mark at the step at which its finding began."""
    app = monitor()
    screen_of(app).go_to_tag("actor/pg_clipfrac")
    screen = screen_of(app)
    row, view = screen.selected(), screen.view
    assert row is not None and view is not None
    assert _marks(view, row, XAxis(view, "step")) == [212.0]
