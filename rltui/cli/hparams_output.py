"""Settings of runs without a terminal: the config pane of `snapshot`, and `compare --config`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rltui.cli.output import emit, emit_json
from rltui.hparams.hparams import HParams
from rltui.panes.hparams_pane import HParamsPane, columns_of, hparams_pane, lineage_of
from rltui.panes.render.hparams_lines import config_lines, config_markdown, config_record
from rltui.panes.render.markdown import as_markdown
from rltui.panes.render.plain_data import as_record
from rltui.panes.render.plain_text import as_text
from rltui.panes.report import pane_report
from rltui.session.run_view import RunView
from rltui.text import clean

WIDTH = 56  # cells that a value gets in a comparison; what is longer is cut in the middle


def settings_board(
    view: RunView,
    logdirs: Sequence[str],
    others: Sequence[tuple[RunView, str]] = (),
    neighbours: Sequence[RunView] = (),
    *,
    only_differences: bool = False,
) -> HParamsPane:
    """The settings of a run and of others, with the files beside their logs."""
    from rltui.hparams.files import beside

    def files(one: RunView) -> HParams:
        return beside([source.path for source in one.run.sources.values()], logdirs)

    columns = columns_of(view, others, beside=files, neighbours=neighbours)
    return hparams_pane(
        columns, only_differences=only_differences, lineage=lineage_of(view, neighbours)
    )  # fmt: skip


def pane_data(view: RunView, made: HParamsPane, form: str, now: float, at_step: int | None) -> object:
    """The config pane as Markdown text, or as data for programs."""
    report = pane_report(view, "config", now, at_step)
    report = dataclasses.replace(report, pane=dataclasses.replace(report.pane, empty=""))
    if form == "markdown":
        return as_markdown(report).rstrip("\n") + "\n\n" + config_markdown(made)
    return as_record(report) | config_record(made)


def print_comparison(
    base: RunView, others: Sequence[RunView], logdirs: Sequence[str], form: str, *, every: bool
) -> None:
    """What the others were started with differently from the baseline, all of it with `every`."""
    made = settings_board(base, logdirs, [(view, "") for view in others], only_differences=not every)
    made = dataclasses.replace(
        made, columns=(dataclasses.replace(made.columns[0], note="baseline"), *made.columns[1:]), lineage=()
    )
    if form == "json":
        runs = [view.name for view in others]
        head = {"schema": 1, "logdir": clean(logdirs[0]), "baseline": base.name, "runs": runs}
        emit_json({**head, **config_record(made)})
    elif form == "markdown":
        emit(config_markdown(made).rstrip("\n"))
    else:
        width = 48 + len(made.columns) * (_widest(made) + 2)
        emit(as_text(config_lines(made, width)).rstrip("\n"))


def _widest(made: HParamsPane) -> int:
    """Cells of the widest value or name, within reason: a pipe has no width to fit."""
    words = [cell.text for row in made.settings for cell in row.cells if cell is not None]
    return max(12, min(max(map(len, [*words, *(column.label for column in made.columns)])), WIDTH))
