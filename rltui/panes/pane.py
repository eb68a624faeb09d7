"""A pane of a run as data: its answer, its rows in order, and notes on the quality of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rltui.common.display_text import count_of
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.repeated_totals import repeated_totals
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.pane_tabs import FIXED, PANES, pane_title
from rltui.panes.rows.equal_rows import joined, with_numbers_of_keys
from rltui.panes.rows.row import Row, is_constant, rows_of, with_distinct_titles
from rltui.panes.rows.row_tree import as_tree
from rltui.session.time_travel import span_of

if TYPE_CHECKING:
    from rltui.panes.answers.answer import Answer
    from rltui.panes.baseline.comparison import Difference
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

MAX_GATHERED = 300  # rows of a pane; in larger panes constant rows are not gathered, which takes time


@dataclass(frozen=True)
class PaneView:
    """One pane of one run at one moment. `notes` are remarks on the quality of its data.

    `answer` is shown above its rows. `constants` are rows that never changed, if they were gathered.
    """

    pane: str
    title: str
    rows: tuple[Row, ...]
    window: StepWindow
    notes: tuple[str, ...] = ()
    empty: str = ""  # the text without rows
    of: int = 0  # the number of metrics before filtering
    answer: Answer | None = None
    constants: tuple[Row, ...] = ()

    @cached_property
    def metrics(self) -> list[Row]:
        """The rows without headings and folders."""
        return [row for row in self.rows if row.kind not in ("heading", "folder")]

    @property
    def selectable(self) -> list[Row]:
        """The rows without headings."""
        return [row for row in self.rows if row.kind != "heading"]

    @property
    def findings(self) -> list[Finding]:
        """All findings on its rows, each once."""
        return list({id(finding): finding for row in self.rows for finding in row.findings}.values())


def overview_pane(rows: Sequence[Row], constants: Sequence[Row], window: StepWindow) -> PaneView:
    """The pane of the most important metrics of a run."""
    known = PANES["overview"]
    return PaneView(known.id, known.title, tuple(rows), window, empty=known.empty, constants=tuple(constants))


def pane_view(
    view: RunView,
    pane: str,
    now: float,
    at_step: int | None = None,
    *,
    share: float = 1.0,
    merge: bool = True,
    pinned: Iterable[str] = (),
    against: Mapping[str, Difference] | None = None,
    findings: Iterable[Finding] | None = None,
    inputs: AnswerInputs = NO_INPUTS,
    gather: bool = False,
) -> PaneView:
    """The rows of a pane. `all` and the run's own sections get headings; pinned tags come first.

    findings: those to show; None for all that fire now. gather: whether to move rows that never changed to
    `constants`, unless there are no others.
    """
    tags = list(view.run.series) if pane == "all" else _tags_of(view, pane)
    if pane != "all" and (repeated := repeated_totals(view)):
        tags = [tag for tag in tags if tag not in repeated]
    rows = rows_of(view, tags, at_step=at_step, merge=merge, against=against, findings=findings, apart=False)
    if merge and pane != "all":
        rows = joined(rows)
    rows = with_numbers_of_keys(with_distinct_titles(rows))
    pins = set(pinned)
    rows, constants = _gathered(rows, pins) if gather and len(rows) <= MAX_GATHERED else (rows, [])
    first = [row for row in rows if pins.intersection(row.tags)]
    rest = [row for row in rows if not pins.intersection(row.tags)]
    answer = answer_of(view, pane, at_step, inputs)
    if merge and pane in PANES and PANES[pane].tree:
        rest = as_tree(rest, answer.inside if answer is not None else {})
    elif pane == "all":
        rest = _with_headings(
            rest, lambda row: pane_title(view, view.names.name(row.tag).pane), _pane_order(view)
        )
    elif pane not in FIXED:
        rest = _with_headings(rest, lambda row: row.name.group if row.name is not None else "", None)
    return PaneView(
        pane=pane,
        title=pane_title(view, pane),
        rows=tuple(first + rest),
        window=window_for(view, now, share=share, at_step=at_step),
        notes=tuple(_notes(view, tags, at_step)),
        empty="" if rows else _why_empty(view, pane),
        answer=answer,
        constants=tuple(constants),
    )


def _gathered(rows: list[Row], pins: set[str]) -> tuple[list[Row], list[Row]]:
    """The rows that changed or are pinned, and the others; all and none if none changed."""
    constants = [row for row in rows if not pins.intersection(row.tags) and is_constant(row)]
    gone = {row.tag for row in constants}
    others = [row for row in rows if row.tag not in gone]
    return (others, constants) if others else (rows, [])


def _tags_of(view: RunView, pane: str) -> list[str]:
    """The tags of a pane, and those of other panes that its answer uses."""
    index = view.tag_index
    also = PANES[pane].also if pane in PANES else ()
    others = [tag for metric in also for tag in index.canonical.get(metric, ())]
    return [*index.panes.get(pane, []), *(tag for tag in others if not view.names.name(tag).held_out)]


def _why_empty(view: RunView, pane: str) -> str:
    """The text of a pane without metrics: that of its data, else which panes the run has."""
    if pane == "system":
        from rltui.panes.answers.accelerators.gpus import job_hint  # as in `pane_answers`

        inside = job_hint(view)
        if inside:
            return f"{inside[:1].upper()}{inside[1:]}"
    if pane in PANES and PANES[pane].empty:
        return PANES[pane].empty
    present = [one for one in FIXED if view.tag_index.panes.get(one)]
    others = f" It has {', '.join(present)}." if present else ""
    return f"This run reports nothing for the pane {pane}.{others}"


def _pane_order(view: RunView) -> dict[str, int]:
    titles = [pane_title(view, pane) for pane in FIXED]
    return {title: index for index, title in enumerate(titles)}


def _with_headings(
    rows: list[Row], title_of: Callable[[Row], str], order: dict[str, int] | None
) -> list[Row]:
    """Rows grouped below the headings of `title_of`, in `order` of titles, or of their first rows."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(title_of(row), []).append(row)
    titles = list(groups)
    if order is not None:
        titles.sort(key=lambda title: order.get(title, len(order)))
    if len(titles) < 2:
        return rows
    out: list[Row] = []
    for title in titles:
        if title:
            out.append(Row("heading", title))
        out += groups[title]
    return out


def _notes(view: RunView, tags: list[str], at_step: int | None) -> list[str]:
    """Remarks on the quality of the data."""
    notes = []
    guessed = len(view.tag_index.guessed.intersection(tags))
    if guessed:
        notes.append(f"{guessed} of {count_of(len(tags), 'name')} guessed")
    # These counts are not known for an earlier step.
    counted = at_step is None or at_step >= span_of(view.run)[1]
    series = [view.run.series[tag] for tag in tags] if counted else []
    superseded = sum(one.superseded for one in series)
    if superseded:
        by = " of earlier attempts" if view.run.earlier else " superseded by a restart"
        notes.append(f"{count_of(superseded, 'point')}{by}")
    nonfinite = sum(bool(one.nonfinite) for one in series)
    if nonfinite:
        notes.append(f"NaN/Inf in {nonfinite} of {count_of(len(tags), 'key')}")
    if view.run.previewing:
        notes.append("newest points first, history is loading")
    return notes
