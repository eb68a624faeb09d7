"""The state of a run at a given time: live, stalled or ended."""

from __future__ import annotations

from typing import Literal

from rltui.common.named_tuple import NamedTuple

GONE = "the log is gone"


class Liveness(NamedTuple):
    """The state of a run at one time. Times in seconds; None where unknown."""

    state: Literal["live", "stalled", "ended"]
    age: float | None = None  # since the last point
    gap: float | None = None  # usual time between steps
    quiet: str = ""  # the file or phase that stopped first, if known
    eta: float | None = None  # until the last step, never negative
    total: int | None = None
    progress: float | None = None  # 0..1
    pace: float | None = None  # seconds per step, pauses included
    known: bool = True  # False: stalled or ended is only inferred from silence
    exit_code: int = 0  # of its process, if its tracker recorded one
    complete: bool = False  # no point of its planned steps is missing, at its interval of logging
    exception: bool = False  # its console ends with one
    interrupted: bool = False  # its console ends with Ctrl-C: its user stopped it
    over: bool = False  # ended for certain, or silent for long in its points and in its files

    @property
    def word(self) -> str:
        """The state in one word, with a question mark where it is only inferred from silence."""
        return self.state if self.known else f"{self.state}?"

    @property
    def failed(self) -> bool:
        """Whether it ended by a failure: by its exit code, or the exception at the end of its console."""
        return self.exit_code != 0 or self.exception

    @property
    def unfinished(self) -> bool:
        """Whether it ended before its planned steps, for any reason."""
        missing = bool(self.total) and self.progress is not None and self.progress < 1
        return self.state == "ended" and missing and not self.complete

    @property
    def ended_as_planned(self) -> bool:
        """Whether it is known to have ended, with all of its planned steps as far as these are known."""
        known = self.state == "ended" and self.known and self.quiet != GONE
        return known and not (self.failed or self.unfinished or self.interrupted)

    @property
    def cut_short(self) -> bool:
        """Whether it ended unintentionally as far as is known: by a crash, or before its planned steps."""
        if self.state != "ended" or self.quiet == GONE:
            return False
        return self.failed if self.known else self.unfinished
