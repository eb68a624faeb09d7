"""What is known of a run beside its points: settings, samples and spans, as far as they have been read."""

from __future__ import annotations

from dataclasses import dataclass, field

from rltui.hparams.hparams import NONE, HParams
from rltui.logs.samples.model import RunSamples
from rltui.spans.span_files import StepSpans


@dataclass(frozen=True, slots=True)
class Beside:
    """What files beside the logs of a run say. Nothing is known of what was not read."""

    hparams: HParams = NONE
    samples: RunSamples | None = None
    spans: StepSpans = field(default_factory=dict)


NOTHING = Beside()
# Panes whose answer uses settings or samples: of others nobody reads the files.
USE_HPARAMS = frozenset({"perf", "rollout"})
USE_SPANS = frozenset({"timing"})
USE_SAMPLES = frozenset({"reward", "lengths"})
