"""Logs that change while they are followed, and the sum of a follower's deliveries."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rltui.common.problem import Problem
from rltui.logs.delivery import Delivery, Source
from rltui.logs.file_systems import FileSystem
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import read_all
from rltui.logs.local_file import LocalFile
from tests.support.logs import tfwriter

LOCAL = FileSystem("ext4", remote=False, events=True, attributes=True)
NFS = FileSystem("nfs", remote=True, events=False, attributes=False)
Point = tuple[str, int, float]


def line(step: int, **values: float) -> str:
    """A line of a JSONL log."""
    return json.dumps({"step": step, **values}) + "\n"


def lines(steps: Iterable[int], tag: str = "loss", scale: float = 0.5) -> str:
    """A line for each step, value `step * scale + 0.25`."""
    return "".join(line(step, **{tag: step * scale + 0.25}) for step in steps)


def points(steps: Iterable[int], tag: str = "loss", scale: float = 0.5) -> list[Point]:
    """The points of `lines`."""
    return [(tag, step, step * scale + 0.25) for step in steps]


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, creating its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def write_rows(path: Path, rows: Iterable[object]) -> Path:
    """Write a file of JSON lines, creating its folders."""
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def append(path: Path, text: str | bytes) -> None:
    """Write on."""
    with path.open("ab") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def event_bytes(steps: Iterable[int], tag: str = "loss", scale: float = 0.5, head: bool = True) -> bytes:
    """An event file, or its continuation, with the points of `lines`."""
    body = b"".join(tfwriter.event(step, tfwriter.simple(tag, step * scale + 0.25)) for step in steps)
    return (tfwriter.version() if head else b"") + body


class Delivered:
    """Accumulates deliveries as a store does, with current and earlier points by source."""

    def __init__(self) -> None:
        self.points: dict[str, list[Point]] = defaultdict(list)  # by path of the source
        self.previews: dict[str, list[Point]] = defaultdict(list)
        self.sources: dict[str, Source] = {}
        self.problems: dict[tuple[str, str, int | None], Problem] = {}
        self.reported_problems: list[Problem] = []
        self.kinds: dict[str, list[str]] = defaultdict(list)
        self.deliveries: list[Delivery] = []

    def take(self, deliveries: Iterable[Delivery]) -> list[Delivery]:
        """Take in deliveries; returns them."""
        taken = list(deliveries)
        for delivery in taken:
            self._take(delivery)
        return taken

    def _take(self, delivery: Delivery) -> None:
        path, batch = delivery.source.path, delivery.batch
        self.deliveries.append(delivery)
        self.sources[path] = delivery.source
        self.kinds[path].append(delivery.kind)
        said = [
            (batch.tags[tag], step, value)
            for tag, step, value in zip(
                batch.tag.tolist(), batch.step.tolist(), batch.value.tolist(), strict=True
            )
        ]
        if delivery.kind == "newest":
            self.previews[path] += said
        else:
            if delivery.kind == "rewritten":
                self.points[path].clear()
            self.points[path] += said
        for problem in batch.problems:
            self.reported_problems.append(problem)
            if problem.healed:
                self.problems.pop(problem.key, None)
            else:
                self.problems[problem.key] = problem

    @property
    def codes(self) -> list[str]:
        """The codes of the current problems."""
        return sorted(problem.code for problem in self.problems.values())

    def runs(self) -> dict[str, list[str]]:
        """Names of the runs, each with the paths of its sources."""
        runs: dict[str, list[str]] = defaultdict(list)
        for path, source in sorted(self.sources.items()):
            if source.run:
                runs[source.run].append(path)
        return dict(runs)


def delivered_once(logdirs: Sequence[str | Path], **options: Any) -> Delivered:
    """What reading the logs below these folders once delivers."""
    delivered = Delivered()
    delivered.take(read_all(logdirs, **options))
    return delivered


class Live:
    """A follower with a manual clock, and its deliveries."""

    def __init__(self, *logdirs: Path, system: FileSystem = LOCAL, wall: float = 0.0, **options: Any) -> None:
        self.now = 1000.0
        self.follower = Follower(logdirs, clock=lambda: self.now, wall=lambda: wall, system=system, **options)
        self.delivered = Delivered()

    def poll(self) -> list[Delivery]:
        """Look until there is nothing to read."""
        taken: list[Delivery] = []
        for _ in range(10_000):
            taken += self.delivered.take(self.follower.poll())
            if self.follower.next_due() > 0:
                return taken
        raise AssertionError("the follower never comes to rest")

    def after(self, seconds: float) -> list[Delivery]:
        """Look whenever something is due during the next seconds."""
        taken: list[Delivery] = []
        end = self.now + seconds
        while True:
            taken += self.poll()
            wait = self.follower.next_due()
            if self.now + wait > end:
                self.now = end
                return taken
            self.now += wait

    def opened(self) -> int:
        """Files opened so far."""
        return self.follower.status().opened


def shown(path: Path) -> LocalFile:
    """A file as formats see it."""
    return LocalFile(str(path), path.name)
