"""`rltui glossary`: the meanings of all metrics, terms and problems as one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from rltui.cli.exit_codes import FOUND
from rltui.cli.options.arguments import JSON_LINES, FrameworkArgument
from rltui.cli.options.completions import complete_pane
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import emit, emit_json, fail
from rltui.draw.cells import wrap
from rltui.metrics.definitions import Term, TrainingProblem, definitions
from rltui.metrics.frameworks.framework_files import frameworks
from rltui.metrics.glossary_entry import GlossaryEntry, labelled
from rltui.metrics.glossary_files import Pane, glossary, pane_id
from rltui.panes.explanations import explained_entry
from rltui.schema.metric import DIRECTIONS, Metric
from rltui.schema.units import units

WIDTH = 80  # cells
INDENT = 2  # cells, of the text below the title of an entry


@click.command(name="glossary")
@click.option("--pane", metavar="NAME", shell_complete=complete_pane, help="Only one pane.")
@click.option(
    "--framework",
    metavar="NAME",
    type=FrameworkArgument(),
    help="Only what this framework writes, with its own names.",
)
@click.option("--terms", is_flag=True, help="Terms such as advantage or clipping instead of metrics.")
@click.option(
    "--problems",
    is_flag=True,
    help="Problems: what they mean, what to look at, what to do, instead of metrics.",
)
@JSON_LINES
def command(pane: str | None, framework: str | None, terms: bool, problems: bool, as_json: bool) -> None:
    """Print what every metric means, pane by pane, what to look at first on top; then problems and terms.

    \b
    Examples:
      rltui glossary | less
      rltui glossary --pane policy
      rltui glossary --framework trl-grpo
      rltui glossary --problems
      rltui glossary --json | jq -r '[.canonical, .title] | @tsv'
    """
    if terms or problems:
        if pane is not None or framework is not None:
            raise click.UsageError("--terms and --problems go with neither --pane nor --framework")
        _print_definitions(terms, problems, as_json)
        return
    book = glossary()
    note_problems(book.problems)
    pane = (pane_id(pane) or pane) if pane is not None else None
    pane = None if pane == "all" else pane
    if pane is not None and book.pane(pane) is None:
        fail(f"no pane named {pane!r}; panes: {', '.join(known.id for known in book.panes)}", FOUND)
    written = _written(framework) if framework is not None else None
    panes = [each for each in book.panes if pane in (None, each.id)]
    shown = [
        (each, [metric for metric in book.of_pane(each.id) if written is None or metric.id in written])
        for each in panes
    ]
    if as_json:
        for _, metrics in shown:
            for metric in metrics:
                emit_json(explained_entry(GlossaryEntry(metric.id, metric)).as_json())
        return
    blocks = [_pane(each, metrics, written or {}) for each, metrics in shown if metrics]
    emit("\n\n".join(blocks))
    if pane is None and framework is None:
        emit()
        _print_definitions(terms=True, problems=True, as_json=False)


def _print_definitions(terms: bool, problems: bool, as_json: bool) -> None:
    """Print the problems, the terms, or both."""
    book = definitions()
    chosen: list[tuple[str, Sequence[Term | TrainingProblem]]] = []
    chosen += [("Problems", book.problem)] if problems else []
    chosen += [("Terms", book.term)] if terms else []
    if as_json:
        for _, entries in chosen:
            for entry in entries:
                emit_json(entry.as_json())
        return
    blocks = []
    for heading, entries in chosen:
        lines = [heading, "=" * len(heading)]
        for entry in entries:
            lines += ["", entry.title]
            for label, text in entry.parts():
                lines += [" " * INDENT + part for part in labelled(label, text, WIDTH - INDENT)]
        blocks.append("\n".join(lines))
    emit("\n\n".join(blocks))


def _written(label: str) -> Mapping[str, Sequence[str]]:
    """Canonical id -> the names of it in a framework or variant."""
    framework = frameworks().get(label)
    names: dict[str, list[str]] = {}
    if framework is not None:
        own = framework.variant.names if framework.variant else {}
        for name, entry in {**framework.names, **own}.items():
            names.setdefault(entry.canonical, []).append(name)
    return names


def _pane(pane: Pane, metrics: Sequence[Metric], written: Mapping[str, Sequence[str]]) -> str:
    lines = [pane.title.upper(), "=" * len(pane.title), "", *wrap(pane.intro, WIDTH, cut_words=False)]
    for metric in metrics:
        lines += ["", *_entry(metric, written.get(metric.id, ()))]
    return "\n".join(lines)


def _entry(metric: Metric, names: Sequence[str]) -> list[str]:
    head = f"{metric.title} ({metric.id})"
    body = wrap(metric.meaning, WIDTH - INDENT, cut_words=False)
    facts = [units().words.get(metric.unit, metric.unit)]
    if metric.direction != "none":
        facts.append(DIRECTIONS[metric.direction])
    for label, text in (
        ("healthy", metric.healthy),
        ("watch for", metric.watch_for),
        ("written as", ", ".join(names)),
        ("scale", ", ".join(facts)),
    ):
        if text:
            body += labelled(label, text, WIDTH - INDENT)
    return [head, *(" " * INDENT + line for line in body)]
