"""Loading the glossary: `glossary()`.

There is one TOML file per pane, named after the pane's id, with the metrics in the order of their importance.
Invalid entries are reported and omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.schema.fields import ListField, TableField, TextField, table_of
from rltui.schema.metric import (
    PANE_ID,
    STATISTICS,
    Metric,
    MetricId,
    PaneId,
    checked_metric,
    metric_fields,
)
from rltui.schema.toml_files import DATA, FileReport, read_folder, read_table
from rltui.schema.value_cache import cached_value


@dataclass(frozen=True, slots=True)
class Pane:
    """A group of metrics on one topic.

    title: heading. tab: label of the tab. key: opens the pane; a pane without a key is listed with the
    sections of the run. always: whether the tab is shown even if the pane has no content; empty: one line
    on what to log to see it, shown if its key opens it nevertheless. unanswered: its sentence if it has
    metrics, but none that answer its question. aliases: other names that users may give. also: metrics of
    other panes that its answers use; any of them makes the tab appear. uses: files beside the logs that its
    answer uses, which are not read for other panes. tree: whether its metrics are parts of each other.
    speed: whether its findings are about the speed of a training, not about what is learnt.
    """

    id: PaneId
    title: str
    intro: str  # what to look at first, in two or three sentences
    order: float  # of tabs
    tab: str = ""  # default: the id
    key: Annotated[str, TextField(pattern=".", permitted="one character")] = ""
    always: bool = False
    empty: str = ""
    unanswered: str = ""
    aliases: tuple[PaneId, ...] = ()
    also: tuple[MetricId, ...] = ()
    uses: tuple[Literal["hparams", "samples", "spans"], ...] = ()
    tree: bool = False
    speed: bool = False

    def __post_init__(self) -> None:
        """Set the default of the tab."""
        object.__setattr__(self, "tab", self.tab or self.id)


class Glossary(NamedTuple):
    """All metrics by canonical id, ordered by pane and importance, and the problems of the files."""

    metrics: Mapping[str, Metric]
    panes: tuple[Pane, ...]
    problems: tuple[Problem, ...] = ()

    def pane(self, name: str) -> Pane | None:
        """The pane with this id."""
        return next((pane for pane in self.panes if pane.id == name), None)

    def of_pane(self, name: str) -> list[Metric]:
        """The metrics of a pane, most important first."""
        return [metric for metric in self.metrics.values() if metric.pane == name]


class _PaneFile(NamedTuple):
    """A file of the glossary."""

    pane: Pane
    metric: tuple[Metric, ...] = ()


GENERAL = "general"  # the pane of unknown keys without a section


def _pane_file(stem: str) -> TableField[_PaneFile]:
    """The file of a pane; importance is the position of a metric, from 1."""
    metric = TableField(
        metric_fields(),
        partial(_metric, stem, count(1)),
        required=("id", "title", "meaning"),
        strict=True,
    )
    pane = table_of(partial(Pane, stem))
    return table_of(_PaneFile, pane=pane, metric=ListField(metric))


def _metric(pane: str, numbers: Iterator[int], **values: Any) -> Metric:
    """A metric; by default one whose id ends with a statistic is that of the distribution before it."""
    group, _, statistic = values["id"].rpartition(".")
    if "group" not in values and statistic in STATISTICS:
        values |= {"group": group, "statistic": statistic}
    return checked_metric(Metric(pane=pane, importance=next(numbers), **values))


@cache
def general_panes() -> Mapping[str, Pane]:
    """The panes that every run has, by id: overview, findings, all, config, general."""
    return {pane.id: pane for pane in read_table("general_panes", dict[str, tuple[Pane, ...]])["pane"]}


def load(folder: Path) -> Glossary:
    """The glossary from a folder of pane files. Never raises for the content of files."""
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
    """The id of the pane with this id or alias, ignoring case; None for an unknown pane."""
    wanted = "-".join(word.strip().lower().replace("_", " ").split())
    for pane in (*general_panes().values(), *glossary().panes):
        if wanted == pane.id or wanted in pane.aliases:
            return pane.id
    return None


SHARE = (0.0, 1.0)  # bounds of a rate or share
SOURCES = (DATA / "metrics", DATA, Path(__file__).parent)  # of the glossary


@cache
def glossary() -> Glossary:
    """The shipped glossary. `doctor` reports its problems; it is usable in any case."""
    return cached_value(SOURCES[0], SOURCES, lambda: load(SOURCES[0]))


def bounds_of(canonical: str | None) -> tuple[float, float] | None:
    """The least and the greatest value that a metric can have; None if it has none, or is not known."""
    metric = glossary().metrics.get(canonical or "")
    return metric.bounds if metric is not None else None


def least_change_of(canonical: str | None) -> float | None:
    """The least change that counts of a metric whose zero means nothing; None if shares of its value do."""
    metric = glossary().metrics.get(canonical or "")
    return metric.least_change if metric is not None else None
