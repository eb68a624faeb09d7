"""How many steps a run was meant to take, by the hyperparameters that its log records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from rltui.logs.batch import Text
from rltui.rules.special_metrics import special_metrics
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.store.run import Run

# The longest published trainings took 1e11 steps (Agent57: 9e10 frames); more means "until it is stopped".
ENDLESS = 10**12

_known: WeakKeyDictionary[Run, tuple[tuple[int, ...], tuple[int, ...]]] = WeakKeyDictionary()


def planned(run: Run) -> int | None:
    """The planned number of steps; None where the log does not say, or has gone beyond what it says.

    What the log states outright counts first; a setting that the steps have passed counts something else.
    """
    if run.total_steps:
        return int(run.total_steps)
    if not run.hparams_texts or run.last_step is None:
        return None
    texts = [text for log in run.hparams_texts.values() for text in log.values()]
    mark = tuple(map(id, texts))
    found = _known.get(run)
    if found is None or found[0] != mark:
        found = _known[run] = (mark, tuple(_totals(texts)))
    return next((total for total in found[1] if total >= run.last_step), None)


def _totals(texts: Iterable[Text]) -> Iterable[int]:
    """Candidates, the latest attempt's first, in the order of the table.

    Minus one, zero and numbers that no run reaches are none: something else ends the run.
    """
    for text in reversed(list(texts)):
        yield from _candidates(logged_hparams([text]).entries)


def planned_by(settings: Mapping[str, HParam], last: int | None) -> int | None:
    """The planned number of steps by settings of files beside the log; None as for `planned`."""
    return next((total for total in _candidates(settings) if last is not None and total >= last), None)


def _candidates(settings: Mapping[str, HParam]) -> Iterable[int]:
    for wanted in special_metrics().planned_steps:
        for key, entry in settings.items():
            value = entry.value
            named = key.replace("/", ".").rpartition(".")[2] == wanted
            if (
                named
                and isinstance(value, int | float)
                and not isinstance(value, bool)
                and 0 < value < ENDLESS
            ):
                yield int(value)
