"""Panes and charts of a session as text, ANSI, Markdown, SVG or JSON.

Modules that only some formats need are imported on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import click

from rltui.cli.exit_codes import FOUND
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import fail, to_json
from rltui.cli.pane_output.hparams_output import hparams_pane_of
from rltui.cli.reading.loading import as_of
from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import Line, line
from rltui.draw.themes import DEFAULT, PLAIN, Theme, load_themes
from rltui.metrics.glossary_files import pane_id
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs, used_by
from rltui.panes.context_panes.console_pane import console_ends
from rltui.panes.pane_report import as_record, pane_report
from rltui.panes.pane_tabs import FIXED, panes_of
from rltui.panes.render.console_lines import console_lines, console_markdown, console_record
from rltui.panes.render.lines.hparams_lines import hparams_lines, hparams_markdown, hparams_record
from rltui.panes.render.lines.samples_lines import samples_lines, samples_markdown, samples_record
from rltui.panes.render.plain_text import as_ansi, as_text, pane_text
from rltui.run_context.hparams.hparam_files import hparams_near
from rltui.run_context.hparams.hparams import NO_HPARAMS
from rltui.run_context.spans.logged_spans import NO_SPANS
from rltui.session.run_view import RunView
from rltui.session.session import Session

Form = Literal["text", "ansi", "markdown", "svg", "png", "json"]
WIDTH = 100  # cells
CELL_PIXELS, LINE_PIXELS = 7.2, 15  # to convert --width and --height of a picture


class PaneContent(NamedTuple):
    """The content of a pane without metrics, in each format.

    lines: below the header, for a width in cells. record: fields of the JSON object of the pane.
    """

    lines: Callable[[int], list[Line]]
    markdown: Callable[[], str]
    record: Callable[[], dict[str, Any]]


class OutputOptions(NamedTuple):
    """Options of panes and charts. every: output all runs, not only the newest.

    width: in cells. height: maximum number of lines, None for no limit. theme: name, None for the default.
    """

    form: Form = "text"
    width: int = WIDTH
    height: int | None = None
    theme: str | None = None
    at_step: int | None = None
    every: bool = False
    logdirs: Sequence[str] = ()

    def views(self, session: Session) -> list[RunView]:
        """The runs to output."""
        return session.ordered() if self.every else session.ordered()[:1]


def render_pane(session: Session, pane: str, how: OutputOptions) -> str:
    """A pane in a format. Ends the command with 1 if no run has the pane."""
    views = how.views(session)
    tabs = [{tab.id for tab in panes_of(view)} for view in views]
    pane = _pane_id(pane, {*FIXED, *(tab for ids in tabs for tab in ids)})
    chosen = [view for view, each in zip(views, tabs, strict=True) if pane in each]
    if pane == "console" and how.at_step is not None:
        raise click.UsageError("the pane console shows what is there now: leave --at-step out")
    if pane in FIXED and (pane == "console" or not chosen):
        chosen = views  # a known pane without metrics is shown empty
    if not chosen:
        panes = sorted({tab for ids in tabs for tab in ids})
        fail(f"no pane named {clean(pane)!r} here; there are {', '.join(panes)}", FOUND)
    if how.form == "svg":
        chosen = chosen[:1]
    contents = _contents(session, pane, chosen, how)
    inputs = _answer_inputs(session, pane, chosen, how)
    # Themes are read only if colours are needed, or to check the name.
    theme = theme_named(how.theme) if how.theme or how.form in ("ansi", "svg") else PLAIN
    parts = [
        _render_run(view, pane, how, theme, content, each)
        for view, content, each in zip(chosen, contents, inputs, strict=True)
    ]
    if how.form == "json":
        return to_json(parts if how.every else parts[0], indent=2) + "\n"
    return "\n".join(map(str, parts))


def render_charts(session: Session, metric: str, how: OutputOptions) -> str:
    """The charts of a metric as text, Markdown (a code block) or SVG. Exit code 1 for an unknown metric."""
    from rltui.panes.charts.sister_band import seed_sisters, sister_series
    from rltui.panes.charts.step_window import window_for
    from rltui.panes.rows.row import rows_of
    from rltui.panes.runs.run_facts import SUGGESTIONS, nearest_tags, tags_of
    from rltui.panes.runs.selection import hparams_below

    digest, views = hparams_below(how.logdirs).digest, how.views(session)
    drawn = []
    for view in views:
        window = window_for(view, as_of(view, how.at_step), at_step=how.at_step)
        sisters = seed_sisters(view, session.ordered(), digest)
        drawn += [
            (row, view.shown_name, window, sister_series(view, row.tag, sisters))
            for row in rows_of(view, tags_of(view, metric), at_step=how.at_step, merge=False)
        ]
    if not drawn:
        near = dict.fromkeys(clean(tag) for view in views for tag in nearest_tags(view, metric))
        hint = f"nearest: {', '.join(list(near)[:SUGGESTIONS])}; " if near else ""
        fail(f"no metric {clean(metric)!r} here; {hint}`rltui snapshot --pane all` lists all", FOUND)
    if how.form == "svg":
        from rltui.draw.chart_svg import HEIGHT as HEIGHT_IN_PIXELS
        from rltui.draw.chart_svg import pictures_svg
        from rltui.panes.charts.chart_picture import chart_picture

        made = (chart_picture(row, run, window, sisters=sisters) for row, run, window, sisters in drawn)
        if pictures := [picture for picture in made if picture is not None]:
            height = HEIGHT_IN_PIXELS if how.height is None else how.height * LINE_PIXELS
            return pictures_svg(pictures, theme_named(how.theme), round(how.width * CELL_PIXELS), height)
    from rltui.panes.render.chart_text import HEIGHT, chart_text

    size = how.width, how.height or HEIGHT
    charts = [chart_text(row, run, window, *size, sisters) for row, run, window, sisters in drawn]
    if how.form == "markdown":
        return "\n".join(f"```text\n{text.rstrip()}\n```\n" for text in charts)
    return "\n".join(charts)


def theme_named(name: str | None) -> Theme:
    """A theme, by default the default one. Ends the command with 1 for an unknown name."""
    themes, problems = load_themes()
    if name is not None and name not in themes:
        note_problems(problems)
        fail(f"no theme named {clean(name)!r}; there are {', '.join(sorted(themes))}", FOUND)
    return themes[name or DEFAULT]


def _pane_id(pane: str, known: set[str]) -> str:
    """The id of a pane with this id or alias, ignoring case."""
    if pane in known:
        return pane
    word = pane.strip().lower().replace(" ", "-").replace("_", "-")
    return pane_id(pane) or next((id_ for id_ in known if id_.lower() == word), pane)


def _contents(
    session: Session, pane: str, views: Sequence[RunView], how: OutputOptions
) -> Sequence[PaneContent | None]:
    """The content of a pane without metrics for each run; None for panes with metrics."""
    if pane == "config":
        hparams = ((hparams_pane_of(view, how.logdirs, session=session),) for view in views)
        return [_content(made, hparams_lines, hparams_markdown, hparams_record) for made in hparams]
    if pane == "samples":
        from rltui.cli.pane_output.samples_output import read_samples  # only needed here

        read = read_samples(views, how.logdirs, {**session.others, **session.sources()}, how.at_step)
        return [_content(made, samples_lines, samples_markdown, samples_record) for made in read]
    if pane == "console":
        ends = console_ends(views, how.logdirs, session.sources(), session.others)
        read_of = zip(views, ends, strict=True)
        return [_content(made, console_lines, console_markdown, console_record) for made in read_of]
    return [None] * len(views)


def _content(made: Sequence[object], *forms: Callable[..., Any]) -> PaneContent:
    """The content of a pane from its data and the functions for each format."""
    return PaneContent(*(partial(form, *made) for form in forms))


def _answer_inputs(
    session: Session, pane: str, views: Sequence[RunView], how: OutputOptions
) -> list[AnswerInputs]:
    """The inputs of a pane's answer from files next to the logs; only those that the pane uses are read."""
    found, used = [NO_INPUTS] * len(views), used_by(pane)
    if not how.logdirs or not used:
        return found
    if "samples" in used:
        from rltui.cli.pane_output.samples_output import newest_samples  # only needed here

        runs = {**session.others, **session.sources()}
        found = [AnswerInputs(samples=samples) for samples in newest_samples(views, how.logdirs, runs)]
    from rltui.run_context.spans.span_files import spans_near  # imports archive modules, 10 ms

    paths = [[source.path for source in view.run.sources.values()] for view in views]
    return [
        known._replace(
            hparams=hparams_near(each, how.logdirs) if "hparams" in used else NO_HPARAMS,
            spans=spans_near(each, how.logdirs) if "spans" in used else NO_SPANS,
        )
        for known, each in zip(found, paths, strict=True)
    ]


def _render_run(
    view: RunView,
    pane: str,
    how: OutputOptions,
    theme: Theme,
    content: PaneContent | None,
    inputs: AnswerInputs,
) -> object:
    """The pane of a run as text, or as object for JSON."""
    now = as_of(view, how.at_step)
    if how.form in ("markdown", "json"):
        report = pane_report(view, pane, now, how.at_step, inputs=inputs)
        if content is not None:
            report = report._replace(pane=replace(report.pane, empty=""))
        if how.form == "json":
            return as_record(report) | (content.record() if content is not None else {})
        from rltui.panes.render.markdown import as_markdown

        text = content.markdown() if content is not None else ""
        return as_markdown(report).rstrip("\n") + "\n" + f"\n{text}" * bool(text)
    lines = pane_text(
        view, pane, now, width=how.width, at_step=how.at_step, inputs=inputs,
        content=None if content is None else content.lines,
    )  # fmt: skip
    if how.height is not None and len(lines) > how.height:
        hidden = len(lines) - how.height + 1
        lines = [*lines[: how.height - 1], line((f" … {hidden} more lines; use a larger --height", "dim"))]
    if how.form == "text":
        return as_text(lines)
    if how.form == "svg":
        from rltui.panes.render.lines_svg import as_svg

        return as_svg(lines, how.width, theme)
    return as_ansi(lines, theme)
