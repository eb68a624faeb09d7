"""The hyperparameters of a run, and their comparison (`compare --config`)."""

from __future__ import annotations

from collections.abc import Sequence

from rltui.cli.output.printing import emit, emit_json
from rltui.common.display_text import clean
from rltui.panes.context_panes.attempt_history import history_lines
from rltui.panes.context_panes.hparams_pane import HParamsPane, columns_of, hparams_pane
from rltui.panes.render.lines.hparams_lines import hparams_lines, hparams_markdown, hparams_record
from rltui.panes.render.plain_text import as_text
from rltui.run_context.hparams.hparam_files import hparams_near
from rltui.run_context.hparams.hparams import HParams
from rltui.session.run_view import RunView
from rltui.session.session import Session

MAX_VALUE_WIDTH = 56  # cells, in a comparison


def hparams_pane_of(
    view: RunView,
    logdirs: Sequence[str],
    others: Sequence[tuple[RunView, str]] = (),
    session: Session | None = None,
    *,
    only_differences: bool = False,
) -> HParamsPane:
    """The hyperparameters of a run and of others, logged or in files next to their logs."""

    def files(run: RunView) -> HParams:
        return hparams_near([source.path for source in run.run.sources.values()], logdirs)

    columns = columns_of(view, others, file_hparams=files, session=session)
    return hparams_pane(columns, only_differences=only_differences, history=history_lines(view, session))


def print_comparison(
    base: RunView, others: Sequence[RunView], logdirs: Sequence[str], form: str, *, every: bool
) -> None:
    """Print the hyperparameters that differ from the baseline, or all with `every`."""
    made = hparams_pane_of(base, logdirs, [(view, "") for view in others], only_differences=not every)
    made = made._replace(columns=(made.columns[0]._replace(note="baseline"), *made.columns[1:]), history=())
    if form == "json":
        runs = [view.name for view in others]
        head = {"schema": 1, "logdir": clean(logdirs[0]), "baseline": base.name, "runs": runs}
        emit_json({**head, **hparams_record(made)})
    elif form == "markdown":
        emit(hparams_markdown(made).rstrip("\n"))
    else:
        width = 48 + len(made.columns) * (_widest(made) + 2)
        emit(as_text(hparams_lines(made, width)).rstrip("\n"))


def _widest(made: HParamsPane) -> int:
    """The width of the widest value or name, at most `MAX_VALUE_WIDTH`."""
    words = [cell.text for row in made.hparams for cell in row.cells if cell is not None]
    return max(12, min(max(map(len, [*words, *(column.label for column in made.columns)])), MAX_VALUE_WIDTH))
