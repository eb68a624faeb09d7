"""What files beside the logs say to the answer of a pane, and which panes ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.run_context.hparams.hparams import NONE, HParams
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans

if TYPE_CHECKING:
    from rltui.logs.sample_layouts.sample import RunSamples


class Beside(NamedTuple):
    """What files beside the logs of a run say. Nothing is known of what was not read."""

    hparams: HParams = NONE
    samples: RunSamples | None = None
    spans: LoggedSpans = NO_SPANS


NOTHING = Beside()
# Panes whose answer uses settings or samples: of others nobody reads the files.
USE_HPARAMS = frozenset({"perf", "rollout"})
USE_SPANS = frozenset({"timing"})
USE_SAMPLES = frozenset({"reward", "lengths"})
