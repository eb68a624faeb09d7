"""`rltui snapshot`: one pane without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from rltui.cli.arguments import AT_STEP, LOGDIRS, RUN
from rltui.cli.check_report import moment
from rltui.cli.loading import load
from rltui.cli.output import FOUND, emit, fail, note, to_json
from rltui.cli.output_file import binary_output, refuse_inside
from rltui.draw.themes import DEFAULT, Theme, load_themes
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import clean

if TYPE_CHECKING:
    from rltui.panes.hparams_pane import HParamsPane

Form = Literal["text", "ansi", "markdown", "svg", "json"]
ENDINGS: dict[str, Form] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".svg": "svg",
    ".json": "json",
    ".ans": "ansi",
}
WIDTH = 100


@click.command(name="snapshot")
@LOGDIRS
@click.option(
    "--pane",
    default="overview",
    show_default=True,
    metavar="NAME",
    help="overview, validation, reward, policy, critic, lengths, timing, perf, findings, config, all, …",
)
@click.option(
    "--chart", metavar="METRIC", help="The chart of one metric (tag or id) as text instead of a pane."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "ansi", "markdown", "svg", "json"]),
    help="Default: by the ending of --output, else text.",
)
@click.option("--output", metavar="FILE", help="Default: standard output.")
@RUN
@click.option(
    "--width",
    type=click.IntRange(40, 400),
    default=WIDTH,
    show_default=True,
    metavar="COLUMNS",
    help="Cells of a line.",
)
@click.option(
    "--height",
    type=click.IntRange(5, 10000),
    metavar="ROWS",
    help="At most so many; default: as many as needed.",
)
@click.option("--theme", metavar="NAME", help="Colours for ansi and svg.")
@AT_STEP
def command(
    logdirs: tuple[str, ...],
    pane: str,
    chart: str | None,
    form: Form | None,
    output: str | None,
    run_glob: str | None,
    width: int,
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
      rltui snapshot runs/ --chart reward.mean
      rltui snapshot runs/ --pane config --format markdown
    """
    if output is not None:
        refuse_inside(Path(output), logdirs)
    form = form or (ENDINGS.get(Path(output).suffix.lower(), "text") if output else "text")
    if chart is not None and form != "text":
        raise click.UsageError("--chart is drawn as text: use --format text")
    if theme is not None:
        _theme(theme)  # an unknown name is told before anything is read
    session = load(logdirs, run_glob, at_step)
    if chart is not None:
        text = _charts(session, chart, width, height, at_step, every=run_glob is not None)
    else:
        text = render(
            session,
            pane,
            form,
            width=width,
            height=height,
            theme=theme,
            at_step=at_step,
            every=run_glob is not None,
            logdirs=logdirs,
        )
    if output is None:
        emit(text.rstrip("\n"))
        return
    with binary_output(output, logdirs) as file:
        file.write(text.encode(errors="backslashreplace"))
    note(f"wrote {output}")


def render(
    session: Session,
    pane: str,
    form: Form,
    *,
    width: int = WIDTH,
    height: int | None = None,
    theme: str | None = None,
    at_step: int | None = None,
    every: bool = False,
    logdirs: Sequence[str] = (),
) -> str:
    """A pane as text in a format. Ends the command with 1 when no run has such a pane."""
    from rltui.panes.pane_list import FIXED, panes_of

    views = session.ordered() if every else session.ordered()[:1]
    tabs = [{tab.id for tab in panes_of(view)} for view in views]
    pane = _spelled(pane, {*FIXED, *(tab for each in tabs for tab in each)})
    chosen = [view for view, each in zip(views, tabs, strict=True) if pane in each]
    if not chosen and pane in FIXED:  # none of its metrics: an empty pane, for the name is a known one
        chosen = views
    if not chosen:
        panes = sorted({tab for each in tabs for tab in each})
        fail(f"no pane named {clean(pane)!r} here; there are {', '.join(panes)}", FOUND)
    if form == "svg":
        chosen = chosen[:1]
    settings: list[HParamsPane | None] = [None] * len(chosen)
    if pane == "config":
        from rltui.cli.hparams_output import settings_board

        settings = [settings_board(view, logdirs, neighbours=session.ordered()) for view in chosen]
    parts = [
        _one(view, pane, form, width, height, theme, at_step, made)
        for view, made in zip(chosen, settings, strict=True)
    ]
    if form == "json":
        return to_json(parts if every else parts[0], indent=2) + "\n"
    return "\n".join(str(part) for part in parts)


def _charts(
    session: Session, metric: str, width: int, height: int | None, at_step: int | None, *, every: bool
) -> str:
    """The charts of a metric in the newest run, or in every one; the command ends with 1 without any."""
    from rltui.panes.render.chart_text import HEIGHT, charts_text

    views = session.ordered() if every else session.ordered()[:1]
    charts = [
        text
        for view in views
        for text in charts_text(view, metric, moment(view, at_step), width, height or HEIGHT, at_step)
    ]
    if not charts:
        fail(f"no metric {clean(metric)!r} here; `rltui snapshot --pane all` lists them", FOUND)
    return "\n".join(charts)


def _spelled(pane: str, known: set[str]) -> str:
    """The id of a pane in any case, also by the title on its tab."""
    if pane in known:
        return pane
    word = pane.strip().lower().replace(" ", "-").replace("_", "-")
    return "perf" if word == "mfu" else next((each for each in known if each.lower() == word), pane)


def _one(
    view: RunView,
    pane: str,
    form: Form,
    width: int,
    height: int | None,
    theme: str | None,
    at_step: int | None,
    settings: HParamsPane | None,
) -> object:
    from rltui.panes.render import plain_text

    now = moment(view, at_step)
    if settings is not None and form in ("markdown", "json"):
        from rltui.cli.hparams_output import pane_data

        return pane_data(view, settings, form, now, at_step)
    if form in ("markdown", "json"):
        return _as_data(view, pane, form, now, at_step)
    lines = plain_text.pane_text(view, pane, now, width=width, at_step=at_step, settings=settings)
    if height is not None and len(lines) > height:
        from rltui.draw.cells import line

        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], line((f" … {hidden} more lines; use a larger --height", "dim"))]
    if form == "text":
        return plain_text.as_text(lines)
    colors = _theme(theme)
    if form == "svg":
        from rltui.panes.render.svg import as_svg

        return as_svg(lines, width, colors)
    from rltui.panes.render.ansi import as_ansi

    return as_ansi(lines, colors)


def _as_data(view: RunView, pane: str, form: Form, now: float, at_step: int | None) -> object:
    from rltui.panes.overview import header, overview
    from rltui.panes.pane import PaneView, pane_view
    from rltui.panes.render.markdown import as_markdown
    from rltui.panes.render.plain_data import as_record
    from rltui.panes.render.plain_text import COUNT

    head = header(view, now, at_step)
    if pane == "overview":
        data = overview(view, now, at_step, count=COUNT)
        made, findings = PaneView(pane, "Overview", data.rows, data.window), list(data.findings)
    else:
        made = pane_view(view, pane, now, at_step)
        findings = view.evaluator.findings() if pane == "findings" else made.findings
    return as_markdown(head, made, findings) if form == "markdown" else as_record(head, made, findings)


def _theme(name: str | None) -> Theme:
    themes, problems = load_themes()
    if name is not None and name not in themes:
        for problem in problems:
            note(f"{problem.path}: {problem.message}")
        fail(f"no theme named {clean(name)!r}; there are {', '.join(sorted(themes))}", FOUND)
    return themes[name or DEFAULT]
