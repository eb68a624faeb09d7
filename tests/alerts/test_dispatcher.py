"""Episodes of alerts: live runs only, what is worse is told again, what a person has seen is not."""

from __future__ import annotations

from typing import Any

from rltui.alerts.dispatcher import Dispatcher, report_failures
from rltui.alerts.finding_alert import Alert
from rltui.alerts.throttle import Throttle
from rltui.common.problem import Problem
from rltui.config.user_config import AlertConfig
from rltui.rules.finding import Finding
from rltui.screen.acknowledgements import SNOOZE_SECONDS, Acknowledgements
from rltui.screen.saved_layout import SavedLayout, load_layout, save_layout
from tests.support.runs.made_run import NOW, MadeRun


def finding(name: str = "kl", severity: str = "critical", since: int = 640, **more: Any) -> Finding:
    """A finding that fires."""
    return Finding(name, severity, "policy", ("kl",), ("policy.kl_ref",), since, message="KL", **more)


def at_once(**more: Any) -> AlertConfig:
    """Settings without waiting."""
    return AlertConfig(**{"bell": True, "for_": 0, "resolve_after": 60, "repeat_interval": 1000, **more})


def test_history_alarms_nobody() -> None:
    """A run that was over when rltui started sends nothing, unless that is asked for."""
    assert Throttle(at_once()).update("old", [finding()], 0, live=False) == []
    assert len(Throttle(at_once(ended=True)).update("old", [finding()], 0, live=False)) == 1


def test_a_run_that_stalls_under_our_eyes_still_alerts() -> None:
    """What was seen alive may alert after its last point."""
    throttle = Throttle(at_once())
    assert throttle.update("a", [], 0, live=True) == []
    assert len(throttle.update("a", [finding()], 10, live=False)) == 1


def test_a_first_step_that_moves_is_no_new_episode() -> None:
    """One of several series recovers, so the onset is told anew: still the same trouble."""
    throttle = Throttle(at_once(repeat_interval=0))
    assert len(throttle.update("a", [finding(since=640)], 0)) == 1
    assert throttle.update("a", [finding(since=700)], 10) == []


def test_each_way_hears_an_episode_once_at_its_severity() -> None:
    """The bell rings at the warning, the webhook when it becomes critical, neither twice."""
    received: list[tuple[str, str]] = []

    class RecordingReceiver:
        def __init__(self, name: str) -> None:
            self.name = name

        def send(self, alert: Alert) -> None:
            received.append((self.name, alert.event))

    settings = at_once(
        webhook="https://x", severity="critical", severities={"terminal": "warning"}, resolved=True
    )
    now = [0.0]
    dispatcher = Dispatcher(
        settings,
        receivers=[RecordingReceiver("terminal"), RecordingReceiver("webhook")],
        clock=lambda: now[0],
    )
    dispatcher.update("a", [finding(severity="warning")])
    dispatcher.update("a", [finding(severity="critical")])
    dispatcher.update("a", [finding(severity="critical")])
    now[0] = 100.0
    dispatcher.update("a", [])
    dispatcher.close(wait=10)
    assert sorted(received) == [
        ("terminal", "firing"), ("terminal", "resolved"), ("webhook", "firing"), ("webhook", "resolved"),
    ]  # fmt: skip


def test_a_finding_must_last_some_steps_where_asked() -> None:
    """`dwell_steps` counts from the onset to the run's last step."""
    throttle = Throttle(at_once(for_steps=50))
    assert throttle.update("a", [finding(since=640)], 0, last_step=689) == []
    assert len(throttle.update("a", [finding(since=640)], 1, last_step=690)) == 1


def test_what_a_person_has_seen_is_not_told() -> None:
    """Muted while it is acknowledged; told once that ends, if it still fires."""
    throttle = Throttle(at_once())
    assert throttle.update("a", [finding()], 0, acknowledged=("kl",)) == []
    assert len(throttle.update("a", [finding()], 10)) == 1


def test_a_symptom_brings_what_it_explains() -> None:
    """One alert with the findings below it, not one for each."""
    below = finding("clip", "warning", explained_by="kl")
    (alert,) = Throttle(at_once()).update("a", [finding(symptom=True), below], 0)
    assert alert.explains == (below,)


def test_a_stalled_run_is_an_alert_and_loading_is_none() -> None:
    """A stall is told once with how long; while history is read nothing is."""
    written: list[str] = []

    def note(text: str) -> str:
        written.append(text)
        return ""

    dispatcher = Dispatcher(at_once(notify="osc9"), write=note, clock=lambda: 0.0)
    run = MadeRun("a")
    run.add("actor/ppo_kl", [0.1] * 100)
    source = run.run.sources["actor/ppo_kl"]
    run.run.sources["actor/ppo_kl"] = source._replace(size=100, caught_up=False)
    dispatcher.update_run(run, NOW + 1200)
    run.run.sources["actor/ppo_kl"] = source
    dispatcher.update_run(run, NOW + 5)
    assert written == []
    dispatcher.update_run(run, NOW + 1200)
    dispatcher.update_run(run, NOW + 1201)
    assert len(written) == 1 and "Nothing has been written for 20m" in written[0]


def test_a_way_that_fails_is_told_once_and_withdrawn() -> None:
    """The footer hears of it when it begins; the problem goes when a delivery arrives."""
    said: list[str] = []
    known: dict[Any, Problem] = {}
    broken = [Problem("warning", "alert-failed", "alerts: webhook", "the server answers 500")]
    report_failures(broken, known, said.append)
    report_failures(broken, known, said.append)
    assert said == ["alerts: webhook: the server answers 500"] and len(known) == 1
    report_failures([], known, said.append)
    assert not known


def test_acknowledged_for_the_episode_snoozed_for_half_an_hour(tmp_path: Any) -> None:
    """An acknowledgement ends with its period, a snooze with time; both outlive the program."""
    known = Acknowledgements(SavedLayout())
    assert known.acknowledge("a", finding()) and known.snooze("a", finding("clip"), 1000.0)
    path = tmp_path / "layout.json"
    save_layout(path, known.saved)
    again = Acknowledgements(load_layout(path))
    assert again.status("a", finding(), 1e9) == "acknowledged"
    assert again.status("a", finding(since=900), 1000.0) == "" and again.status("b", finding(), 1000.0) == ""
    assert again.status("a", finding("clip"), 1000.0 + SNOOZE_SECONDS - 90) == "snoozed for 2m"
    assert again.status("a", finding("clip"), 1000.0 + SNOOZE_SECONDS) == ""
    assert not again.acknowledge("a", finding()) and again.status("a", finding(), 0.0) == ""


def test_acknowledgements_of_other_shapes_are_ignored() -> None:
    """A layout file edited by hand or by a later version harms nothing."""
    known = Acknowledgements(
        SavedLayout(
            acknowledged=["", "[1]", "{}", '["a", "kl", "x", 3]', '["a", "kl", null, "y"]', "[" * 9999]
        )
    )
    assert known.status("a", finding(), 0.0) == ""
