"""How many steps a run was meant to take, by the settings that its log records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from rltui.hparams.logged_text import logged_hparams

# Settings that count what such writers use as their step: updates of Transformers and TRL, environment steps
# of CleanRL, updates of veRL, iterations of rsl_rl. Minus one and zero: something else ends the run.
KEYS = ("max_steps", "total_timesteps", "total_training_steps", "max_iterations")

_known: WeakKeyDictionary[Any, tuple[tuple[int, ...], tuple[int, ...]]] = WeakKeyDictionary()


def planned(run: Any) -> int | None:
    """The planned number of steps; None where the log does not say, or has gone beyond what it says.

    What the log states outright counts first; a setting that the steps have passed counts something else.
    """
    if run.total_steps:
        return int(run.total_steps)
    settings: Mapping[str, Mapping[str, Any]] | None = getattr(run, "hparams_texts", None)
    if not settings or run.last_step is None:
        return None
    texts = [text for log in settings.values() for text in log.values()]
    mark = tuple(map(id, texts))
    found = _known.get(run)
    if found is None or found[0] != mark:
        found = _known[run] = (mark, tuple(_totals(texts)))
    return next((total for total in found[1] if total >= run.last_step), None)


def _totals(texts: Iterable[Any]) -> Iterable[int]:
    """Candidates, the latest attempt's first, in the order of KEYS."""
    for text in reversed(list(texts)):
        entries = logged_hparams([text]).entries
        for wanted in KEYS:
            for key, entry in entries.items():
                value = entry.value
                named = key.replace("/", ".").rpartition(".")[2] == wanted
                if named and isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                    yield int(value)
