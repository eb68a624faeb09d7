"""What was sent is remembered: a monitor that is started again repeats no alert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.finding_alert import Alert
from rltui.alerts.sent_log import MAX_AGE, MAX_ENTRIES, SentAlert, SentLog
from rltui.config.user_config import AlertConfig
from rltui.rules.finding import Finding

NOW = 1.7e9


def finding(since: int = 640, severity: str = "critical", name: str = "kl") -> Finding:
    """A finding that fires."""
    return Finding(name, severity, "policy", ("kl",), ("policy.kl_ref",), since, message="KL")


class Monitor:
    """One life of a monitor: its own monotonic clock, which begins anywhere, and the wall's."""

    def __init__(
        self, path: Path, begin: float, wall: float = NOW, name: str = "terminal", **more: Any
    ) -> None:
        self.name = name
        self.wall, self._ahead = wall, wall - begin
        self.received: list[str] = []
        settings = AlertConfig(
            **{"bell": True, "for_": 0, "resolve_after": 60, "repeat_interval": 3600, **more}
        )
        self.dispatcher = Dispatcher(
            settings, receivers=[self], sent_log=SentLog(path), clock=lambda: self.wall - self._ahead,
            wall=lambda: self.wall,
        )  # fmt: skip

    def send(self, alert: Alert) -> None:
        """Hear it."""
        self.received.append(f"{alert.event} {alert.finding.since_step}")

    def look(self, *findings: Finding) -> list[str]:
        """What is received when these fire."""
        self.received = []
        self.dispatcher.update("a", findings)
        return self.received


def test_a_restart_repeats_no_alert(tmp_path: Path) -> None:
    """The same period is told once, however often and however much later a monitor is started."""
    path = tmp_path / "sent_log.json"
    assert Monitor(path, begin=5.0).look(finding()) == ["firing 640"]
    assert Monitor(path, begin=9e5, wall=NOW + 60).look(finding()) == []
    assert Monitor(path, begin=1.0, wall=NOW + 7200).look(finding()) == []


def test_what_got_worse_is_told_after_a_restart(tmp_path: Path) -> None:
    """A warning that was told does not keep a way out that asks for critical ones from being used."""
    path = tmp_path / "sent_log.json"
    assert Monitor(path, 5.0, severity="warning").look(finding(severity="warning")) == ["firing 640"]
    assert Monitor(path, 5.0, NOW + 9).look(finding()) == ["firing 640"]


def test_another_episode_waits_until_its_cause_has_cooled(tmp_path: Path) -> None:
    """The cooldown runs on while no monitor does."""
    path = tmp_path / "sent_log.json"
    Monitor(path, 5.0).look(finding())
    again = Monitor(path, 5.0, NOW + 1800)
    assert again.look(finding(since=900)) == []
    again.wall += 1801
    assert again.look(finding(since=900)) == ["firing 900"]


def test_an_episode_of_another_life_is_told_to_be_over(tmp_path: Path) -> None:
    """Where the end is wanted, it is told by whichever monitor sees it."""
    path = tmp_path / "sent_log.json"
    Monitor(path, 5.0).look(finding())
    again = Monitor(path, 5.0, NOW + 60, resolved=True)
    assert again.look(finding()) == []
    again.wall += 61
    assert again.look() == ["resolved 640"]


def test_a_clock_set_back_silences_for_one_cooldown_at_most(tmp_path: Path) -> None:
    """A time of telling that lies in the future counts as now."""
    path = tmp_path / "sent_log.json"
    Monitor(path, 5.0, NOW + 9e6).look(finding())
    again = Monitor(path, 5.0, NOW)
    assert again.look(finding(since=900)) == []
    again.wall += 3601
    assert again.look(finding(since=900)) == ["firing 900"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "null", '[["a"]]', "[[[]]]", '[["a","kl",640,2,1e999]]', '[["a","kl",true,2,1.0]]',
     "[" * 100_000, '["a"]', '[[1,2,3,4,5]]', "\x00\xff"],
)  # fmt: skip
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, text: str) -> None:
    """Whatever stands there, alerts are sent and remembered anew."""
    path = tmp_path / "sent_log.json"
    path.write_bytes(text.encode("latin-1"))
    assert Monitor(path, 5.0).look(finding()) == ["firing 640"]
    assert Monitor(path, 5.0, NOW + 60).look(finding()) == []


def test_it_stays_small_and_knows_what_others_wrote(tmp_path: Path) -> None:
    """The latest entries of all monitors of the folder, none older than a month; no scraps beside it."""
    path = tmp_path / "deep" / "sent_log.json"
    one, other = SentLog(path), SentLog(path)
    one.add("old", "kl", SentAlert(1, 2, NOW - MAX_AGE - 1))
    for at in range(MAX_ENTRIES + 9):
        one.add("a", f"id{at}", SentAlert(at, 2, NOW + at))
    other.add("b", "kl", SentAlert(5, 1, NOW + MAX_ENTRIES + 9))
    told = SentLog(path).entries
    assert len(told) == MAX_ENTRIES and ("b", "kl") in told and ("a", f"id{MAX_ENTRIES}") in told
    assert ("old", "kl") not in told and ("a", "id0") not in told
    assert set(path.parent.iterdir()) == {path, path.with_suffix(".lock")} and isinstance(
        json.loads(path.read_text()), list
    )


def test_of_two_monitors_one_sends(tmp_path: Path) -> None:
    """Each rings in its own terminal; a command or webhook that both have is called by the first alone."""
    path = tmp_path / "sent_log.json"
    terminals = Monitor(path, 5.0), Monitor(path, 9.0)
    for each in terminals:
        assert each.look(finding()) == ["firing 640"]
    path.unlink()
    first, second = (_with_a_webhook(path, begin) for begin in (5.0, 9.0))
    assert first.look(finding()) == ["firing 640"]
    assert second.look(finding()) == []
    for each in (first, second):
        each.wall += 61
    assert second.look() == []
    assert first.look() == ["resolved 640"]
    for each in (first, second):
        each.wall += 3600
    assert first.look(finding(since=900)) == ["firing 900"]
    assert second.look(finding(since=901)) == []  # the same period, as this one sees it


def _with_a_webhook(path: Path, begin: float) -> Monitor:
    """A monitor whose webhook is called at once."""
    monitor = Monitor(path, begin, name="webhook", resolved=True)
    monitor.dispatcher._enqueue = monitor.dispatcher.deliver
    return monitor


def test_without_a_place_to_write_nothing_is_lost_but_the_memory(tmp_path: Path) -> None:
    """A folder that cannot be made: alerts are sent, nothing is raised."""
    (tmp_path / "file").write_text("")
    assert Monitor(tmp_path / "file" / "sent_log.json", 5.0).look(finding()) == ["firing 640"]


def test_each_logdir_has_its_own_and_none_lies_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same folders give the same file, however they are called; nothing is written among the logs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = SentLog.of_logdirs([tmp_path / "a", tmp_path / "b"]).path
    assert (
        first is not None and first == SentLog.of_logdirs([tmp_path / "b" / ".." / "b", tmp_path / "a"]).path
    )
    assert first != SentLog.of_logdirs([tmp_path / "a"]).path and first.is_relative_to(tmp_path / "state")
    assert SentLog.of_logdirs([tmp_path]).path is None
