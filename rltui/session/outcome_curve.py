"""The outcome of a run as a short curve, for the comparison with sister runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rltui.common.named_tuple import NamedTuple
from rltui.rules.metric_roles import metric_roles

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

MAX_LEVELS = 32  # of a curve


class OutcomeCurve(NamedTuple):
    """The outcome of a run as a short curve with rising steps; `hparams` is empty where none are logged."""

    run: str
    metric: str  # canonical id
    tag: str
    framework: str
    hparams: str  # digest of all settings but for the seed and names
    names: str  # digest of the settings' names
    steps: tuple[float, ...]
    levels: tuple[float, ...]


def outcome_curve(view: RunView, *, hparams: bool = True) -> OutcomeCurve | None:
    """The curve of the first outcome that a run has; None without one, or with too few points of it.

    hparams: whether the settings in its log are read, which takes a millisecond.
    """
    canonical = view.tag_index.canonical
    for metric in metric_roles().compared_outcomes:
        for tag in canonical.get(metric, ()):
            series = view.run.series[tag]
            if series.count < 4 or series.first_step is None or series.last_step is None:
                continue
            if view.names.name(tag).held_out and not metric.startswith("validation."):
                continue
            columns = series.columns(series.first_step, series.last_step, min(MAX_LEVELS, series.count))
            known = np.isfinite(columns.mean)
            middles = (columns.edges[:-1] + columns.edges[1:])[known] / 2
            if np.count_nonzero(known) < 3:
                continue
            digests = _digests(view) if hparams else ("", "")
            return OutcomeCurve(
                view.name, metric, tag, view.framework, *digests,
                tuple(map(float, middles)), tuple(map(float, columns.mean[known])),
            )  # fmt: skip
    return None


def _digests(view: RunView) -> tuple[str, str]:
    """Digests of the settings that the log holds, and of their names; empty without any."""
    # Cached verdicts, which hold curves, do not need hyperparameters.
    from rltui.run_context.hparams.hparams import hparams_digest, keys_digest
    from rltui.run_context.hparams.logged_text import logged_hparams

    entries = logged_hparams(view.run.texts.values(), view.run.hparams).entries
    return hparams_digest(entries), keys_digest(entries)
