"""What is known of a run in time, and what it says at a moment: live, stalled or ended."""

from __future__ import annotations

import math
from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import age_lasts

GONE = "the log is gone"


class Liveness(NamedTuple):
    """How a run is doing in time. Seconds; None where it cannot be known."""

    state: Literal["live", "stalled", "ended"]
    age: float | None = None  # since the last point
    gap: float | None = None  # usual time between steps
    quiet: str = ""  # what went quiet, when something did
    eta: float | None = None  # until the last step, never negative
    total: int | None = None
    progress: float | None = None  # 0..1
    pace: float | None = None  # seconds per step, pauses included
    known: bool = True  # False: it is only so silent that it is taken as over, or as stalled
    exit_code: int = 0  # of its process, where its tracker noted one
    complete: bool = False  # of its planned steps no point is missing, as often as it logs

    @property
    def word(self) -> str:
        """The state in one word; `ended?` where that is a guess, `stalled?` where it may as well be over."""
        return self.state if self.known else f"{self.state}?"

    @property
    def unfinished(self) -> bool:
        """Whether it is over before its planned steps, whatever ended it."""
        missing = bool(self.total) and self.progress is not None and self.progress < 1
        return self.state == "ended" and missing and not self.complete

    @property
    def cut_short(self) -> bool:
        """Whether it is over and nothing says that it was meant to be: a crash, or steps that never came."""
        if self.state != "ended" or self.quiet == GONE:
            return False
        return bool(self.exit_code) if self.known else self.unfinished


class RunPace(NamedTuple):
    """What is known of one run in time, whatever the time is now. Seconds; None where it cannot be known."""

    last_wall: float | None  # since 1970, of the last point
    done: bool  # its log or tracker says that it is over
    gone: bool  # its logs are gone
    patience: float  # of silence that is no stall
    given_up: float  # of silence after which nobody waits any more
    gap: float | None
    pace: float | None  # a step, pauses included
    last_step: int | None
    total: int | None
    progress: float | None
    quiet: str = ""  # what goes quiet when the run stalls
    exit_code: int = 0  # of its process, where its tracker noted one
    complete: bool = False  # of its planned steps no point is missing, as often as it logs

    def until(self, now: float) -> float:
        """When other words say how it is doing if nothing is written, seconds since 1970; infinity if never.

        Those of a stall tell how long it lasts.
        """
        state = self.at(now).state
        if state == "ended" or self.last_wall is None:
            return math.inf
        if state == "live":
            return self.last_wall + self.patience
        return min(self.last_wall + self.given_up, now + age_lasts(now - self.last_wall))

    def said_over(self) -> RunPace:
        """The same of a run whose console ends with words that it is over: its silence is no stall."""
        return self if self.done else self._replace(given_up=self.patience, complete=True)

    def followed(self) -> RunPace:
        """The same of a run that another one continues: it is over, and is to end where it did."""
        return self if self.done else self._replace(done=True, complete=True)

    def at(self, now: float) -> Liveness:
        """Judge the run at a time (seconds since 1970).

        A run whose log or tracker says that it is over has ended, known to the second; one that only writes
        no more is stalled first, and then taken as ended.
        """
        age = None if self.last_wall is None else max(now - self.last_wall, 0.0)
        state: Literal["live", "stalled", "ended"]
        if self.done or self.gone or age is None:
            state = "ended"
        else:
            state = "live" if age <= self.patience else "stalled" if age <= self.given_up else "ended"
        eta = None
        if state == "live" and self.total and self.last_step is not None and self.pace is not None:
            eta = max((self.total - self.last_step) * self.pace - (age or 0.0), 0.0)
        quiet = GONE if self.gone else self.quiet if state == "stalled" else ""
        return Liveness(
            state,
            age,
            self.gap,
            quiet,
            eta,
            self.total,
            self.progress,
            pace=self.pace or None,
            known=self.done or state == "live" or (state == "stalled" and self.total is not None),
            exit_code=self.exit_code,
            complete=self.complete,
        )
