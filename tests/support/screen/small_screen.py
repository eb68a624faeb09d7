"""A program for pty tests: the real screen on a made-up run, without readers.

RLTUI_TEST_CRASH=key raises an error inside the application when `!` is pressed.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> int:
    """Open the screen as `rltui watch` does; returns the exit code."""
    from rltui.screen.start import build, show
    from rltui.screen.terminal.restore import terminal_problem
    from tests.support.runs.made_run import NOW
    from tests.support.screen.screens import session

    problem = terminal_problem()
    if problem is not None:
        print(f"rltui: {problem}", file=sys.stderr)
        return 2
    app = build(session(), ["/logs"], clock=lambda: NOW)
    if os.environ.get("RLTUI_TEST_CRASH"):
        press = app.press

        def crash(key: str) -> None:
            if key == "!":
                raise ZeroDivisionError("made by a test")
            press(key)

        app.press = crash  # type: ignore[method-assign]
    return show(app)


if __name__ == "__main__":
    sys.exit(main())
