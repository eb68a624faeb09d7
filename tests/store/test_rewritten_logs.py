"""Logs that are told again from their first byte beside others that speak of the same tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.store.run import Run
from rltui.store.store import Store
from tests.support.logs.live_logs import Live, append, event_bytes, line, lines, write
from tests.support.runs.deliveries import shown

OLD, NEW = "events.out.tfevents.1763600000.host.1.0", "events.out.tfevents.1763600900.host.2.0"


def told(live: Live) -> Run:
    """The only run after all that a follower delivered."""
    store = Store()
    for delivery in live.delivered.deliveries:
        if delivery.source.run:
            store.apply(delivery)
    assert len(store.runs) == 1
    return next(iter(store.runs.values()))


def table(steps: range, scale: float, more: str = "") -> str:
    """A CSV of some steps."""
    head = f"step,loss{',' + more if more else ''}\n"
    return head + "".join(f"{step},{step * scale + 0.25}{f',{step}.5' if more else ''}\n" for step in steps)


@pytest.mark.parametrize("again", [False, True])
def test_table_written_anew_beside_another(tmp_path: Path, again: bool) -> None:
    """A progress.csv that gains a column counts once, and so does the log beside it that shares its tag."""
    log = write(tmp_path / "progress.csv", table(range(10), 0.5))
    write(tmp_path / "metrics.jsonl", lines(range(100, 130), scale=0.125))
    live = Live(tmp_path)
    live.after(3)
    before = told(live)
    assert (before.points, before.superseded) == (40, 0)
    write(log, table(range(12), 0.5, "kl"))
    live.after(5)
    if again:
        append(tmp_path / "metrics.jsonl", lines(range(130, 140), scale=0.125))
        write(log, table(range(14), 0.5, "entropy"))
        live.after(5)
    run, rows, last = told(live), 14 if again else 12, 140 if again else 130
    assert run.points == 2 * rows + last - 100
    assert shown(run) == [(step, step * 0.5 + 0.25) for step in range(rows)] + [
        (step, step * 0.125 + 0.25) for step in range(100, last)
    ]
    assert live.delivered.codes == []


def test_page_of_an_older_attempt_that_arrives_late(tmp_path: Path) -> None:
    """An event file that heals is read once more: the attempt after it stays what it was."""
    data = event_bytes(range(400))
    log = write(tmp_path / OLD, data[:4096] + bytes(4096) + data[8192:])
    write(tmp_path / NEW, event_bytes(range(350, 500), scale=0.75))
    live = Live(tmp_path)
    live.after(20)
    assert live.delivered.codes != []
    with log.open("r+b") as file:
        file.seek(4096)
        file.write(data[4096:8192])
    live.after(40)
    run = told(live)
    assert (run.points, run.superseded) == (550, 50)
    assert shown(run) == [(step, step * (0.5 if step < 350 else 0.75) + 0.25) for step in range(500)]


def test_what_a_rotated_log_said_before_is_not_forgotten(tmp_path: Path) -> None:
    """Damage that heals in a log whose beginning was rotated away: nothing that was read gets lost."""
    log = write(tmp_path / "metrics.jsonl", lines(range(200)))
    live = Live(tmp_path)
    live.after(3)
    log.rename(tmp_path / "metrics.jsonl.1")
    text = lines(range(200, 1000)).encode()
    write(log, text[:8192] + bytes(4096) + text[12288:])
    live.after(20)
    with log.open("r+b") as file:
        file.seek(8192)
        file.write(text[8192:12288])
    live.after(60)
    run = told(live)
    steps = [step for step, _ in shown(run)]
    assert steps[:200] == list(range(200))
    assert len(steps) == len(set(steps)) == run.points
    assert len(steps) == 1000 or live.delivered.codes != ["restarted"]


def test_log_that_vanished_is_not_forgotten_for_its_neighbour(tmp_path: Path) -> None:
    """What cannot be read again is kept, even when a log beside it is told anew."""
    log = write(tmp_path / "progress.csv", table(range(10), 0.5))
    other = write(tmp_path / "metrics.jsonl", "".join(line(step, loss=step / 8) for step in range(100, 130)))
    live = Live(tmp_path)
    live.after(3)
    other.unlink()
    live.after(40)
    write(log, table(range(12), 0.5, "kl"))
    live.after(5)
    assert {step for step, _ in shown(told(live))} == {*range(12), *range(100, 130)}
