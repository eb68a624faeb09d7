"""The documented exit codes. `documents/check_exit_code.py` determines that of `check`."""

from __future__ import annotations

FOUND = 1
WRONG = 2
STALLED = 3
TIMED_OUT = 4
UNOPENED = "rltui.unopened"  # entry of click's context: some of the LOGDIRs could not be opened

EXIT_CODES = (  # descriptions for the manual page and the documentation
    ("0", "fine"),
    ("1", "a finding at or above --fail-on, or an unknown metric, pane, theme, framework or baseline"),
    (
        "2",
        "wrong usage, unreadable configuration, a LOGDIR that cannot be read, or no run that --run selects",
    ),
    ("3", "check, wait: a run that should be live has stalled; check: or ended early in the last week"),
    ("4", "wait: timed out"),
    ("130, 143", "after SIGINT and SIGTERM"),
)
