"""`rltui samples`: rollouts as text."""

from __future__ import annotations

from itertools import islice

import click

from rltui.cli.options.arguments import LOGDIRS, RUN, readable_logdirs
from rltui.cli.output.printing import emit, fail, note, to_json
from rltui.cli.reading.loading import run_filter
from rltui.cli.reading.sample_selection import chosen_samples, print_evaluations
from rltui.common.display_text import clean
from rltui.logs.sample_layouts.sample import Sample
from rltui.run_context.samples.indexes_by_run import sample_indexes_of
from rltui.run_context.samples.sample_query import SORT_KEYS, FilterError, SortKey, parse_filter
from rltui.run_context.samples.sample_text import as_json, as_markdown, as_text

_READ_SECONDS = 3600.0  # practically unlimited


@click.command(name="samples")
@LOGDIRS
@RUN
@click.option("--step", metavar="N|last", help="Only samples of this step; the nearest that has samples.")
@click.option(
    "--sort",
    type=click.Choice(SORT_KEYS),
    help="Order, the smallest first; by default the newest step first.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order: the largest or the oldest first.")
@click.option(
    "--filter",
    "expression",
    metavar="EXPR",
    default="",
    help="Such as 'reward<0.5 length>1000 stop=length /regex/ \"words\"'; - before a term negates it.",
)
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="0 prints all.")
@click.option("--group", metavar="ID", help="Only samples of this group (prompt).")
@click.option(
    "--evaluations", is_flag=True, help="In place of samples: pass rates of each data set over steps."
)
@click.option("--format", "form", type=click.Choice(("text", "jsonl", "markdown")), default="text")
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    step: str | None,
    sort: SortKey | None,
    reverse: bool,
    expression: str,
    limit: int,
    group: str | None,
    evaluations: bool,
    form: str,
) -> None:
    """Print rollouts: prompt, response, reward and what else was written of them.

    \b
    Examples:
      rltui samples runs/grpo --step last --sort reward
      rltui samples runs/grpo --filter 'stop=length' --limit 3
      rltui samples runs/ --format jsonl --limit 0 | jq .reward
      rltui samples runs/grpo --evaluations
    """
    logdirs, _ = readable_logdirs(logdirs)
    if step not in (None, "last") and not step.isdigit():
        fail(f"--step needs a number or 'last', not {clean(step)!r}")
    try:
        wanted = parse_filter(expression)
    except FilterError as error:
        fail(f"--filter: {error}")
    runs = run_filter(logdirs, run_glob)
    printed = found = 0
    for run, index in sample_indexes_of(logdirs).items():
        if limit and printed >= limit:
            break
        if not runs.takes(run):
            continue
        index.refresh(_READ_SECONDS)
        for problem in index.problems.values():
            note(problem.text)
        if index.left_out:
            note(f"{run}: {index.left_out:,} samples more than are held; they are left out")
        found += len(index.heads)
        if evaluations:
            printed += print_evaluations(run, index, form)
            continue
        samples = chosen_samples(run, index, wanted, step=step, group=group, sort=sort, reverse=reverse)
        for sample in islice(samples, limit - printed if limit else None):
            _print(run, sample, form, first=not printed)
            printed += 1
    if not found:
        where = ", ".join(map(clean, logdirs))
        of = "" if run_glob is None else f" of a run {clean(run_glob)!r}"
        fail(f"{where}: no samples found{of}; most trainers write them only when they are told to")
    if not printed:
        note("no samples of an evaluation" if evaluations else "no sample matches")


def _print(run: str, sample: Sample, form: str, *, first: bool) -> None:
    if form == "jsonl":
        emit(to_json(as_json(run, sample)))
        return
    title = f"{clean(run)} · step {sample.step}"
    if form == "markdown":
        emit(("" if first else "\n") + f"### {title}\n\n" + as_markdown(sample))
    else:
        emit(("" if first else "\n") + f"━━ {title} ━━\n" + as_text(sample))
