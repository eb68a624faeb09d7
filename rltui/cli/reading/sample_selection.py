"""Selecting samples by step, group and filter, in order, for commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.cli.output.printing import emit, note, to_json
from rltui.common.display_text import clean
from rltui.common.markdown_text import in_markdown
from rltui.logs.sample_layouts.sample import Sample, SampleHead, nearest_step
from rltui.panes.context_panes.samples_pane import samples_pane
from rltui.panes.render.lines.samples_lines import evaluation_lines, evaluation_record, evaluations_markdown
from rltui.run_context.samples.run_samples import RunSamples
from rltui.run_context.samples.sample_index import SampleIndex
from rltui.run_context.samples.sample_query import Filter, SortKey, sorted_heads

_WIDTH = 120  # cells of the table of evaluations


def chosen_samples(
    run: str,
    index: SampleIndex,
    wanted: Filter,
    *,
    step: str | None = None,
    group: str | None = None,
    sort: SortKey | None = None,
    reverse: bool = False,
) -> Iterator[Sample]:
    """Yield the selected samples in order, reading each on demand. step: a number or `last`.

    Without `sort`, the newest step comes first, with its samples in the order of the files. reverse: reverse
    the order.
    """
    heads = sorted(_chosen(run, index, step, group), key=lambda head: (-head.step, head.file, head.offset))
    ordered = sorted_heads(heads, sort, reverse=reverse)
    for sample in _samples(index, (head for head in ordered if wanted.keeps_head(head))):
        if wanted.keeps_text(sample):
            yield sample


def print_evaluations(run: str, index: SampleIndex, form: str) -> int:
    """Print pass rates by data set and step. Returns their number."""
    evaluations = index.snapshot().evaluations
    if form == "jsonl":
        for evaluation in evaluations:
            emit(to_json({"run": run, **evaluation_record(evaluation)}))
    elif evaluations:
        pane = samples_pane(RunSamples(evaluations=evaluations), None)
        if form == "markdown":
            emit(f"### {in_markdown(clean(run))}\n\n{evaluations_markdown(pane)}")
        else:
            lines = evaluation_lines(pane, _WIDTH)
            emit("\n".join([clean(run), *(line.text.rstrip() for line in lines)]))
    return len(evaluations)


def _chosen(run: str, index: SampleIndex, step: str | None, group: str | None) -> list[SampleHead]:
    """The heads of samples of a step and a group."""
    heads: Sequence[SampleHead] = index.heads
    if step is not None and heads:
        steps = sorted({head.step for head in heads})
        nearest = steps[-1] if step == "last" else nearest_step(steps, int(step))
        if nearest is not None and step != "last" and nearest != int(step):
            note(f"{run}: no samples at step {step}; the nearest are at step {nearest}")
        heads = [head for head in heads if head.step == nearest]
    return [head for head in heads if group is None or head.group == group]


def _samples(index: SampleIndex, heads: Iterator[SampleHead]) -> Iterator[Sample]:
    for head in heads:
        try:
            yield index.load(head)
        except (OSError, ValueError, IndexError) as error:
            note(f"{index.files[head.file].shown}: changed while it was read ({clean(str(error), 80)})")
