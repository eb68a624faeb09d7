"""The screen without a terminal: made-up runs, a fixed clock, nothing remembered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rltui.config import Config
from rltui.screen.app import Monitor
from rltui.screen.start import build
from tests.support.fakerun import NOW, FakeRun, believable, finding


def session(*runs: FakeRun) -> Any:
    """A session of runs that were read already."""
    found = list(runs) or [warned()]
    return SimpleNamespace(
        config=Config(),
        runs={run.name: run for run in found},
        ordered=lambda: sorted(found, key=lambda run: (-run.modified, run.name)),
        evaluate=lambda: None,
        focus=lambda *_: None,
        problems={},
    )


def warned() -> FakeRun:
    """A believable run with one warning."""
    run = believable()
    run.found = [finding()]
    return run


def monitor(*runs: FakeRun, **options: Any) -> Monitor:
    """The application over such a session."""
    return build(session(*runs), ["/logs"], clock=lambda: NOW, **{"theme": "night", **options})


def glass(app: Monitor) -> str:
    """What the screen shows."""
    return "\n".join(app.glass.render_line(y).text.rstrip() for y in range(app.glass.size.height))
