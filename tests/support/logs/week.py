"""A training that is followed for a week of made-up time: files that grow, rotate, are revived and replaced.

Nothing sleeps: the clock is a number. Sizes of files come from whole steps, so every look finds some.
"""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path

from rltui.logs.follow.follower import Follower
from rltui.store.store import Store
from tests.support.logs import tfwriter
from tests.support.logs.open_files import open_below

DAY = 86_400.0


@dataclass
class Sample:
    """The memory and files that follower and store held at one time."""

    points: int
    traced: int  # bytes that follower and store allocated; 0 when allocations are not traced
    tables: int
    descriptors: int


ALLOCATING = [tracemalloc.Filter(True, f"*/rltui/{folder}/*") for folder in ("logs", "store", "common")]


@dataclass
class Week:
    """A LOGDIR of event files and one rotated text log, a follower and a store over it."""

    root: Path
    tags: tuple[str, ...]
    steps: int  # per append
    store: Store = field(default_factory=Store)
    now: float = 0.0
    step: int = 0
    expected: int = 0
    attempt: int = 0
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.follower = Follower([self.root], clock=lambda: self.now)
        self.store.focus({"run"})
        (self.root / "run").mkdir(parents=True)
        (self.root / "side").mkdir()
        self.restart()

    def restart(self) -> None:
        """A new attempt: another event file, from a step that was passed already."""
        self.attempt += 1
        self.step = max(0, self.step - self.steps)
        self.path = (
            self.root / "run" / f"events.out.tfevents.{1_700_000_000 + int(self.now)}.node.{self.attempt}.0"
        )
        self.path.write_bytes(tfwriter.version())

    def append(self) -> None:
        """So many steps of every tag; one line of the text log for each."""
        begin, self.step = self.step, self.step + self.steps
        wall = 1.7e9 + self.now
        records = [
            tfwriter.event(step, tfwriter.simple(tag, 0.25 * step + index), wall=wall)
            for step in range(begin, self.step)
            for index, tag in enumerate(self.tags)
        ]
        with self.path.open("ab") as out:
            out.write(b"".join(records))
        lines = "".join(f'{{"step": {step}, "loss": {step / 7}}}\n' for step in range(begin, self.step))
        with (self.root / "side" / "metrics.jsonl").open("a") as text:
            text.write(lines)
        self.expected += len(records)

    def rotate(self) -> None:
        """The text log is moved away and begun anew; the copy before that vanishes."""
        log = self.root / "side" / "metrics.jsonl"
        log.replace(log.with_name("metrics.jsonl.1"))
        log.write_text("")

    def poll(self, seconds: float) -> None:
        """Advance the clock, then look until everything is read."""
        self.now += seconds
        for _ in range(100):
            for delivery in self.follower.poll():
                if delivery.source.run:
                    self.store.apply(delivery)
            if self.follower.caught_up and self.follower.next_due() > self.now:
                return

    def measure(self) -> Sample:
        """The current memory, without the interpreter's free lists, and open files below the folder."""
        gc.collect()  # empties the free lists as well
        traced = 0
        if tracemalloc.is_tracing():  # what threads of other tests allocate meanwhile is none of theirs
            held = tracemalloc.take_snapshot().filter_traces(ALLOCATING)
            traced = sum(trace.size for trace in held.traces)
        run = self.store.runs.get("run")
        sample = Sample(run.points if run else 0, traced, self.store.nbytes, open_below(self.root))
        self.samples.append(sample)
        return sample
