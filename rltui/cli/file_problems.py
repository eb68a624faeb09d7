"""Problems with files on standard error: all at the end, or each once while files are followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rltui.cli.output import note
from rltui.common.problem import Problem
from rltui.common.text import clean

if TYPE_CHECKING:
    from rltui.logs.delivery import Delivery  # brings numpy, which `explain` does without


def note_problems(problems: Iterable[Problem]) -> None:
    """One line on standard error for each problem with files that is more than a remark."""
    for problem in problems:
        if problem.level != "info":
            note(f"{problem.path}: {problem.message}")


class FileProblemReporter:
    """Passes deliveries on and says their problems, `info` ones aside, through `say`.

    A command that prints for ever has no end at which to list them.
    """

    def __init__(self, say: Callable[[str], object] = note) -> None:
        self._say = say
        self._open: dict[object, Problem] = {}
        self._missing: set[str] = set()

    def waits_for(self, logdirs: Sequence[str]) -> None:
        """Say once which LOGDIRs are not there yet."""
        for logdir in logdirs:
            if logdir not in self._missing:
                self._missing.add(logdir)
                self._say(f"{clean(logdir)}: not there yet; waiting for it")

    def passing(self, deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
        """The same deliveries, their problems said."""
        for delivery in deliveries:
            for problem in delivery.batch.problems:
                if problem.level != "info":
                    self._take(problem)
            yield delivery

    def _take(self, problem: Problem) -> None:
        before = self._open.pop(problem.key, None)
        if not problem.healed:
            self._open[problem.key] = problem
            if before is None:
                self._say(f"{problem.path}: {problem.message}")
        elif before is not None:
            self._say(f"{problem.path}: over: {before.message}")
