"""The samples pane of `snapshot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.panes.context_panes.samples_pane import SamplesPane, samples_pane, step_at
from rltui.panes.render.lines.samples_lines import ROWS, Summaries
from rltui.run_context.samples.run_catalogs import RunCatalogs, Runs
from rltui.run_context.samples.run_samples import RunSamples
from rltui.run_context.samples.sample_catalog import Catalog
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
    for view, catalog in zip(views, _catalogs(views, logdirs, runs, _READ_SECONDS), strict=True):
        if catalog is None:
            found.append((samples_pane(RunSamples(), None, framework=view.framework), {}))
            continue
        samples = catalog.snapshot()
        pane = samples_pane(samples, step_at(samples, None, at_step))
        rows = pane.rows[:ROWS]
        found.append((pane, {head.key: summary(sample) for head, sample in catalog.load_many(rows)}))
    return found


def newest_samples(views: Sequence[RunView], logdirs: Sequence[str], runs: Runs) -> list[RunSamples | None]:
    """The newest samples of each run that can be read in short time; None for a run without samples."""
    found = _catalogs(views, logdirs, runs, _SHORT_READ_SECONDS)
    return [None if catalog is None else catalog.snapshot() for catalog in found]


def _catalogs(
    views: Sequence[RunView], logdirs: Sequence[str], runs: Runs, seconds: float
) -> Iterator[Catalog | None]:
    """The catalog of each run, after reading for some seconds; None for a run without samples."""
    made = RunCatalogs(logdirs)
    owners = made.search(runs)
    for view in views:
        catalog = made.catalogs.get(owners.get(view.name, ""))
        if catalog is not None:
            catalog.refresh(seconds)
        yield catalog
