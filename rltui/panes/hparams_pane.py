"""The config pane as data: what a run was started with, and where marked runs or attempts differ from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rltui.draw.numbers import format_step
from rltui.hparams.hparams import NONE, HParam, HParams, joined, same
from rltui.hparams.logged_text import recorded
from rltui.hparams.topics import KEY, ORDER, UNSET, rank, topic
from rltui.panes.attempt_history import attempts_of, forerunner, lineage_text, successor

if TYPE_CHECKING:
    from rltui.batch import Problem
    from rltui.session.run_view import RunView


@dataclass(frozen=True, slots=True)
class HParamsColumn:
    """The settings of one run, or of one attempt of it."""

    label: str
    settings: HParams
    note: str = ""  # baseline, attempt 1, ...


@dataclass(frozen=True, slots=True)
class HParamsRow:
    """One key, with what each column says of it; or a heading."""

    kind: Literal["setting", "heading"]
    key: str
    cells: tuple[HParam | None, ...] = ()
    differs: bool = False
    others: tuple[HParam, ...] = ()  # what other places say of it, first column only

    @property
    def first(self) -> HParam | None:
        """The first column that says something."""
        return next((cell for cell in self.cells if cell is not None), None)


@dataclass(frozen=True, slots=True)
class HParamsPane:
    """Settings in columns. `total` and `different` count keys before any filter."""

    columns: tuple[HParamsColumn, ...]
    rows: tuple[HParamsRow, ...]
    only_differences: bool = False
    total: int = 0
    different: int = 0
    lineage: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    empty: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def settings(self) -> list[HParamsRow]:
        """The rows without headings."""
        return [row for row in self.rows if row.kind == "setting"]


def hparams_pane(
    columns: Sequence[HParamsColumn],
    *,
    only_differences: bool = False,
    match: Callable[[str], bool] | None = None,
    lineage: Sequence[str] = (),
    loading: bool = False,
) -> HParamsPane:
    """The columns' settings by topic, key settings first, what is nowhere set last."""
    keys = list(dict.fromkeys(key for column in columns for key in column.settings.entries))
    several = sum(bool(column.settings.entries) for column in columns) > 1
    rows = [_row(key, columns, several) for key in keys]
    different = sum(row.differs for row in rows)
    shown = [row for row in rows if row.differs] if only_differences else rows
    if match is not None:
        shown = [row for row in shown if match(words_of(row))]
    return HParamsPane(
        columns=tuple(columns),
        rows=tuple(_grouped(shown)),
        only_differences=only_differences,
        total=len(rows),
        different=different,
        lineage=tuple(lineage),
        notes=tuple(_notes(columns, several, different, only_differences, loading)),
        empty="" if shown else _empty(columns, len(rows), only_differences, match is not None, loading),
        problems=tuple({one.key: one for column in columns for one in column.settings.problems}.values()),
    )


def words_of(row: HParamsRow) -> str:
    """What a filter looks at: the key and its values."""
    return " ".join([row.key, *(cell.text for cell in row.cells if cell is not None)])


def _row(key: str, columns: Sequence[HParamsColumn], several: bool) -> HParamsRow:
    cells = tuple(column.settings.entries.get(key) for column in columns)
    # A run that says nothing at all of its settings does not differ in each of them.
    said = [
        cell.value if cell is not None else None
        for cell, column in zip(cells, columns, strict=True)
        if column.settings.entries
    ]
    differs = several and any(not same(said[0], value) for value in said[1:])
    others = tuple(one for one in columns[0].settings.others if one.key == key)
    return HParamsRow("setting", key, cells, differs, others)


def heading_of(row: HParamsRow) -> str:
    """The heading under which a row stands."""
    if all(cell is None or cell.unset for cell in row.cells):
        return UNSET
    return KEY if rank(row.key) is not None else topic(row.key)


def _grouped(rows: Sequence[HParamsRow]) -> list[HParamsRow]:
    groups: dict[str, list[HParamsRow]] = {}
    for row in rows:
        groups.setdefault(heading_of(row), []).append(row)
    if KEY in groups:
        groups[KEY].sort(key=lambda row: (rank(row.key) or 0, row.key.count("/")))
    out: list[HParamsRow] = []
    for title in sorted(groups, key=lambda title: ORDER[title]):
        out.append(HParamsRow("heading", title))
        out += groups[title]
    return out


def _notes(
    columns: Sequence[HParamsColumn], several: bool, different: int, only: bool, loading: bool
) -> list[str]:
    notes = []
    if several:
        notes.append(f"{different:,} of {len({k for c in columns for k in c.settings.entries}):,} differ")
    silent = [column.label for column in columns if not column.settings.entries]
    if silent and len(columns) > 1:
        notes.append(f"no settings known of {', '.join(silent[:3])}")
    sources = list(dict.fromkeys(source for column in columns[:1] for source in column.settings.sources))
    if sources and not only:
        notes.append("from " + ", ".join(sources[:3]) + (" …" if len(sources) > 3 else ""))
    contradictions = len(columns[0].settings.others) if columns else 0
    if contradictions:
        notes.append(f"{contradictions:,} said otherwise elsewhere")
    if loading:
        notes.append("looking for files beside the logs")
    return notes


def _empty(columns: Sequence[HParamsColumn], total: int, only: bool, filtered: bool, loading: bool) -> str:
    if loading and not total:
        return "Looking for settings beside the logs."
    if not total:
        return "No settings known: no record in the logs, no config.json, config.yaml or the like beside."
    if filtered:
        return "No setting matches."
    if only and len(columns) > 1 and sum(bool(column.settings.entries) for column in columns) < 2:
        return "Only one of these runs says how it was started; there is nothing to compare."
    if only and len(columns) < 2:
        return "Nothing to compare with: mark other runs in the list of runs."
    return "All settings are equal." if only else "No settings."


# ---- columns of a run


def records_of(view: RunView) -> HParams:
    """What the run's own logs say, the newest attempt first."""
    texts = list(getattr(view.run, "texts", {}).values())
    return recorded(texts, dict(view.run.hparams))


Beside = Callable[["RunView"], HParams]  # the settings in files beside a run's logs, as far as they are read


def nothing(view: RunView) -> HParams:
    """No files beside the logs."""
    return NONE


def columns_of(
    view: RunView,
    others: Sequence[tuple[RunView, str]] = (),
    *,
    beside: Beside = nothing,
    neighbours: Sequence[RunView] = (),
) -> list[HParamsColumn]:
    """The run and the others with a note each; without others its earlier attempts, where they differ.

    neighbours: all runs, among them the one that this run may continue.
    """
    first = joined((records_of(view), beside(view)))
    columns = [HParamsColumn(view.name, first)]
    for other, note in others:
        if other is not view:
            columns.append(HParamsColumn(other.name, joined((records_of(other), beside(other))), note))
    if len(columns) > 1:
        return columns
    earlier = _attempts(view)
    before = forerunner(view, neighbours)
    if before is not None:
        earlier.append(
            HParamsColumn(before.name, joined((records_of(before), beside(before))), "earlier attempt")
        )
    return columns + earlier


def _attempts(view: RunView) -> list[HParamsColumn]:
    """Earlier attempts of the run whose own records say something else than the newest."""
    attempts = attempts_of(view)
    said = getattr(view.run, "settings", {})
    if len(attempts) < 2 or len(said) < 2:
        return []
    newest = records_of(view)
    found = []
    for number, attempt in enumerate(attempts[:-1], 1):
        texts = list(said.get(attempt.path, {}).values())
        settings = recorded(texts)
        if settings.entries and any(
            key in newest.entries and not same(entry.value, newest.entries[key].value)
            for key, entry in settings.entries.items()
        ):
            found.append(HParamsColumn(f"attempt {number}", settings, f"attempt {number}"))
    return found[-3:]


def lineage_of(view: RunView, neighbours: Sequence[RunView] = ()) -> list[str]:
    """The attempts in words, and the runs that this one seems to continue, or that continue it."""
    lines = []
    before, after = forerunner(view, neighbours), successor(view, neighbours)
    if before is not None:
        lines.append(f"seems to continue {before.name}, {_steps(before)}, from step {_first(view)}")
    lines += lineage_text(view)
    if after is not None:
        lines.append(f"seems to be continued by {after.name}, {_steps(after)}")
    return lines


def _steps(view: RunView) -> str:
    first, last = view.run.span or (0, 0)
    return f"steps {format_step(first)} to {format_step(last)}"


def _first(view: RunView) -> str:
    return format_step(view.run.span[0]) if view.run.span is not None else "?"
