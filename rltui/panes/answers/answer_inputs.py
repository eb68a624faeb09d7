"""Data from files beside the logs that answers use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.run_context.hparams.hparams import NO_HPARAMS, HParams
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans

if TYPE_CHECKING:
    from rltui.run_context.samples.run_samples import RunSamples


class AnswerInputs(NamedTuple):
    """Hyperparameters, samples and spans from files beside the logs of a run; empty if not read."""

    hparams: HParams = NO_HPARAMS
    samples: RunSamples | None = None
    spans: LoggedSpans = NO_SPANS


NO_INPUTS = AnswerInputs()


def used_by(pane: str) -> tuple[str, ...]:
    """Which of them the answer of a pane uses: `hparams`, `samples`, `spans`."""
    known = glossary().pane(pane)
    return known.uses if known is not None else ()
