"""Loads the shipped rules and symptoms: `rulebook()`.

All mistakes in all files are reported together, with file and entry; entries with mistakes are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.metrics.glossary_files import SOURCES, glossary
from rltui.rules.metric_roles import STEP_TIME
from rltui.rules.rule import (
    AtResume,
    FollowsOutcome,
    Gap,
    Group,
    KnownReturn,
    MetricGroup,
    Rescaling,
    Rule,
    Setting,
    Symptom,
)
from rltui.rules.rule_schema import RuleFile, rule_file
from rltui.schema.toml_files import DATA, FileReport, read_folder
from rltui.schema.value_cache import cached_value

JointCondition: TypeAlias = Gap | Rescaling | Setting | AtResume | KnownReturn | FollowsOutcome
RuleEntry: TypeAlias = Rule | Symptom | Group | MetricGroup | JointCondition


class Rulebook(NamedTuple):
    """All rules, symptoms and joint conditions."""

    rules: Mapping[str, Rule]
    symptoms: tuple[Symptom, ...]
    joint: Mapping[str, JointCondition]  # not on one metric alone, by id
    problems: tuple[Problem, ...] = ()

    def of_metric(self, canonical: str) -> tuple[Rule, ...]:
        """The rules on a metric, including recordings."""
        return tuple(rule for rule in self.rules.values() if canonical in rule.metrics)


@cache
def rulebook() -> Rulebook:
    """The shipped rules, loaded once."""
    folder, here = DATA / "rules", Path(__file__).parent
    return cached_value(folder, (folder, here, *SOURCES), lambda: load(folder))


def load(folder: Path) -> Rulebook:
    """The rules of a folder of files. Mistakes in the files become problems; nothing is raised."""
    problems: list[Problem] = []
    entries: dict[str, tuple[RuleEntry, FileReport]] = {}
    for _, table, report in read_folder(folder, problems, "rules-data"):
        file = report.check(table, rule_file()) or RuleFile()
        found: tuple[RuleEntry, ...] = (
            *file.rule, *file.symptom, *file.gap, *file.rescaling, *file.setting, *file.at_resume,
            *file.known_return, *file.follows_outcome, *file.group, *file.metric_group,
        )  # fmt: skip
        for entry in found:
            first, earlier = entries.setdefault(entry.id, (entry, report))
            if first is not entry:
                report.add(f"{entry.id} is already defined in {earlier.path}")
    groups = {entry.id: entry.rules for entry, _ in entries.values() if isinstance(entry, Group)}
    metric_groups = {entry.id: entry for entry, _ in entries.values() if isinstance(entry, MetricGroup)}
    entries = {
        name: (_without_metric_groups(_without_groups(entry, groups), metric_groups), report)
        for name, (entry, report) in entries.items()
    }
    kept = [entry for entry, _ in entries.values()]
    rules = {entry.id: entry for entry in kept if isinstance(entry, Rule)}
    joint = {entry.id: entry for entry in kept if isinstance(entry, JointCondition)}
    metrics = {*glossary().metrics, STEP_TIME}
    for entry, report in entries.values():
        for name in _rules_named(entry):
            if name not in rules and name not in joint and "*" not in name:
                report.add(f"{entry.id} names '{clean(name, 60)}', which is not a rule")
        for name in _metrics_named(entry):
            if name not in metrics:
                report.add(f"{entry.id} names '{clean(name, 60)}', which is not a metric of the glossary")
    symptoms = tuple(entry for entry in kept if isinstance(entry, Symptom))
    return Rulebook(rules, symptoms, joint, tuple(problems))


# Attributes that are lists of rules.
_LISTS: Mapping[type, tuple[str, ...]] = {
    Group: ("rules",),
    Rule: ("holds_while", "inhibited_by", "info_when", "requires"),
    Symptom: ("none", "explains", "info_when"),
}
_ALTERNATIVES = ("all", "or_all")  # attributes of symptoms that are lists of such lists


def _without_groups(entry: RuleEntry, groups: Mapping[str, tuple[str, ...]]) -> RuleEntry:
    """The entry with the rules of groups in place of their names."""
    lists: dict[str, Any] = {
        name: _rules(getattr(entry, name), groups) for name in _LISTS.get(type(entry), ())
    }
    if isinstance(entry, Symptom):
        lists |= {
            name: tuple(_rules(each, groups) for each in getattr(entry, name)) for name in _ALTERNATIVES
        }
    return entry._replace(**lists) if lists else entry


def _rules(names: Iterable[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The rules that are named, themselves or by groups."""
    found: dict[str, None] = {}
    for name in names:
        if name in groups:
            others = {
                other: rules for other, rules in groups.items() if other != name
            }  # none contains itself
            found |= dict.fromkeys(_rules(groups[name], others))
        else:
            found[name] = None
    return tuple(found)


def _without_metric_groups(entry: RuleEntry, groups: Mapping[str, MetricGroup]) -> RuleEntry:
    """The entry with the metrics of groups in place of their names."""
    if not isinstance(entry, Rule) or groups.keys().isdisjoint(entry.metrics):
        return entry
    metrics, unless_logged = list[str](), dict(entry.unless_logged)
    for name in entry.metrics:
        metrics += groups[name].metrics if name in groups else (name,)
        unless_logged |= groups[name].unless_logged if name in groups else {}
    return entry._replace(metrics=tuple(metrics), unless_logged=unless_logged)


def _rules_named(entry: RuleEntry) -> Iterator[str]:
    yield from chain(*(getattr(entry, name) for name in _LISTS.get(type(entry), ())))
    if isinstance(entry, Symptom):
        yield from chain(*entry.all, *entry.or_all)
    elif isinstance(entry, FollowsOutcome):
        yield entry.rule


def _metrics_named(entry: RuleEntry) -> Iterator[str]:
    if isinstance(entry, MetricGroup):
        yield from chain(entry.metrics, *entry.unless_logged.items())
    elif isinstance(entry, Rule):
        yield from chain(entry.metrics, entry.check_next, *entry.unless_logged.items())
        if entry.per:
            yield entry.per
    elif isinstance(entry, Gap):
        yield from (entry.train, entry.held_out)
    elif isinstance(entry, AtResume):
        yield from entry.metric
    elif isinstance(entry, FollowsOutcome):
        yield from entry.outcome
    elif isinstance(entry, Rescaling):
        yield from (entry.mean, *chain(*entry.spread))
    elif isinstance(entry, Symptom):
        yield from entry.check_next
