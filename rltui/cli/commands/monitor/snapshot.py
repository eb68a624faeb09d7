"""`rltui snapshot`: print a pane or a chart."""

from __future__ import annotations

import sys
import time

import click

from rltui.cli.options.arguments import AT_STEP, LOGDIRS, RUN, THEME
from rltui.cli.options.completions import complete_metric, complete_pane
from rltui.cli.output.output_file import form_by_ending, require_place, write_document
from rltui.cli.output.printing import fail, require_extra, text_width
from rltui.cli.pane_output.render_pane import (
    WIDTH,
    Form,
    OutputOptions,
    render_charts,
    render_pane,
    theme_named,
)
from rltui.cli.reading.job_report import jobs_by_traces
from rltui.cli.reading.loading import leave_before_first_step, leave_if_unreadable, load

ENDINGS: dict[str, Form] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".svg": "svg",
    ".png": "png",
    ".json": "json",
    ".ans": "ansi",
}


@click.command(name="snapshot")
@LOGDIRS
@click.option(
    "--pane",
    shell_complete=complete_pane,
    default="overview",
    show_default=True,
    metavar="NAME",
    help="overview, validation, reward, policy, critic, lengths, timing, perf, samples, findings, all, …",
)
@click.option(
    "--chart",
    metavar="METRIC",
    shell_complete=complete_metric,
    help="The chart of one metric (tag or id) instead of a pane: text, markdown, svg or png.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "ansi", "markdown", "svg", "png", "json"]),
    help="Default: by the ending of --output, else text.",
)
@click.option("--output", metavar="FILE", help="Default: standard output.")
@RUN
@click.option(
    "--width",
    type=click.IntRange(40, 400),
    metavar="COLUMNS",
    help=f"Cells of a line; default: {WIDTH}, or those of a narrower terminal.",
)
@click.option(
    "--height",
    type=click.IntRange(5, 10000),
    metavar="ROWS",
    help="At most so many; default: as many as needed.",
)
@THEME
@AT_STEP
def command(
    logdirs: tuple[str, ...],
    pane: str,
    chart: str | None,
    form: Form | None,
    output: str | None,
    run_glob: str | None,
    width: int | None,
    height: int | None,
    theme: str | None,
    at_step: int | None,
) -> None:
    """Print one pane of the most recently written run (or of each that --run matches).

    \b
    Examples:
      rltui snapshot runs/
      rltui snapshot runs/ --pane policy --run 'grpo-7b*' --format markdown
      rltui snapshot runs/ --pane reward --output reward.svg
      rltui snapshot runs/ --at-step 1200
      rltui snapshot runs/ --chart reward --output reward.png
      rltui snapshot runs/ --pane config --format markdown
    """
    require_place(output, logdirs)
    wanted = form_by_ending(output, ENDINGS, "text") if form is None else form
    if chart is not None and wanted in ("ansi", "json"):
        raise click.UsageError(
            "--chart is drawn as text, markdown, svg or png; `rltui export` has the points"
        )
    if wanted == "png":
        require_extra("png", "a picture as PNG")
        if output is None and sys.stdout.isatty():
            raise click.UsageError("a PNG needs --output")
    drawn: Form = "svg" if wanted == "png" else wanted
    if theme is not None:
        theme_named(theme)  # reports an unknown name before reading the logs
    session = load(logdirs, run_glob, at_step)
    if at_step is None:
        session.set_jobs(jobs_by_traces(session.job_traces(), logdirs), time.time())
        session.update_liveness_findings(time.time())
    if width is None:
        width = WIDTH if output is not None else text_width(WIDTH)
    how = OutputOptions(drawn, width, height, theme, at_step, run_glob is not None, logdirs)
    leave_before_first_step(session, how.views(session), at_step)
    text = render_pane(session, pane, how) if chart is None else render_charts(session, chart, how)
    write_document(_png(text) if wanted == "png" else text, output, logdirs)
    leave_if_unreadable(how.views(session))


def _png(svg: str) -> bytes:
    """The picture as PNG. Ends the command with 2 if it cannot be converted."""
    from rltui.draw.chart_svg import NoPngError, as_png

    try:
        return as_png(svg)
    except NoPngError as error:
        fail(str(error))
