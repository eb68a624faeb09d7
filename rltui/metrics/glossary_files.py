"""The glossary's data files, checked and joined: `glossary()`.

One TOML file per pane; its name is the pane's id and the order of its entries is their importance, so an
entry is added where it belongs and nothing is renumbered. All faults of all files are told at once; a faulty
entry is left out, the rest stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.schema.fields import Field, ListField, TableField, TextField, as_dict, table_of
from rltui.schema.metric import METRIC_FIELDS, METRIC_ID, PANE_ID, Metric, checked_metric
from rltui.schema.toml_files import DATA, FileReport, read_folder, read_table
from rltui.schema.value_cache import cached_value


@dataclass(frozen=True, slots=True)
class Pane:
    """A page of metrics that belong together.

    `title` is its heading, `tab` the word on its tab, `key` jumps to it: without a key it is shown among a
    run's own sections. `always`: its tab is there even when the run has none of its metrics. `empty` is what
    to say then. `aliases` are other names that users may call it by. `also`: metrics of other panes that it
    answers a question with, which call for its tab as well.
    """

    id: str
    title: str
    intro: str  # what to look at first, in two or three sentences
    order: float  # of tabs
    tab: str = ""  # the id where nothing is said
    key: str = ""
    always: bool = False
    empty: str = ""
    aliases: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """The tab says the id unless it says something else."""
        object.__setattr__(self, "tab", self.tab or self.id)


class Glossary(NamedTuple):
    """All metrics by canonical id, in the order of panes and importance, and what was wrong with the data."""

    metrics: Mapping[str, Metric]
    panes: tuple[Pane, ...]
    problems: tuple[Problem, ...] = ()

    def pane(self, name: str) -> Pane | None:
        """The pane of that id, or None."""
        return next((pane for pane in self.panes if pane.id == name), None)

    def of_pane(self, name: str) -> list[Metric]:
        """The metrics of a pane, most important first."""
        return [metric for metric in self.metrics.values() if metric.pane == name]


class _PaneFile(NamedTuple):
    """A file of the glossary."""

    pane: Pane
    metric: tuple[Metric, ...] = ()


_PANE_FIELDS: dict[str, Field[object]] = {
    "key": TextField(pattern=".", permitted="one character"),
    "aliases": ListField(PANE_ID),
    "also": ListField(METRIC_ID),
}
GENERAL = "general"  # the pane of keys without a section


def _pane_file(stem: str) -> TableField[_PaneFile]:
    """The file of a pane; its metrics are numbered from 1 in their order."""
    metric = TableField(
        METRIC_FIELDS,
        partial(_metric, stem, count(1)),
        required=("id", "title", "unit", "direction", "meaning"),
        strict=True,
    )
    pane = table_of(partial(Pane, stem), **_PANE_FIELDS)
    return table_of(_PaneFile, pane=pane, metric=ListField(metric))


def _metric(pane: str, numbers: Iterator[int], **values: object) -> Metric:
    known: dict[str, Any] = values
    return checked_metric(Metric(pane=pane, importance=next(numbers), **known))


def _general_panes_field() -> TableField[dict[str, tuple[Pane, ...]]]:
    return TableField({"pane": ListField(table_of(Pane, id=PANE_ID, **_PANE_FIELDS))}, as_dict)


@cache
def general_panes() -> Mapping[str, Pane]:
    """Panes of any run, whatever its metrics, by id: overview, findings, all, config, general."""
    table = read_table("general_panes", _general_panes_field)
    return {pane.id: pane for pane in table["pane"]}


def load(folder: Path) -> Glossary:
    """The glossary of a folder of pane files. Never raises for what the files hold."""
    problems: list[Problem] = []
    files: dict[str, tuple[_PaneFile, FileReport]] = {}
    for stem, table, report in read_folder(folder, problems, "glossary-data"):
        if not re.fullmatch(PANE_ID.pattern, stem):
            report.add("is a pane's id by its name: lower-case letters, digits and '-'")
        file = report.check(table, _pane_file(stem))
        if file is not None:
            files[stem] = (file, report)
    ordered = dict(sorted(files.items(), key=lambda item: (item[1][0].pane.order, item[0])))
    metrics: dict[str, Metric] = {}
    keys: dict[str, str] = {}
    for stem, (file, report) in ordered.items():
        if (key := file.pane.key) and keys.setdefault(key, stem) != stem:
            report.fault(("pane", "key"), f"'{key}' is already that of {keys[key]}.toml")
        for metric in file.metric:
            if (earlier := metrics.get(metric.id)) is not None:
                report.add(f"metric '{earlier.id}' is already defined in {earlier.pane}.toml")
            else:
                metrics[metric.id] = metric
    for metric in list(metrics.values()):
        if missing := [name for name in metric.check_next if name not in metrics]:
            ordered[metric.pane][1].add(f"{metric.id}: check_next names no metric: {', '.join(missing)}")
            known = tuple(name for name in metric.check_next if name in metrics)
            metrics[metric.id] = metric._replace(check_next=known)
        if missing := [name for name in metric.within if name not in metrics]:
            ordered[metric.pane][1].add(f"{metric.id}: within names no metric: {', '.join(missing)}")
    return Glossary(metrics, tuple(file.pane for file, _ in ordered.values()), tuple(problems))


def pane_id(word: str) -> str | None:
    """The id of the pane that users call so, by its id or an alias in any letters; None for no known pane."""
    wanted = "-".join(word.strip().lower().replace("_", " ").split())
    for pane in (*general_panes().values(), *glossary().panes):
        if wanted == pane.id or wanted in pane.aliases:
            return pane.id
    return None


SOURCES = (DATA / "metrics", DATA, Path(__file__).parent)  # of the glossary


@cache
def glossary() -> Glossary:
    """The shipped glossary. Its problems are for `doctor`; it is usable in any case."""
    return cached_value(SOURCES[0], SOURCES, lambda: load(SOURCES[0]))
