"""Whether a run is live, stalled or ended at a given time, and the timing from which this follows."""

from __future__ import annotations

import math
from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import age_lasts

GONE = "the log is gone"
COPIED_SECONDS = 120.0  # without a write, after which a copy is complete
FAILED_SECONDS = 60.0  # without a line, after which a console that ends with an exception has ended


class Liveness(NamedTuple):
    """The state of a run at one time. Times in seconds; None where unknown."""

    state: Literal["live", "stalled", "ended"]
    age: float | None = None  # since the last point; of a silent copy whose points have no times, unknown
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
    reading: bool = False  # its logs are still being read: whether it is silent is not known yet
    dated: bool = True  # False: its points have no times, and `age` is that of its log files

    @property
    def shown_state(self) -> str:
        """The state, or `reading` while it is not known yet."""
        return "reading" if self.reading else self.state

    @property
    def word(self) -> str:
        """The state in one word, with a question mark where it is only inferred from silence."""
        return self.shown_state if self.known or self.reading else f"{self.state}?"

    def while_reading(self) -> Liveness:
        """The same of a run whose logs are still being read: the newest points may be those not read yet."""
        if self.state == "live" or (self.state == "ended" and self.known):
            return self
        return self._replace(state="live", age=None, quiet="", known=False, over=False, reading=True)

    @property
    def age_known(self) -> bool:
        """Whether it is known how long ago it wrote."""
        return self.age is not None and math.isfinite(self.age)

    @property
    def last_write(self) -> str:
        """What its age refers to: `last point`, or `last written` if its points have no times."""
        return "last point" if self.dated else "last written"

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


class RunPace(NamedTuple):
    """The timing of one run, independent of the present time. Times in seconds; None where unknown."""

    last_wall: float | None  # since 1970, of the last point; of the last write to a file if not `dated`
    done: bool  # its log or tracker says that it has ended
    gone: bool  # its log files no longer exist
    stalled_after: float  # longest silence that is not a stall
    ended_after: float  # silence after which the run is taken as ended
    gap: float | None  # usual time between steps
    pace: float | None  # per step, including pauses
    last_step: int | None
    total: int | None
    progress: float | None
    quiet: str = ""  # the file or phase that stopped first, if known
    exit_code: int = 0  # of its process, if its tracker recorded one
    complete: bool = False  # no point of its planned steps is missing, at its interval of logging
    failed_at: float | None = None  # seconds since 1970, when its console ended with an exception
    file_written: float | None = None  # since 1970, the newest of its log files
    interrupted: bool = False  # its console ends with Ctrl-C
    copied: bool = False  # its log files were made at once, long after its last point
    dated: bool = True  # False: its points have no times, and `last_wall` is when a file was written last
    made_at_once: bool = False  # its log files were written last when they were created

    def next_change(self, now: float) -> float:
        """When the description of the state changes unless a point comes, in seconds since 1970, or infinity.

        That of a stall contains its duration.
        """
        liveness = self.at(now)
        state = liveness.state
        if self.last_wall is None or liveness.over:
            return math.inf
        failure = math.inf if self.failed_at is None else self.failed_at + FAILED_SECONDS
        if state == "ended":
            return self._silent_from() if self._silent_from() >= now else math.inf
        if state == "live":
            return min(self.last_wall + self.stalled_after, failure)
        return min(self.last_wall + self.ended_after, failure, now + age_lasts(now - self.last_wall))

    def reported_end(self) -> RunPace:
        """The same of a run whose console ends by reporting completion: its silence is not a stall."""
        return self if self.done else self._replace(ended_after=self.stalled_after, complete=True)

    def failed(self, at: float) -> RunPace:
        """The same of a run whose console ends with an exception, written at this time (since 1970)."""
        return self if self.done else self._replace(failed_at=at)

    def stopped_by_user(self) -> RunPace:
        """The same of a run whose console ends with Ctrl-C: it has ended, on purpose."""
        return self if self.done else self._replace(done=True, interrupted=True)

    def continued(self) -> RunPace:
        """The same of a run that another one continues: it ended, and not too early."""
        return self if self.done else self._replace(done=True, complete=True, failed_at=None)

    def at(self, now: float) -> Liveness:
        """The state at a time (seconds since 1970).

        A run whose log, tracker or console says that it is over has ended. One that only stops writing is
        stalled first, and later taken as ended.
        """
        age = None if self.last_wall is None else max(now - self.last_wall, 0.0)
        state: Literal["live", "stalled", "ended"]
        failed = self.failed_at is not None and now >= self.failed_at + FAILED_SECONDS
        # Such are copies, and documents that are replaced at each step by a new file. Without a plan nothing
        # says that it should be live, and the age of its files is not that of the run.
        unknown = self.made_at_once and not self.dated and self.total is None
        ended_after = self.stalled_after if unknown else self.ended_after
        if self.done or self.gone or failed or age is None:
            state = "ended"
        else:
            state = "live" if age <= self.stalled_after else "stalled" if age <= ended_after else "ended"
        eta = None
        if state == "live" and self.total and self.last_step is not None and self.pace is not None:
            eta = max((self.total - self.last_step) * self.pace - (age or 0.0), 0.0)
        certain = self.done and not self.interrupted  # who stops a run knows that it is not done
        quiet = GONE if self.gone else self.quiet if state == "stalled" else ""
        return Liveness(
            state,
            None if unknown and state == "ended" else age,
            self.gap,
            quiet,
            eta,
            self.total,
            self.progress,
            pace=self.pace or None,
            known=self.done or failed or state == "live" or (state == "stalled" and self.total is not None),
            exit_code=self.exit_code,
            complete=self.complete,
            exception=failed,
            interrupted=self.interrupted,
            over=state == "ended" and not self.gone and (certain or now > self._silent_from()),
            dated=self.dated,
        )

    def _silent_from(self) -> float:
        """When neither a point nor a write to a file is recent any more, in seconds since 1970.

        Points may be old in a file that is written now: a copy, a mirror, a replay. A copy that was written
        at once, and then not for `COPIED_SECONDS`, is complete: its run was silent for long when it was made.
        """
        written = -math.inf if self.file_written is None else self.file_written
        points = -math.inf if self.last_wall is None else self.last_wall
        return max(points + self.ended_after, written + (COPIED_SECONDS if self.copied else self.ended_after))
