"""Explaining a key as any framework writes it, and suggestions for unknown keys."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from rltui.config import Config
from rltui.metrics.catalogue import Catalogue, catalogue
from rltui.metrics.definitions import definitions, plain
from rltui.metrics.frameworks.framework import Framework
from rltui.metrics.frameworks.framework_files import Frameworks
from rltui.metrics.frameworks.patterns import is_wild
from rltui.metrics.glossary_entry import GlossaryEntry
from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames
from rltui.schema.metric import Metric

MIN_LAST_PART = 5  # characters of a key without slashes that may be the last part of a name
MAX_SUGGESTIONS = 5


def explain(
    key: str,
    framework: str | None = None,
    shipped: Catalogue | None = None,
    config: Config | None = None,
) -> list[GlossaryEntry]:
    """All possible meanings of `key`, the most common first; empty for an unknown key.

    key: a name as any framework writes it, a canonical id, or a pattern (`clip_ratio/*`) whose members are
    explained. framework: id or label; only its names are considered. config: takes precedence.
    """
    known = shipped or catalogue()
    if config is not None:
        name = MetricNames(framework, config, known).name(key)
        if name.metric is not None and name.framework is None and not name.guessed:
            return [entry_of(name, name.metric)]
    metric = known.metrics.get(key)
    chosen = known.frameworks.get(framework) if framework is not None else None
    if chosen is not None:
        names = MetricNames(framework, shipped=known)
        for example in (_matching_key(key), key):
            if (entry := _meaning_in(chosen, example, names)) is not None:
                return [entry._replace(key=key, framework=chosen.label)]
    if metric is not None or framework is not None:
        return [GlossaryEntry(key, metric)] if metric is not None else []
    meanings = [
        entry
        for each in known.frameworks
        if (entry := _meaning_in(each, key, _metric_names(each.label, known), own_names=True)) is not None
    ]
    if not meanings and "*" in key:
        members = [name for name in known.frameworks.exact_names if fnmatchcase(name, key)]
        of_pattern = [entry._replace(key=key) for entry in explain(_matching_key(key), None, known)]
        of_members = [entry for name in members for entry in explain(name, None, known)]
        by_metric: dict[str, GlossaryEntry] = {}
        for entry in (*of_pattern, *of_members):
            by_metric.setdefault(entry.canonical, entry)
        return list(by_metric.values())
    exact = [entry for entry in meanings if not is_wild(entry.pattern)]
    specific = [entry for entry in meanings if entry.canonical not in known.conventions.kinds]
    grouped = _grouped(exact or specific or meanings, known.frameworks)
    return grouped or _by_last_part(key, known) or _with_slashes(key, known) or _by_words(key, known)


def entry_of(name: MetricName, metric: Metric) -> GlossaryEntry:
    """The meaning of a tag, which is this metric."""
    return GlossaryEntry(
        name.tag,
        metric,
        pane=name.pane,
        unit=name.unit,
        scale=name.scale,
        offset=name.offset,
        held_out=name.held_out,
        caveat=name.caveat,
    )


def _by_last_part(key: str, known: Catalogue) -> list[GlossaryEntry]:
    """The meaning of names that end with `/KEY`, if they all have the same."""
    if "/" in key or len(key) < MIN_LAST_PART:
        return []
    members = [name for name in known.frameworks.exact_names if name.endswith(f"/{key}")]
    found = [entry for name in members for entry in explain(name, None, known) if not entry.held_out]
    if len({entry.canonical for entry in found}) != 1:
        return []
    labels = tuple(dict.fromkeys(label for entry in found for label in entry.frameworks))
    return [found[0]._replace(key=key, framework=None, frameworks=labels, caveat="")]


def _with_slashes(key: str, known: Catalogue) -> list[GlossaryEntry]:
    """The meaning of a name whose slashes an exporting program or a file name wrote as `_` or `.`."""
    slashed = known.frameworks.with_slashes(key)
    return [] if slashed == key else [entry._replace(key=key) for entry in explain(slashed, None, known)]


def _by_words(key: str, known: Catalogue) -> list[GlossaryEntry]:
    """The metrics with an informal name: `value loss`, `KL penalty`, `grad norm`."""
    named = [known.metrics[id_] for id_ in definitions().metrics(key) if id_ in known.metrics]
    if named:
        return [GlossaryEntry(key, metric) for metric in named]
    spelled = plain(key).replace(" ", "_")
    return [entry._replace(key=key) for entry in explain(spelled, None, known)] if spelled != key else []


def _matching_key(pattern: str) -> str:
    """A key that matches a pattern: a digit matches every wildcard."""
    return pattern.replace("*", "7")


@cache
def _metric_names(label: str, shipped: Catalogue) -> MetricNames:
    return MetricNames(label, shipped=shipped)


def _meaning_in(
    framework: Framework, key: str, names: MetricNames, *, own_names: bool = False
) -> GlossaryEntry | None:
    """The meaning of the key in a framework; with `own_names`, only names in its own file are considered."""
    found = framework.find(key)
    if found is None or (own_names and not framework.owns(found.pattern)):
        return None
    name = names.name(key)
    if name.metric is None or name.guessed:
        return None
    entry = entry_of(name, name.metric)
    return entry._replace(frameworks=(framework.label,), pattern=found.pattern, older=found.entry.older)


def _grouped(found: Sequence[GlossaryEntry], known: Frameworks) -> list[GlossaryEntry]:
    """One entry for all frameworks with the same meaning, the most common meaning first."""
    meanings: dict[tuple[object, ...], list[GlossaryEntry]] = {}
    for entry in found:
        meaning = (entry.canonical, entry.unit, entry.scale, entry.offset, entry.held_out)
        meanings.setdefault(meaning, []).append(entry)
    grouped = []
    for group in meanings.values():
        labels = tuple(label for entry in group for label in entry.frameworks)
        form = "{0}: {1}" if len(labels) > 1 else "{1}"
        caveats = [form.format(entry.frameworks[0], entry.caveat) for entry in group if entry.caveat]
        grouped.append(
            group[0]._replace(
                framework=labels[0] if len(labels) == 1 else None,
                frameworks=labels,
                caveat=" ".join(caveats),
                older=all(entry.older for entry in group),
            )
        )
    return sorted(
        grouped,
        key=lambda entry: (-len(entry.frameworks), entry.older, min(map(known.popularity, entry.frameworks))),
    )


def nearest(key: str) -> list[str]:
    """Names, canonical ids, titles, terms and problems that are similar to `key`, the most similar first."""
    from difflib import get_close_matches  # only needed for unknown keys

    known = catalogue()
    names: dict[str, str] = {}
    for name in (*known.metrics, *known.frameworks.exact_names, *definitions().phrases()):
        names.setdefault(plain(name), name)
    wanted = plain(key)
    close = get_close_matches(wanted, names, MAX_SUGGESTIONS, 0.6)
    last = wanted.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    if len(close) < MAX_SUGGESTIONS and len(last) > 3:
        close += [name for name in names if last in name and name not in close]
    return [names[name] for name in close[:MAX_SUGGESTIONS]]
