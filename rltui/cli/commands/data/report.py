"""`rltui report`: a report on runs as one file."""

from __future__ import annotations

import time

import click

from rltui.cli.options.arguments import AT_STEP, LOGDIRS, RUN, THEME
from rltui.cli.output.output_file import form_by_ending, require_place, write_document
from rltui.cli.pane_output.hparams_output import hparams_pane_of
from rltui.cli.pane_output.render_pane import theme_named
from rltui.cli.reading.loading import as_of, leave_before_first_step, leave_if_unreadable, load
from rltui.panes.charts.sister_band import seed_sisters
from rltui.panes.render.report_html import reports_html
from rltui.panes.render.report_markdown import reports_markdown
from rltui.panes.run_report import run_report
from rltui.panes.runs.selection import hparams_below
from rltui.rules.finding import RUN_HEALTHS


@click.command(name="report")
@LOGDIRS
@RUN
@click.option("--output", metavar="FILE", help="FILE.md or FILE.html; default: Markdown to standard output.")
@click.option("--format", "form", type=click.Choice(["markdown", "html"]), help="Default: by the ending.")
@THEME
@AT_STEP
def command(
    logdirs: tuple[str, ...],
    run_glob: str | None,
    output: str | None,
    form: str | None,
    theme: str | None,
    at_step: int | None,
) -> None:
    """Write a report of the newest run, or of each that --run chooses, the worst first.

    It holds the verdict, what is wrong with its evidence and what to do, the key metrics, the settings, and
    what is odd about the data. The HTML is one file with its charts, without scripts, and loads nothing.

    \b
    Examples:
      rltui report runs/ --run grpo-7b --output report.html
      rltui report runs/ --run critical | gh issue create --title "Broken runs" --body-file -
    """
    require_place(output, logdirs)
    form = form or form_by_ending(output, {".html": "html", ".htm": "html"}, "markdown")
    colors = theme_named(theme or "paper")
    session = load(logdirs, run_glob, at_step)
    if at_step is None:
        session.update_liveness_findings(time.time())
    views = session.ordered() if run_glob is not None else session.ordered()[:1]
    leave_before_first_step(session, views, at_step)
    views.sort(key=lambda view: -RUN_HEALTHS.index(view.health))
    digest = hparams_below(logdirs).digest
    reports = [
        run_report(
            view, as_of(view, at_step), hparams_pane_of(view, logdirs, session=session), at_step,
            seed_sisters(view, session.ordered(), digest),
        )
        for view in views
    ]  # fmt: skip
    text = reports_html(reports, colors) if form == "html" else reports_markdown(reports)
    write_document(text, output, logdirs)
    leave_if_unreadable(views)
