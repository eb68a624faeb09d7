"""Explanations of metrics and findings, for the command `explain` and the screen.

That of a metric combines the glossary, caveats of the framework, rules, and the user's own limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.config import Config
from rltui.metrics.definitions import Definition, definitions, plain, with_title
from rltui.metrics.explain_key import entry_of, explain
from rltui.metrics.frameworks.framework_files import frameworks
from rltui.metrics.glossary_entry import GlossaryEntry, MetricRule, listed
from rltui.metrics.glossary_files import glossary
from rltui.metrics.metric_name import MetricName
from rltui.rules.rule import Rule, Symptom
from rltui.rules.rulebook import rulebook
from rltui.rules.user_rules import condition, matches, user_rule_id


def explained_entry(entry: GlossaryEntry, config: Config | None = None) -> GlossaryEntry:
    """An entry with the caveats of its framework, the rules that judge the metric, and its other names."""
    metrics, metric = glossary().metrics, entry.metric
    writer = frameworks().get(entry.framework) if entry.framework is not None else None
    return entry._replace(
        key=clean(entry.key),
        writer=(writer.title, writer.file.caveat) if writer is not None and writer.file.caveat else None,
        rules=(*_own(metric.id, entry.key, config), *_rules(metric.id, entry.framework)),
        aliases=frameworks().aliases.get(metric.id, {}),
        titles={name: metrics[name].title for name in metric.check_next if name in metrics},
    )


def explained_entries(
    key: str, framework: str | None = None, config: Config | None = None
) -> list[GlossaryEntry]:
    """The possible meanings of `key`, the likeliest first; empty if no framework has such a name."""
    return [
        explained_entry(found._replace(key=key), config) for found in explain(key, framework, config=config)
    ]


def explained_entry_of_name(name: MetricName, config: Config | None = None) -> GlossaryEntry | None:
    """The explanation of a tag of a run; None if it is no known metric."""
    if name.metric is None:
        return None
    return explained_entry(entry_of(name, name.metric)._replace(framework=name.framework), config)


class FindingExplanation(NamedTuple):
    """The explanation of a finding, from its rule or symptom."""

    rule: Rule | Symptom

    @property
    def title(self) -> str:
        """The title of the finding, and its id."""
        return f"{self.rule.title} ({self.rule.id})"

    @property
    def _message(self) -> str:
        return re.sub(r"\{\w+\}", "…", self.rule.message)  # values are known for runs only

    @property
    def _metrics(self) -> tuple[str, ...]:
        return self.rule.metrics if isinstance(self.rule, Rule) else ()

    def parts(self) -> Iterator[tuple[str, str]]:
        """The parts below the title: a label, empty if it is continued, and a text."""
        yield "severity", self.rule.severity
        yield "says", self._message
        yield "do", self.rule.advice
        yield from listed("judges", map(with_title, self._metrics))
        yield from listed("check next", map(with_title, self.rule.check_next))
        yield "source", self.rule.source

    def as_json(self) -> dict[str, object]:
        """The JSON object; `kind` distinguishes it from that of a metric."""
        return {
            "kind": "finding",
            "id": self.rule.id,
            "title": self.rule.title,
            "severity": self.rule.severity,
            "meaning": self._message,
            "do": self.rule.advice,
            "metrics": list(self._metrics),
            "check_next": list(self.rule.check_next),
            "sources": [self.rule.source],
        }


def definition_of(words: str) -> Definition | None:
    """The term, problem or finding of this name; None if there is none."""
    return definitions().find(words) or finding_explanation(words)


def finding_explanation(words: str) -> FindingExplanation | None:
    """The explanation of a finding by its id or title; None if there is none."""
    wanted, book = plain(words), rulebook()
    shown: list[Rule | Symptom] = [rule for rule in book.rules.values() if rule.shown]
    for each in (*shown, *book.symptoms):
        if wanted in (plain(each.id), plain(each.title)):
            return FindingExplanation(each)
    return None


def _rules(canonical: str, framework: str | None) -> tuple[MetricRule, ...]:
    """The rules that judge a metric, without those for other frameworks if one is given."""
    rules = []
    for rule in rulebook().of_metric(canonical):
        elsewhere = framework is not None and not rule.applies.to(framework, "*", False, canonical)
        if rule.shown and not (elsewhere and (rule.applies.frameworks or rule.applies.frameworks_not)):
            held = f", for {rule.for_ticks} points" if rule.for_ticks > 1 else ""
            rules.append(MetricRule(rule.id, rule.severity, f"{rule.title or rule.kind}{held}"))
    return tuple(rules)


def _own(canonical: str, key: str, config: Config | None) -> tuple[MetricRule, ...]:
    """The user's own limits on a metric, by its id or by its key."""
    entries = config.thresholds if config is not None else ()
    limits = []
    for position, entry in enumerate(entries):
        if matches(entry.metric, canonical) or matches(entry.metric, key):
            held = f", for {entry.for_} points" if entry.for_ > 1 else ""
            when = f"{condition(entry)}{held} (your own limit)"
            limits.append(MetricRule(user_rule_id(entries, position), entry.severity, when))
    return tuple(limits)
