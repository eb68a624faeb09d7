"""The exit codes that other programs rely on; `check_document.exit_code` chooses that of `check`."""

from __future__ import annotations

FOUND = 1  # a finding at or above --fail-on, or an unknown name asked for
WRONG = 2  # wrong usage, unreadable configuration, or nothing that can be read
STALLED = 3  # check and wait: a run that should be live has stalled; check: or it ended early
TIMED_OUT = 4  # wait only: nothing that was waited for has happened

# As the manual page and the documentation list them.
EXIT_CODES = (
    ("0", "fine"),
    ("1", "a finding at or above --fail-on, or an unknown name asked for"),
    ("2", "wrong usage, unreadable configuration, or nothing that can be read"),
    ("3", "check, wait: a run that should be live has stalled; check: or ended early in the last week"),
    ("4", "wait: timed out"),
    ("130, 143", "after SIGINT and SIGTERM"),
)
