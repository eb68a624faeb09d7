"""The hparams pane as data: hyperparameters of a run, compared with those of other runs or attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from rltui.common.display_text import first_of
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.run_context.hparams.hparams import NO_HPARAMS, HParam, HParams, merge, same
from rltui.run_context.hparams.known_hparams import KEY, UNSET, rank, topic, topic_order
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.session.run_view import RunView
from rltui.session.session import Session


class HParamsColumn(NamedTuple):
    """The hyperparameters of one run, or of one attempt of it."""

    label: str
    hparams: HParams
    note: str = ""  # baseline, attempt 1, ...


class HParamsRow(NamedTuple):
    """One key with its value in each column; or a heading."""

    kind: Literal["hparam", "heading"]
    key: str
    cells: tuple[HParam | None, ...] = ()
    differs: bool = False
    others: tuple[HParam, ...] = ()  # different values in other sources of the first column

    @property
    def first(self) -> HParam | None:
        """The value in the first column that has one."""
        return next((cell for cell in self.cells if cell is not None), None)

    @property
    def topic(self) -> str:
        """The heading that it is listed under."""
        if all(cell is None or cell.unset for cell in self.cells):
            return UNSET
        return KEY if rank(self.key) is not None else topic(self.key)

    @property
    def text(self) -> str:
        """What a filter searches: the key and its values."""
        return " ".join([self.key, *(cell.text for cell in self.cells if cell is not None)])


class HParamsPane(NamedTuple):
    """Hyperparameters in columns. `total` and `different` count keys before filters."""

    columns: tuple[HParamsColumn, ...]
    rows: tuple[HParamsRow, ...]
    only_differences: bool = False
    total: int = 0
    different: int = 0
    history: tuple[str, ...] = ()  # sentences on attempts and on runs that continue each other
    notes: tuple[str, ...] = ()
    empty: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def hparams(self) -> list[HParamsRow]:
        """The rows without headings."""
        return [row for row in self.rows if row.kind == "hparam"]


def hparams_pane(
    columns: Sequence[HParamsColumn],
    *,
    only_differences: bool = False,
    match: Callable[[str], bool] | None = None,
    history: Sequence[str] = (),
    loading: bool = False,
) -> HParamsPane:
    """The columns' hyperparameters by topic: the most important ones first, those that are not set last."""
    keys = list(dict.fromkeys(key for column in columns for key in column.hparams.entries))
    known = sum(bool(column.hparams.entries) for column in columns)
    rows = [_row(key, columns, known > 1) for key in keys]
    different = sum(row.differs for row in rows)
    shown = [row for row in rows if row.differs] if only_differences else rows
    if match is not None:
        shown = [row for row in shown if match(row.text)]
    empty = ""
    if not rows:
        empty = (
            "Looking for settings next to the logs." if loading else
            "No settings known: no record in the logs, no config.json, config.yaml or the like next to them."
        )  # fmt: skip
    elif not shown and match is not None:
        empty = "No setting matches."
    elif not shown and len(columns) > 1 and known < 2:
        empty = "Only one of these runs says how it was started; there is nothing to compare."
    elif not shown:
        alone = "Nothing to compare with: mark other runs in the list of runs."
        empty = alone if len(columns) < 2 else "All settings are equal."
    return HParamsPane(
        columns=tuple(columns),
        rows=tuple(_by_topic(shown)),
        only_differences=only_differences,
        total=len(rows),
        different=different,
        history=tuple(history),
        notes=(
            *([f"{different:,} of {len(rows):,} differ"] if known > 1 else []),
            *_notes(columns, sources=not only_differences),
            *(["looking for files next to the logs"] if loading else []),
        ),
        empty=empty,
        problems=tuple({one.key: one for column in columns for one in column.hparams.problems}.values()),
    )


def _notes(columns: Sequence[HParamsColumn], *, sources: bool) -> Iterator[str]:
    """Which runs have no known settings; of the first run where settings are from, and where others are."""
    unknown = [column.label for column in columns if not column.hparams.entries]
    if unknown and len(columns) > 1:
        yield f"no settings known of {first_of(unknown, 3)}"
    first = columns[0].hparams if columns else NO_HPARAMS
    if first.sources and sources:
        yield f"from {first_of(first.sources, 3)}"
    if first.others:
        yield f"{len(first.others):,} have other values elsewhere"


def _row(key: str, columns: Sequence[HParamsColumn], several: bool) -> HParamsRow:
    cells = tuple(column.hparams.entries.get(key) for column in columns)
    # A run without any known hyperparameters does not differ in all of them.
    values = [
        cell.value if cell is not None else None
        for cell, column in zip(cells, columns, strict=True)
        if column.hparams.entries
    ]
    differs = several and any(not same(values[0], value) for value in values[1:])
    others = tuple(one for one in columns[0].hparams.others if one.key == key)
    return HParamsRow("hparam", key, cells, differs, others)


def _by_topic(rows: Sequence[HParamsRow]) -> list[HParamsRow]:
    groups: dict[str, list[HParamsRow]] = {}
    for row in rows:
        groups.setdefault(row.topic, []).append(row)
    if KEY in groups:
        groups[KEY].sort(key=lambda row: (rank(row.key) or 0, row.key.count("/")))
    return [
        row
        for title in sorted(groups, key=topic_order().index)
        for row in (HParamsRow("heading", title), *groups[title])
    ]


# ---- columns of a run


FileHParams = Callable[[RunView], HParams]  # hyperparameters in files beside a run's logs, as far as read


def no_file_hparams(view: RunView) -> HParams:
    """For callers that read no files beside the logs."""
    return NO_HPARAMS


def hparams_of_run(view: RunView, file_hparams: HParams) -> HParams:
    """The hyperparameters in a run's logs; those in files beside them where the logs have none."""
    return merge((logged_hparams(view.run.texts.values(), view.run.hparams), file_hparams))


def columns_of(
    view: RunView,
    others: Sequence[tuple[RunView, str]] = (),
    *,
    file_hparams: FileHParams = no_file_hparams,
    session: Session | None = None,
) -> list[HParamsColumn]:
    """Columns of the run and of the others with their notes; without others, of its attempts that differ.

    session: to look up the run that this one continues.
    """

    def column(run: RunView, note: str = "") -> HParamsColumn:
        return HParamsColumn(run.name, hparams_of_run(run, file_hparams(run)), note)

    columns = [column(view), *(column(other, note) for other, note in others if other is not view)]
    if len(columns) > 1:
        return columns
    columns += _earlier_attempts(view)
    predecessor = session.predecessor(view) if session is not None else None
    return columns if predecessor is None else [*columns, column(predecessor[0], "earlier attempt")]


def _earlier_attempts(view: RunView) -> list[HParamsColumn]:
    """Earlier attempts of the run that logged other values than the newest one, at most three."""
    run = view.run
    newest = logged_hparams(run.texts.values(), run.hparams).entries
    columns = []
    for number, attempt in enumerate(run.attempts[:-1] if len(run.hparams_texts) > 1 else (), 1):
        hparams = logged_hparams(run.hparams_texts.get(attempt.path, {}).values())
        if any(
            key in newest and not same(entry.value, newest[key].value)
            for key, entry in hparams.entries.items()
        ):
            columns.append(HParamsColumn(f"attempt {number}", hparams, f"attempt {number}"))
    return columns[-3:]
