"""Reporting problems of files on standard error, at the end or while files are followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.cli.output.printing import note
from rltui.common.display_text import clean
from rltui.common.problem import Problem

if TYPE_CHECKING:
    from rltui.logs.delivery import Delivery  # imports numpy, which `explain` does not need


def note_problems(problems: Iterable[Problem]) -> None:
    """Print each problem above level `info` on standard error."""
    for problem in problems:
        if problem.level != "info":
            note(problem.text)


class FileProblemReporter:
    """Reports problems in deliveries above level `info` immediately, for commands that run until a signal."""

    def __init__(self, say: Callable[[str], object] = note) -> None:
        self._say = say
        self._open: dict[object, Problem] = {}
        self._missing: set[str] = set()

    def report_missing(self, logdirs: Sequence[str]) -> None:
        """Report once which LOGDIRs do not exist yet."""
        for logdir in logdirs:
            if logdir not in self._missing:
                self._missing.add(logdir)
                self._say(f"{clean(logdir)}: not there yet; waiting for it")

    def passing(self, deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
        """Yield the deliveries after reporting their problems."""
        for delivery in deliveries:
            for problem in delivery.batch.problems:
                if problem.level != "info":
                    self._report(problem)
            yield delivery

    def _report(self, problem: Problem) -> None:
        before = self._open.pop(problem.key, None)
        if not problem.healed:
            self._open[problem.key] = problem
            if before is None:
                self._say(problem.text)
        elif before is not None:
            self._say(replace(before, message=f"over: {before.message}").text)
