"""`rltui compare`: runs against a baseline at matched steps."""

from __future__ import annotations

import time
from collections import Counter

import click

from rltui.cli.documents.comparison_document import baseline_run, comparison_document
from rltui.cli.exit_codes import FOUND
from rltui.cli.options.arguments import FORMAT, JSON, LOGDIRS, RUN
from rltui.cli.options.completions import complete_run
from rltui.cli.output.printing import (
    emit,
    emit_json,
    emit_table,
    emit_text,
    fail,
    no_logs,
    note_omitted,
    text_width,
)  # fmt: skip
from rltui.cli.reading.loading import load
from rltui.common.display_text import count_of
from rltui.common.markdown_text import in_markdown
from rltui.draw.numbers import (
    format_change,
    format_percent_change,
    format_seconds,
    format_short,
    format_si,
    format_step,
    format_value,
)
from rltui.draw.symbols import SEVERITY_GLYPH
from rltui.panes.baseline.comparison import Axis, Comparison, Difference, compare
from rltui.panes.baseline.speed_findings import speed_findings
from rltui.panes.context_panes.hparams_pane import HParamsColumn, hparams_pane
from rltui.panes.runs.run_facts import RunHParams
from rltui.panes.runs.selection import RunSelection, hparams_below
from rltui.run_context.hparams.hparams import HParams
from rltui.session.run_view import RunView
from rltui.session.sister_runs import SisterComparison

MAX_ROWS = 20  # without --all
LARGE_PERCENTAGE = 1000.0  # shown as a factor
HEADS = ("", "metric", "key", "run", "baseline", "difference", "%", "baseline's middle half")

KEYS_FROM = 120  # cells of a line from which there is room for the keys
MARKS = {"▲": "good", "▼": "bad", "◆": "warn"}  # roles


@click.command(name="compare")
@LOGDIRS
@click.option(
    "--baseline",
    shell_complete=complete_run,
    required=True,
    metavar="RUN",
    help="The run to compare with: its name in `rltui runs`, or a part of it between slashes.",
)
@RUN
@click.option(
    "--by",
    "axis",
    type=click.Choice(["step", "time", "tokens"]),
    default="step",
    show_default=True,
    help="Match at equal steps, time since start, or tokens.",
)
@click.option("--all", "every", is_flag=True, help="All metrics or settings, not only the important ones.")
@click.option("--config", "hparams", is_flag=True, help="What the runs were started with, where it differs.")
@FORMAT
@JSON
def command(
    logdirs: tuple[str, ...],
    baseline: str,
    run_glob: str | None,
    axis: Axis,
    every: bool,
    hparams: bool,
    form: str,
    as_json: bool,
) -> None:
    """Compare the runs below LOGDIR with a baseline where both have been: at equal steps, time or tokens.

    A metric is marked when it has left the range in which the baseline itself moved around that place.

    \b
    Examples:
      rltui compare runs/ --baseline good_run
      rltui compare runs/ --baseline good_run --run 'new*' --by tokens --format markdown
      rltui compare runs/ --baseline good_run --config
    """
    session = load(logdirs)
    base = baseline_run(session, baseline)
    known = hparams_below(logdirs)
    names = RunSelection(run_glob).names(session.ordered(), time.time(), known)
    others = [view for view in session.ordered() if view is not base and view.name in names]
    if not names:
        no_logs(logdirs, run_glob)
    if not others:
        fail("no other run to compare with the baseline", FOUND)
    if hparams:
        from rltui.cli.pane_output.hparams_output import print_comparison

        print_comparison(base, others, logdirs, "json" if as_json else form, every=every)
        return
    if as_json or form == "json":
        emit_json(comparison_document(logdirs, session, base, others, axis))
        return
    sister_comparisons, omitted = session.compare_sisters(), dict[str, None]()
    for view in others:
        comparison = compare(view, base, axis)
        if comparison is None:
            emit_text(f"{view.name} and {base.name}: no common {axis} to compare at")
            continue
        _print_about(view, base, comparison, sister_comparisons.get(view.name), form)
        shown = comparison.differences if every else _important(comparison)
        omitted |= dict.fromkeys(_print(shown, markdown=form == "markdown"))
        emit()
        emit_text(f"{_counts(comparison, len(shown))}{_hparams(known, view, base)}")
        emit()
    if form != "markdown":
        emit_text("▲ better ▼ worse ◆ different: outside the range in which the baseline itself moved")
    note_omitted([*omitted])


def _print_about(
    view: RunView, base: RunView, comparison: Comparison, sisters: SisterComparison | None, form: str
) -> None:
    """Print what stands above the table: which runs, where, the sister runs, and findings on speed."""
    title = f"{view.name} against {base.name}, at {_place(comparison)}"
    if form == "markdown":
        emit(f"### {in_markdown(title)}")
    else:
        emit_text(title, "  ")
    if sisters is not None:
        where = f"{sisters.tag} at step {format_step(sisters.step)}"
        emit_text(f"{sisters.words}, which {sisters.relation} ({where})")
    for finding in speed_findings(view, base):
        emit_text(f"{SEVERITY_GLYPH[finding.severity]} {finding.message}, {finding.since}")
    emit()


def _counts(comparison: Comparison, shown: int) -> str:
    """How many metrics are outside the baseline's spread, and how many are not shown."""
    count = len(comparison.differences)
    outside = sum(difference.outside for difference in comparison.differences)
    more = f"; {count - shown} more with --all" if count > shown else ""
    return f"{outside} of {count_of(count, 'metric')} outside the baseline's spread{more}"


def _hparams(known: RunHParams, view: RunView, base: RunView) -> str:
    """The number of settings that differ, and the option that shows them."""
    columns = [HParamsColumn(run.name, HParams(known.of(run))) for run in (base, view)]
    count = sum(row.differs for row in hparams_pane(columns).hparams)
    return f"; {count_of(count, 'setting')} differ{'s' * (count == 1)}: --config" if count else ""


def _important(comparison: Comparison) -> tuple[Difference, ...]:
    known = [difference for difference in comparison.differences if difference.canonical is not None]
    return tuple((known or list(comparison.differences))[:MAX_ROWS])


def _place(comparison: Comparison) -> str:
    if comparison.axis == "time":
        return f"{format_seconds(comparison.matched)} after the start"
    if comparison.axis == "tokens":
        return f"{format_si(comparison.matched)} tokens"
    return f"step {format_step(int(comparison.matched))}: medians over the last tenth of the way there"


def _cells(difference: Difference) -> tuple[str, ...]:
    unit = difference.unit
    mark = "" if not difference.outside else {True: "▲", False: "▼", None: "◆"}[difference.better]
    size = difference.percent
    percent = "" if size is None else format_percent_change(size)
    if size is not None and abs(size) >= LARGE_PERCENTAGE:
        percent = f"{format_short(1 + abs(size) / 100)}x"
    return (
        mark,
        difference.title,
        difference.tag,
        format_value(difference.value, unit),
        format_value(difference.baseline, unit),
        format_change(difference.value, difference.baseline, unit),
        percent,
        f"{format_value(difference.spread[0], unit)} … {format_value(difference.spread[1], unit)}",
    )


def _print(differences: tuple[Difference, ...], *, markdown: bool) -> list[str]:
    """Print the table; returns the headings that had no room.

    Where there is none for keys, metrics of equal titles are told apart by them.
    """
    limits = dict(enumerate((1, 34, 30, 10, 10, 10, 8, 24)))
    rows = [_cells(difference) for difference in differences]
    uses = Counter(difference.title for difference in differences)
    if not markdown and text_width(KEYS_FROM) < KEYS_FROM:
        rows = [(row[0], f"{row[1]} · {row[2]}" if uses[row[1]] > 1 else row[1], *row[2:]) for row in rows]
    return emit_table(
        HEADS, rows, right=(3, 4, 5, 6), limits=limits, roles=MARKS, markdown=markdown,
        min_widths={1: 20}, optional=(7, 2, 6),
    )  # fmt: skip
