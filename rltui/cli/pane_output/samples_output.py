"""The samples pane of `snapshot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.logs.sample_layouts.sample import RunSamples
from rltui.panes.render.lines.samples_lines import ROWS, Summaries
from rltui.panes.without_metrics.samples_pane import SamplesPane, samples_pane, step_at
from rltui.run_context.samples.run_samples import RunCatalogs, Runs
from rltui.run_context.samples.sample_reader import Catalog
from rltui.run_context.samples.sample_text import summary
from rltui.session.run_view import RunView

_ALL = 3600.0  # seconds: a command reads everything
_SHORT = 2.0  # seconds of reading for the picture of a distribution

ReadSamples = tuple[SamplesPane, Summaries]


def read_samples(
    views: Sequence[RunView], logdirs: Sequence[str], runs: Runs, at_step: int | None
) -> list[ReadSamples]:
    """The newest samples of each run, or those of the newest step up to `at_step`.

    runs: all that there are, with those that were not asked for, whose samples are nobody else's.
    """
    found: list[ReadSamples] = []
    for view, catalog in zip(views, _catalogs(views, logdirs, runs, _ALL), strict=True):
        if catalog is None:
            found.append((samples_pane(RunSamples(), None, framework=view.framework), {}))
            continue
        samples = catalog.snapshot()
        pane = samples_pane(samples, step_at(samples, None, at_step))
        rows = pane.rows[:ROWS]
        found.append((pane, {head.key: summary(sample) for head, sample in catalog.load_many(rows)}))
    return found


def newest_samples(views: Sequence[RunView], logdirs: Sequence[str], runs: Runs) -> list[RunSamples | None]:
    """The samples of each run that can be read in short time, the newest first; None where it has none."""
    found = _catalogs(views, logdirs, runs, _SHORT)
    return [None if catalog is None else catalog.snapshot() for catalog in found]


def _catalogs(
    views: Sequence[RunView], logdirs: Sequence[str], runs: Runs, seconds: float
) -> Iterator[Catalog | None]:
    """The catalog of each run, read for so many seconds; None where it has no samples."""
    made = RunCatalogs(logdirs)
    owners = made.search(runs)
    for view in views:
        catalog = made.catalogs.get(owners.get(view.name, ""))
        if catalog is not None:
            catalog.refresh(seconds)
        yield catalog
