"""One pane or chart of a session as text, ANSI, Markdown, SVG or JSON, without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from rltui.cli.file_problems import note_problems
from rltui.cli.loading import as_of
from rltui.cli.output import FOUND, fail, to_json
from rltui.cli.pane_output.hparams_output import hparams_pane_of, pane_data
from rltui.draw.cells import Line, line
from rltui.draw.chart_picture import HEIGHT as HEIGHT_IN_PIXELS
from rltui.draw.chart_picture import pictures_svg
from rltui.draw.themes import DEFAULT, Theme, load_themes
from rltui.hparams.hparam_files import hparams_beside
from rltui.hparams.hparams import NONE
from rltui.metrics.glossary import pane_id
from rltui.panes.answers.beside import USE_HPARAMS, USE_SAMPLES, USE_SPANS, Beside
from rltui.panes.chart_picture import metric_pictures
from rltui.panes.pane_list import FIXED, panes_of
from rltui.panes.render.ansi import as_ansi
from rltui.panes.render.chart_text import HEIGHT, charts_text
from rltui.panes.render.markdown import as_markdown
from rltui.panes.render.plain_data import as_record
from rltui.panes.render.plain_text import as_text, pane_text
from rltui.panes.render.svg import as_svg
from rltui.panes.report import pane_report
from rltui.panes.special.hparams_pane import HParamsPane
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.spans.span_files import spans_beside
from rltui.text import clean

if TYPE_CHECKING:
    from rltui.cli.pane_output.samples_output import ReadSamples
    from rltui.logs.samples.model import RunSamples

Form = Literal["text", "ansi", "markdown", "svg", "png", "json"]
WIDTH = 100  # cells
CELL, ROW = 7.2, 15  # pixels of a cell and a line, where a picture is asked for in cells


def render_pane(
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
    views = session.ordered() if every else session.ordered()[:1]
    tabs = [{tab.id for tab in panes_of(view)} for view in views]
    pane = _pane_id(pane, {*FIXED, *(tab for each in tabs for tab in each)})
    chosen = [view for view, each in zip(views, tabs, strict=True) if pane in each]
    if pane == "console":
        if at_step is not None:
            raise click.UsageError("the pane console shows what is there now: leave --at-step out")
        return _consoles(session, views, logdirs, form, width, height, theme_named(theme), every=every)
    if not chosen and pane in FIXED:  # none of its metrics: an empty pane, for the name is a known one
        chosen = views
    if not chosen:
        panes = sorted({tab for each in tabs for tab in each})
        fail(f"no pane named {clean(pane)!r} here; there are {', '.join(panes)}", FOUND)
    if form == "svg":
        chosen = chosen[:1]
    hparams: list[HParamsPane | None] = [None] * len(chosen)
    if pane == "config":
        hparams = [hparams_pane_of(view, logdirs, session=session) for view in chosen]
    samples: list[ReadSamples | None] = [None] * len(chosen)
    if pane == "samples":
        from rltui.cli.pane_output.samples_output import read_samples  # no other pane needs it

        samples = [*read_samples(chosen, logdirs, session.ordered(), at_step)]
    beside = besides_of(chosen, logdirs, session, pane)
    colors = theme_named(theme)
    parts = [
        _one(view, pane, form, width, height, colors, at_step, columns, read, files)
        for view, columns, read, files in zip(chosen, hparams, samples, beside, strict=True)
    ]
    if form == "json":
        return to_json(parts if every else parts[0], indent=2) + "\n"
    return "\n".join(str(part) for part in parts)


def render_charts(
    session: Session,
    metric: str,
    form: Form,
    *,
    width: int = WIDTH,
    height: int | None = None,
    theme: str | None = None,
    at_step: int | None = None,
    every: bool = False,
) -> str:
    """The charts of a metric in the newest run, or in every one; the command ends with 1 without any.

    form: text, Markdown (a block of text) or SVG.
    """
    views = session.ordered() if every else session.ordered()[:1]
    if form == "svg":
        pictures = [
            picture
            for view in views
            for picture in metric_pictures(view, metric, as_of(view, at_step), at_step)
        ]
        if pictures:
            pixels = (round(width * CELL), HEIGHT_IN_PIXELS if height is None else height * ROW)
            return pictures_svg(pictures, theme_named(theme), *pixels)
    charts = [
        text
        for view in views
        for text in charts_text(view, metric, as_of(view, at_step), width, height or HEIGHT, at_step)
    ]
    if not charts:
        fail(f"no metric {clean(metric)!r} here; `rltui snapshot --pane all` lists them", FOUND)
    if form == "markdown":
        return "\n".join(f"```text\n{text.rstrip()}\n```\n" for text in charts)
    return "\n".join(charts)


def _pane_id(pane: str, known: set[str]) -> str:
    """The id of a pane in any case, also by an alias."""
    if pane in known:
        return pane
    word = pane.strip().lower().replace(" ", "-").replace("_", "-")
    return pane_id(pane) or next((each for each in known if each.lower() == word), pane)


def _one(
    view: RunView,
    pane: str,
    form: Form,
    width: int,
    height: int | None,
    theme: Theme,
    at_step: int | None,
    hparams: HParamsPane | None,
    samples: ReadSamples | None,
    beside: Beside,
) -> object:
    now = as_of(view, at_step)
    if form in ("markdown", "json"):
        if hparams is not None:
            return pane_data(view, hparams, form, now, at_step)
        if samples is not None:
            from rltui.cli.pane_output.samples_output import samples_data

            return samples_data(view, samples, form, now, at_step)
        return _as_data(view, pane, form, now, at_step, beside)
    lines = pane_text(
        view, pane, now, width=width, at_step=at_step, hparams=hparams, samples=samples, beside=beside
    )
    return _drawn(lines, form, width, height, theme)


def _consoles(
    session: Session,
    views: Sequence[RunView],
    logdirs: Sequence[str],
    form: Form,
    width: int,
    height: int | None,
    theme: Theme,
    *,
    every: bool,
) -> str:
    from rltui.panes.render.console_lines import console_data, console_pane_lines
    from rltui.panes.special.console_pane import console_ends

    views = views[:1] if form == "svg" else views
    parts: list[object] = []
    for view, ends in zip(views, console_ends(views, logdirs, session.sources()), strict=True):
        now = as_of(view, None)
        if form in ("markdown", "json"):
            parts.append(console_data(view, ends, form, now))
        else:
            parts.append(_drawn(console_pane_lines(view, ends, now, width), form, width, height, theme))
    if form == "json":
        return to_json(parts if every else parts[0], indent=2) + "\n"
    return "\n".join(str(part) for part in parts)


def _drawn(lines: list[Line], form: Form, width: int, height: int | None, theme: Theme) -> str:
    if height is not None and len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], line((f" … {hidden} more lines; use a larger --height", "dim"))]
    if form == "text":
        return as_text(lines)
    return as_svg(lines, width, theme) if form == "svg" else as_ansi(lines, theme)


def besides_of(views: Sequence[RunView], logdirs: Sequence[str], session: Session, pane: str) -> list[Beside]:
    """What the files beside the logs of each run say for the answer of a pane; others are not read."""
    samples: list[RunSamples | None] = [None] * len(views)
    if pane in USE_SAMPLES and logdirs:
        from rltui.cli.pane_output.samples_output import newest_samples  # no other pane needs it

        samples = newest_samples(views, logdirs, session.ordered())
    found = []
    for view, read in zip(views, samples, strict=True):
        paths = [source.path for source in view.run.sources.values()]
        hparams = hparams_beside(paths, logdirs) if pane in USE_HPARAMS and logdirs else NONE
        spans = spans_beside(paths, logdirs) if pane in USE_SPANS and logdirs else {}
        found.append(Beside(hparams, read, spans))
    return found


def _as_data(view: RunView, pane: str, form: Form, now: float, at_step: int | None, beside: Beside) -> object:
    report = pane_report(view, pane, now, at_step, beside=beside)
    return as_markdown(report) if form == "markdown" else as_record(report)


def theme_named(name: str | None) -> Theme:
    """A theme, the default one for None. Ends the command with 1 when there is none of this name."""
    themes, problems = load_themes()
    if name is not None and name not in themes:
        note_problems(problems)
        fail(f"no theme named {clean(name)!r}; there are {', '.join(sorted(themes))}", FOUND)
    return themes[name or DEFAULT]
