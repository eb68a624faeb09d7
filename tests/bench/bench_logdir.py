"""What the screen costs on a run of one's own: bytes and processor time per update.

The user's logs are only read: the newest steps of the run are written again into a temporary folder, a
step each second, and the real screen watches that, at the size and with the colours of this terminal.

`python -m tests.bench logdir [LOGDIR ...]`; a recorded run without one. See bench_terminal for budgets.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rltui.demo.recording import HEALTHY, Recording, Row, read
from rltui.demo.replay import Replay
from rltui.session.session import Session
from tests.support.screen.probe import Answer, Probe

UPDATES = 8  # steps watched, one each second
HISTORY = 400  # steps that are there before
IDLE = 4.0  # seconds of watching nothing happen
KEYS = (b"2", b"3", b"1")  # reward, policy, overview


def measure(logdirs: Sequence[str] | None = None) -> dict[str, Any]:
    """Watch the run written last below `logdirs`, or a recorded one; takes about half a minute.

    It is watched as `rltui watch` shows it, and once more as Textual by itself would send it.
    Bytes are as sent, before any compression of ssh; times in milliseconds, memory in MB, processor time in
    percent of one core. None where the system does not tell.
    """
    recording = _newest(logdirs) if logdirs else read(HEALTHY)
    if recording is None:
        return {"problem": "no run with enough steps was found there"}
    try:
        columns, rows = os.get_terminal_size(sys.__stdout__.fileno()) if sys.__stdout__ else (140, 45)
    except (OSError, ValueError):
        columns, rows = 140, 45
    ours = _watch(recording, columns, rows)
    stock = _watch(recording, columns, rows, RLTUI_SCREEN="stock")
    return {
        "size": [columns, rows],
        "run": recording.name,
        "metrics": len({tag for _, _, values in recording.rows for tag in values}),
        **{key: _rounded(value) for key, value in ours.items()},
        "stock": {key: _rounded(stock[key]) for key in ("bytes_per_update", "start_bytes", "key_bytes")},
    }


def sentences(report: dict[str, Any]) -> list[str]:
    """A report for people."""
    if "problem" in report:
        return [str(report["problem"])]

    def say(key: str, unit: str) -> str:
        value = report[key]
        return "?" if value is None else f"{value:,.4g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"

    columns, rows = report["size"]
    return [
        f"{columns}x{rows}, {report['run']} with {report['metrics']} metrics",
        f"start: {say('first_frame', 'ms')} to the run on the screen, {say('start_bytes', 'bytes')}, "
        f"{say('memory', 'MB')}",
        f"an update: {say('bytes_per_update', 'bytes')} (without the cell diff "
        f"{report['stock']['bytes_per_update']:,.0f}), {say('cpu', '% of a core')} at one each second",
        f"nothing new: {say('idle_bytes', 'bytes/s')}, {say('idle_cpu', '% of a core')}",
        f"a key: {say('key_first', 'ms')} to the first byte, {say('key_silence', 'ms')} to the last, "
        f"{say('key_bytes', 'bytes')}",
    ]


def _newest(logdirs: Sequence[str]) -> Recording | None:
    """The newest steps of the run that was written last, as a recording."""
    found = next(iter(Session.load(list(logdirs)).ordered()), None)
    if found is None:
        return None
    steps: dict[int, dict[str, float]] = {}
    for tag, series in found.run.series.items():
        points = series.recent(HISTORY)
        with np.errstate(over="ignore"):
            values = points.value.astype(np.float32).tolist()
        for step, value in zip(points.step.tolist(), values, strict=True):
            steps.setdefault(step, {})[tag] = value
    rows: list[Row] = [(step, 0.0, steps[step]) for step in sorted(steps)[-HISTORY:]]
    if len(rows) < 2 * UPDATES:
        return None
    return Recording(
        name=found.name.replace(os.sep, "-").strip(".") or "run",
        title=found.name,
        framework=found.framework,
        about="",
        rows=tuple(rows),
    )


def _watch(recording: Recording, columns: int, rows: int, **environment: str) -> dict[str, float]:
    """The real screen on a replayed run."""
    with tempfile.TemporaryDirectory(prefix="rltui-screen-") as home:
        logs = Path(home) / "logs"
        replay = Replay(recording, logs, speed=0.5)
        history = min(max(len(recording.rows) - UPDATES - 1, 1), HISTORY)
        replay.write_until(history)
        package = str(Path(__file__).resolve().parents[2])
        env = {**os.environ, "XDG_STATE_HOME": f"{home}/state", **environment}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (package, env.get("PYTHONPATH"))))
        if env.get("TERM", "dumb") == "dumb":
            env["TERM"] = "xterm-256color"
        command = [sys.executable, "-m", "rltui", "watch", str(logs), "--pane", "overview"]
        with Probe(command, columns=columns, rows=rows, env=env) as probe:
            first = probe.wait_for(b"overview") * 1000
            probe.wait_until_quiet(0.6)
            figures = {"first_frame": first, "start_bytes": float(probe.sent), "memory": probe.memory()}
            replay.write_until(history + 1)
            probe.during(1.2)
            sent: list[int] = []
            cpu, began = probe.cpu(), time.perf_counter()
            for index in range(1, UPDATES + 1):
                replay.write_until(history + 1 + index)
                sent.append(probe.during(began + index - time.perf_counter()))
            figures["cpu"] = (probe.cpu() - cpu) / (time.perf_counter() - began) * 100
            figures["bytes_per_update"] = statistics.median(sent)
            probe.wait_until_quiet(1.2)
            answers: list[Answer] = []
            for key in KEYS:
                answers.append(probe.press(key))
                probe.wait_until_quiet(0.3)
            figures["key_first"] = statistics.median(one.first for one in answers)
            figures["key_silence"] = statistics.median(one.silence for one in answers)
            figures["key_bytes"] = float(max(one.sent for one in answers))
            probe.wait_until_quiet(1.2)
            cpu = probe.cpu()
            seconds = [probe.during(1.0) for _ in range(round(IDLE))]
            figures["idle_bytes"] = statistics.median(seconds)
            figures["idle_cpu"] = (probe.cpu() - cpu) / IDLE * 100
            return figures


def _rounded(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None


def main(*logdirs: str) -> None:
    """Print the report."""
    for sentence in sentences(measure(logdirs)):
        print(sentence)
