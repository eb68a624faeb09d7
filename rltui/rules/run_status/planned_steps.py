"""The planned number of steps of a run, from the hyperparameters in its log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from weakref import WeakKeyDictionary

from rltui.logs.batch import Text
from rltui.rules.metric_roles import metric_roles
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.store.run import Run

# The longest published trainings took 1e11 steps (Agent57: 9e10 frames); more means "until stopped".
ENDLESS = 10**12

_known: WeakKeyDictionary[Run, tuple[tuple[int, ...], tuple[int, ...]]] = WeakKeyDictionary()


def planned(run: Run, advance: float = 0.0) -> int | None:
    """The planned number of steps; None where the log gives none, or the run has passed it.

    A number recorded as such comes first. A setting that the steps have passed by more than `advance`, those
    from one point to the next, must mean something else, as does any setting where steps are episodes.
    """
    if run.total_steps:
        return int(run.total_steps)
    if not run.hparams_texts or run.last_step is None or run.counts_episodes:
        return None
    texts = [text for log in run.hparams_texts.values() for text in log.values()]
    mark = tuple(map(id, texts))
    found = _known.get(run)
    if found is None or found[0] != mark:
        found = _known[run] = (mark, tuple(_totals(texts)))
    return next((total for total in found[1] if total >= run.last_step - advance), None)


def _totals(texts: Iterable[Text]) -> Iterable[int]:
    """Candidates, those of the latest attempt first, in the order of the table."""
    for text in reversed(list(texts)):
        yield from candidates(logged_hparams([text]).entries)


@cache
def plan_pattern() -> re.Pattern[bytes]:
    """Matches in a file that may give a planned number of steps, so that other files need no parsing."""
    names = "|".join(metric_roles().planned_steps)
    return re.compile(rf"(?:{names})[\"']?\s*[:=]\s*[\"']?[1-9]".encode())


def candidates(hparams: Mapping[str, HParam]) -> Iterable[int]:
    """Minus one, zero and numbers that no run reaches are left out: something else ends such a run."""
    for wanted in metric_roles().planned_steps:
        for key, entry in hparams.items():
            value = entry.value
            named = key.replace("/", ".").rpartition(".")[2] == wanted
            if (
                named
                and isinstance(value, int | float)
                and not isinstance(value, bool)
                and 0 < value < ENDLESS
            ):
                yield int(value)
