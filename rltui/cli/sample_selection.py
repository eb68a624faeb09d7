"""Which samples a command prints: those of a step and a group, sorted and filtered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.cli.output import emit, note, to_json
from rltui.common.text import clean, in_markdown
from rltui.logs.sample_layouts.sample import RunSamples, Sample, SampleHead, nearest_step
from rltui.panes.render.lines.samples_lines import evaluation_lines, evaluation_record, evaluations_markdown
from rltui.panes.without_metrics.samples_pane import samples_pane
from rltui.run_context.samples.sample_query import Filter, SortKey, sorted_heads
from rltui.run_context.samples.sample_reader import Catalog

_WIDTH = 120  # cells of the table of evaluations


def chosen_samples(
    run: str,
    catalog: Catalog,
    wanted: Filter,
    *,
    step: str | None = None,
    group: str | None = None,
    sort: SortKey | None = None,
    reverse: bool = False,
) -> Iterator[Sample]:
    """The samples in their order, each read when it is asked for. step: a number or `last`.

    Without `sort` the newest step comes first, its samples as they were written; `reverse` turns all round.
    """
    heads = sorted(_chosen(run, catalog, step, group), key=lambda head: (-head.step, head.file, head.offset))
    ordered = sorted_heads(heads, sort, reverse=reverse)
    for sample in _samples(catalog, (head for head in ordered if wanted.keeps_head(head))):
        if wanted.keeps_text(sample):
            yield sample


def print_evaluations(run: str, catalog: Catalog, form: str) -> int:
    """Print pass rates by data set and step; how many there are."""
    found = catalog.snapshot()
    if form == "jsonl":
        for one in found.evaluations:
            emit(to_json({"run": run, **evaluation_record(one)}))
    elif found.evaluations:
        pane = samples_pane(RunSamples(evaluations=found.evaluations), None)
        if form == "markdown":
            emit(f"### {in_markdown(clean(run))}\n\n{evaluations_markdown(pane)}")
        else:
            lines = evaluation_lines(pane, _WIDTH)
            emit("\n".join([clean(run), *(each.text.rstrip() for each in lines)]))
    return len(found.evaluations)


def _chosen(run: str, catalog: Catalog, step: str | None, group: str | None) -> list[SampleHead]:
    """The heads of the step and the group that were asked for."""
    heads: Sequence[SampleHead] = catalog.heads
    if step is not None and heads:
        steps = sorted({head.step for head in heads})
        near = steps[-1] if step == "last" else nearest_step(steps, int(step))
        if near is not None and step != "last" and near != int(step):
            note(f"{run}: no samples at step {step}; the nearest are at step {near}")
        heads = [head for head in heads if head.step == near]
    return [head for head in heads if group is None or head.group == group]


def _samples(catalog: Catalog, heads: Iterator[SampleHead]) -> Iterator[Sample]:
    for head in heads:
        try:
            yield catalog.load(head)
        except (OSError, ValueError, IndexError) as error:
            note(f"{catalog.files[head.file].shown}: changed while it was read ({clean(str(error), 80)})")
