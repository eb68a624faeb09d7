"""The samples pane of `snapshot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.panes.context_panes.samples_pane import SamplesPane, samples_pane, step_at
from rltui.panes.render.lines.samples_lines import ROWS, Summaries
from rltui.run_context.samples.indexes_by_run import Runs, SampleIndexes
from rltui.run_context.samples.run_samples import RunSamples
from rltui.run_context.samples.sample_index import SampleIndex
from rltui.run_context.samples.sample_text import summary
from rltui.session.run_view import RunView

_READ_SECONDS = 3600.0  # practically unlimited
_SHORT_READ_SECONDS = 2.0  # for the distribution in an answer

ReadSamples = tuple[SamplesPane, Summaries]


def read_samples(
    views: Sequence[RunView], logdirs: Sequence[str], runs: Runs, at_step: int | None
) -> list[ReadSamples]:
    """The newest samples of each run, or those of the newest step up to `at_step`.

    runs: all runs, so that samples of other runs are not assigned to these.
    """
    found: list[ReadSamples] = []
    for view, index in zip(views, _indexes(views, logdirs, runs, _READ_SECONDS), strict=True):
        if index is None:
            found.append((samples_pane(RunSamples(), None, framework=view.framework), {}))
            continue
        samples = index.snapshot()
        pane = samples_pane(samples, step_at(samples, None, at_step))
        rows = pane.rows[:ROWS]
        found.append((pane, {head.key: summary(sample) for head, sample in index.load_many(rows)}))
    return found


def newest_samples(views: Sequence[RunView], logdirs: Sequence[str], runs: Runs) -> list[RunSamples | None]:
    """The newest samples of each run that can be read in short time; None for a run without samples."""
    found = _indexes(views, logdirs, runs, _SHORT_READ_SECONDS)
    return [None if index is None else index.snapshot() for index in found]


def _indexes(
    views: Sequence[RunView], logdirs: Sequence[str], runs: Runs, seconds: float
) -> Iterator[SampleIndex | None]:
    """The index of each run, after reading for some seconds; None for a run without samples."""
    made = SampleIndexes(logdirs)
    owners = made.search(runs)
    for view in views:
        index = made.indexes.get(owners.get(view.name, ""))
        if index is not None:
            index.refresh(seconds)
        yield index
