"""Loads the shipped rules and symptoms: `rulebook()`.

All mistakes in all files are reported together, with file and entry; entries with mistakes are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.metrics.glossary_files import SOURCES, glossary
from rltui.rules.metric_roles import STEP_TIME
from rltui.rules.rule import (
    AtResume,
    FollowsOutcome,
    Gap,
    Group,
    HParamCondition,
    KnownReturn,
    Rescaling,
    Rule,
    SharedMetrics,
    Symptom,
    UnlessLogged,
)
from rltui.rules.rule_schema import RuleFile, rule_file
from rltui.schema.toml_files import DATA, FileReport, read_folder
from rltui.schema.value_cache import cached_value

JointCondition: TypeAlias = Gap | Rescaling | HParamCondition | AtResume | KnownReturn | FollowsOutcome
Names: TypeAlias = "str | tuple[Names, ...]"  # a name, or lists of names
RuleEntry: TypeAlias = Rule | Symptom | Group | SharedMetrics | JointCondition


class Rulebook(NamedTuple):
    """All rules, symptoms and joint conditions."""

    rules: Mapping[str, Rule]
    symptoms: tuple[Symptom, ...]
    joint_conditions: Mapping[str, JointCondition]  # not on one metric alone, by id
    problems: tuple[Problem, ...] = ()

    def of_metric(self, canonical: str) -> tuple[Rule, ...]:
        """The rules on a metric, including recording rules."""
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
        found: Iterable[Iterable[RuleEntry]] = file
        for entry in chain.from_iterable(found):
            first, earlier = entries.setdefault(entry.id, (entry, report))
            if first is not entry:
                report.add(f"{entry.id} is already defined in {earlier.path}")
    groups = {entry.id: entry.rules for entry, _ in entries.values() if isinstance(entry, Group)}
    metric_groups = {entry.id: entry for entry, _ in entries.values() if isinstance(entry, SharedMetrics)}
    for name in _cyclic(groups):
        entries[name][1].add(f"{name} contains itself")
    entries = {
        name: (_without_metric_groups(_without_groups(entry, groups), metric_groups), report)
        for name, (entry, report) in entries.items()
    }
    kept = [entry for entry, _ in entries.values()]
    rules = {entry.id: entry for entry in kept if isinstance(entry, Rule)}
    joint_conditions = {entry.id: entry for entry in kept if isinstance(entry, JointCondition)}
    metrics = {*glossary().metrics, STEP_TIME}
    for entry, report in entries.values():
        for name in _named(entry, _RULES):
            if "*" in name:
                report.add(f"{entry.id} names '{clean(name, 60)}': patterns are for 'explains' only")
            elif name not in rules and name not in joint_conditions:
                report.add(f"{entry.id} names '{clean(name, 60)}', which is not a rule")
        for name in _named(entry, _RULES_OR_PATTERNS):
            if name not in rules and name not in joint_conditions and "*" not in name:
                report.add(f"{entry.id} names '{clean(name, 60)}', which is not a rule")
        for name in _named(entry, _METRICS):
            if name in metric_groups and isinstance(entry, SharedMetrics):
                report.add(f"{entry.id} names '{clean(name, 60)}': groups of metrics do not contain groups")
            elif name not in metrics:
                report.add(f"{entry.id} names '{clean(name, 60)}', which is not a metric of the glossary")
    for name in _cyclic({rule.id: rule.requires for rule in rules.values()}):
        entries[name][1].add(f"{name} requires itself, directly or by other rules")
    symptoms = tuple(entry for entry in kept if isinstance(entry, Symptom))
    return Rulebook(rules, symptoms, joint_conditions, tuple(problems))


# Attributes that name rules, rules or patterns of their ids, and metrics.
_RULES: Mapping[type, tuple[str, ...]] = {
    Rule: ("holds_while", "inhibited_by", "info_when", "requires"),
    Symptom: ("all", "or_all", "none", "info_when"),
    FollowsOutcome: ("rule",),
}
_RULES_OR_PATTERNS: Mapping[type, tuple[str, ...]] = {Group: ("rules",), Symptom: ("explains",)}
_METRICS: Mapping[type, tuple[str, ...]] = {
    SharedMetrics: ("metrics", "unless_logged"),
    Rule: ("metrics", "unless_logged", "per", "check_next"),
    Symptom: ("check_next",),
    Gap: ("train", "held_out"),
    Rescaling: ("mean", "spread"),
    AtResume: ("metric",),
    FollowsOutcome: ("outcome",),
}


def _without_groups(entry: RuleEntry, groups: Mapping[str, tuple[str, ...]]) -> RuleEntry:
    """The entry with the rules of groups in place of their names."""
    names = (*_RULES.get(type(entry), ()), *_RULES_OR_PATTERNS.get(type(entry), ()))
    lists: dict[str, Any] = {name: _rules(getattr(entry, name), groups) for name in names}
    return entry._replace(**lists) if lists else entry


def _rules(names: Names, groups: Mapping[str, tuple[str, ...]]) -> Names:
    """The rules that are named, themselves or by groups; for each list in a list of lists."""
    if isinstance(names, str):
        return names
    found: dict[Names, None] = {}
    for name in names:
        if isinstance(name, str) and name in groups:
            others = {**groups, name: ()}  # a group that contains itself adds nothing there
            found |= dict.fromkeys(_rules(groups[name], others))
        else:
            found[_rules(name, groups)] = None
    return tuple(found)


def _without_metric_groups(entry: RuleEntry, groups: Mapping[str, SharedMetrics]) -> RuleEntry:
    """The entry with the metrics of groups in place of their names."""
    if isinstance(entry, SharedMetrics):
        return entry._replace(unless_logged=_of_metrics(entry.unless_logged, groups))
    if not isinstance(entry, Rule):
        return entry
    metrics: dict[str, None] = {}  # in the order in which they are named
    unless_logged: dict[str, tuple[str, ...]] = {}
    for name in entry.metrics:
        metrics |= dict.fromkeys(_metrics(name, groups))
        unless_logged |= groups[name].unless_logged if name in groups else {}
    return entry._replace(
        metrics=tuple(name for name in metrics if name not in groups),
        unless_logged=_of_metrics(unless_logged | dict(entry.unless_logged), groups),
    )


def _of_metrics(unless_logged: UnlessLogged, groups: Mapping[str, SharedMetrics]) -> UnlessLogged:
    """The metrics, and those that are judged instead, with the metrics of groups in place of their names."""
    found: dict[str, tuple[str, ...]] = {}
    for name, others in unless_logged.items():
        instead = list(chain.from_iterable(_metrics(other, groups) for other in others))
        for metric in _metrics(name, groups):
            found[metric] = tuple(dict.fromkeys(other for other in instead if other != metric))
    return found


def _metrics(name: str, groups: Mapping[str, SharedMetrics]) -> tuple[str, ...]:
    return groups[name].metrics if name in groups else (name,)


def _cyclic(named: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The entries that name themselves, directly or by others that they name."""
    for start, names in named.items():
        reached, rest = set[str](), list(names)
        while rest:
            name = rest.pop()
            if name not in reached:
                reached.add(name)
                rest += named.get(name, ())
        if start in reached:
            yield start


def _named(entry: RuleEntry, attributes: Mapping[type, tuple[str, ...]]) -> Iterator[str]:
    """The rules or metrics that an entry names in the attributes of its type."""
    rest = [getattr(entry, attribute) for attribute in attributes.get(type(entry), ())]
    while rest:
        value = rest.pop(0)
        if not isinstance(value, str):
            rest[:0] = chain(*value.items()) if isinstance(value, Mapping) else value
        elif value:
            yield value
