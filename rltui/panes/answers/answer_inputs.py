"""Data from files beside the logs that answers use, and which panes use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
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
# Panes whose answers use them: the files are not read for other panes.
USE_HPARAMS = frozenset({"perf", "rollout"})
USE_SPANS = frozenset({"timing"})
USE_SAMPLES = frozenset({"reward", "lengths"})
