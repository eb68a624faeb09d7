"""Slurm, through the text formats of `squeue -o` and `scontrol show job`.

Not `--json`: its schema changes between versions, and it takes minutes on large clusters.
"""

from __future__ import annotations

import math
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from rltui.common.display_text import clean, quote
from rltui.common.regex import regex
from rltui.logs.records.parse_number import iso_time
from rltui.run_context.jobs.scheduler import Job, SchedulerError

TIMEOUT = 5.0  # seconds for one command
QUERY_INTERVAL = 60.0  # seconds between two queries: the controller is shared by all users
MAX_BYTES = 4 << 20  # of a command's output
_FORMAT = "%i|%T|%N|%L|%e|%Z|%j"  # id, state, nodes, time left, end, folder, name
_ID = regex(r"\d+(?:_(?:\d+|\[[\d,%-]+\]))?")
_STATE = regex(r"[A-Z_]+")
_LEFT = regex(r"(?:(?:(?P<days>\d+)-)?(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+)")

Run = Callable[[Sequence[str]], str]  # the output of a command; raises SchedulerError


class Slurm:
    """Queries Slurm at most once a minute, and never where it is not installed."""

    def __init__(self, run: Run | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run or output_of
        self._clock = clock
        self._queried: float | None = None
        self._jobs: tuple[Job, ...] = ()
        self._error = ""

    def jobs(self) -> tuple[Job, ...]:
        """This user's jobs; empty without Slurm. Raises SchedulerError."""
        if not is_installed("squeue"):
            return ()
        now = self._clock()
        if self._queried is None or now - self._queried >= QUERY_INTERVAL:
            self._queried = now
            try:
                self._jobs, self._error = parse_jobs(self._run(["squeue", "--me", "-h", "-o", _FORMAT])), ""
            except SchedulerError as error:
                self._jobs, self._error = (), str(error)
        if self._error:
            raise SchedulerError(self._error)
        return self._jobs

    def folders(self, job: str) -> tuple[str, ...]:
        """The folders in which a job works and writes its console. Raises SchedulerError."""
        if not _ID.fullmatch(job):
            raise SchedulerError(f"{quote(job)} is not the number of a Slurm job, such as 4711")
        if not is_installed("scontrol"):
            raise SchedulerError("scontrol is not installed here: give the folder of the run instead")
        return parse_folders(self._run(["scontrol", "show", "job", job]))


def is_installed(command: str) -> bool:
    """Whether a command of Slurm is available here."""
    import shutil  # imports compression modules: 2 ms that runs which have ended do not need

    return shutil.which(command) is not None


def output_of(command: Sequence[str]) -> str:
    """The output of a command, which is killed with its children after TIMEOUT. Raises SchedulerError."""
    import subprocess  # most machines have no Slurm

    environment = {**os.environ, "LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise SchedulerError(f"{command[0]} cannot be started: {error.strerror}") from None
    try:
        output, errors = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        # A process that hangs in the kernel cannot be waited for.
        os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        raise SchedulerError(f"{command[0]} did not answer within {TIMEOUT:g} s") from None
    if process.returncode:
        reason = quote(errors.decode(errors="replace").strip().partition("\n")[0])
        raise SchedulerError(f"{command[0]} failed with {process.returncode}: {reason or 'no reason given'}")
    return output[:MAX_BYTES].decode(errors="replace")


def parse_jobs(text: str) -> tuple[Job, ...]:
    """The jobs of `squeue -h -o '%i|%T|%N|%L|%e|%Z|%j'`. Raises SchedulerError for other columns."""
    found = []
    for line in text.splitlines():
        parts = line.strip().split("|", 6)
        if not line.strip():
            continue
        if len(parts) != 7 or not _ID.fullmatch(parts[0]) or not _STATE.fullmatch(parts[1]):
            raise SchedulerError(f"squeue prints other columns than were asked for: {quote(line.strip())}")
        job, state, nodes, left, end, folder, name = parts
        ends = iso_time(end)
        found.append(
            Job(
                job,
                state.lower(),
                clean(nodes, 200),
                _seconds(left),
                ends if math.isfinite(ends) else None,
                clean(folder, 1000),
                clean(name, 200),
            )
        )
    return tuple(found)


def parse_folders(text: str) -> tuple[str, ...]:
    """`WorkDir`, and the folder of `StdOut` where it is not below that, of `scontrol show job`.

    Raises SchedulerError if both are missing.
    """
    fields = dict(re.findall(r"^\s*(WorkDir|StdOut)=(.+?)\s*$", text, re.MULTILINE))
    work, console = PurePosixPath(fields.get("WorkDir", "")), PurePosixPath(fields.get("StdOut", "")).parent
    folders = [str(work)] if work.is_absolute() else []
    below = bool(folders) and console.is_relative_to(work)
    if console.is_absolute() and not below and not console.is_relative_to("/dev"):
        folders.append(str(console))
    if not folders:
        raise SchedulerError("scontrol names no folder of this job: give the folder of the run instead")
    return tuple(folders)


def _seconds(text: str) -> float | None:
    """`2-03:04:05` in seconds; None for `UNLIMITED`, `INVALID` and the like."""
    match = _LEFT.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = (int(match[key] or 0) for key in ("days", "hours", "minutes", "seconds"))
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
