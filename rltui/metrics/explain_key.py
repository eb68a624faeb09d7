"""What a key means, asked by any framework's name for it, and what was meant where nobody writes it."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from rltui.config import Config
from rltui.metrics.catalogue import Catalogue, catalogue
from rltui.metrics.definitions import definitions, plain
from rltui.metrics.frameworks.load import Frameworks
from rltui.metrics.frameworks.model import Framework
from rltui.metrics.frameworks.patterns import is_wild
from rltui.metrics.glossary_entry import GlossaryEntry
from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames

MIN_LAST_PART = 5  # characters of a bare name that is looked for behind sections
NEAREST = 5  # names that are offered for one that is not known


def explain(
    key: str,
    framework: str | None = None,
    shipped: Catalogue | None = None,
    config: Config | None = None,
) -> list[GlossaryEntry]:
    """All that `key` may mean, what most frameworks mean first; empty where nobody writes such a name.

    `key` is a name as any framework writes it, a canonical id, or a family of names (`clip_ratio/*`), of
    which each member is explained. `framework` (id or label) decides between frameworks: its word alone
    counts then. What the user's `config` says of the key comes before all.
    """
    known = shipped or catalogue()
    if config is not None:
        name = MetricNames(framework, config, known).name(key)
        if name.metric is not None and name.framework is None and not name.guessed:
            return [GlossaryEntry(key, name.metric, pane=name.pane, unit=name.unit, caveat=name.caveat)]
    metric = known.metrics.get(key)
    chosen = known.frameworks.get(framework) if framework is not None else None
    if chosen is not None:
        names = MetricNames(framework, shipped=known)
        for sample in (_sample(key), key):
            if (found := _explained_by(chosen, sample, names)) is not None:
                return [found._replace(key=key, framework=chosen.label)]
    if metric is not None or framework is not None:
        return [GlossaryEntry(key, metric)] if metric is not None else []
    meanings = [
        meaning
        for each in known.frameworks
        if (meaning := _explained_by(each, key, _names(each.label, known), own_names=True)) is not None
    ]
    if not meanings and "*" in key:
        members = [name for name in known.frameworks.spelled if fnmatchcase(name, key)]
        found_by_pattern = [each._replace(key=key) for each in explain(_sample(key), None, known)]
        found_members = [each for name in members for each in explain(name, None, known)]
        by_metric: dict[str, GlossaryEntry] = {}
        for each in (*found_by_pattern, *found_members):
            by_metric.setdefault(each.canonical, each)
        return list(by_metric.values())
    exact = [each for each in meanings if not is_wild(each.pattern)]
    specific = [each for each in meanings if each.canonical not in known.conventions.kinds]
    written = _grouped(exact or specific or meanings, known.frameworks)
    return written or _by_last_part(key, known) or _by_words(key, known)


def _by_last_part(key: str, known: Catalogue) -> list[GlossaryEntry]:
    """What a name means that frameworks write with a section in front, where they mean one thing by it."""
    if "/" in key or len(key) < MIN_LAST_PART:
        return []
    members = [name for name in known.frameworks.spelled if name.endswith(f"/{key}")]
    found = [each for name in members for each in explain(name, None, known) if not each.held_out]
    if len({each.canonical for each in found}) != 1:
        return []
    labels = tuple(dict.fromkeys(label for each in found for label in each.frameworks))
    return [found[0]._replace(key=key, framework=None, frameworks=labels, caveat="")]


def _by_words(key: str, known: Catalogue) -> list[GlossaryEntry]:
    """What people mean by words of theirs: `value loss`, `KL penalty`, `grad norm`."""
    named = [known.metrics[id_] for id_ in definitions().metrics(key) if id_ in known.metrics]
    if named:
        return [GlossaryEntry(key, metric) for metric in named]
    written = plain(key).replace(" ", "_")
    return [each._replace(key=key) for each in explain(written, None, known)] if written != key else []


def _sample(key: str) -> str:
    """A name that a run could write for a family: a digit fits every wildcard."""
    return key.replace("*", "7")


@cache
def _names(label: str, shipped: Catalogue) -> MetricNames:
    return MetricNames(label, shipped=shipped)


def _explained_by(
    framework: Framework, key: str, names: MetricNames, *, own_names: bool = False
) -> GlossaryEntry | None:
    """What one framework means by the key; with `own_names`, only by names of its own file."""
    found = framework.find(key)
    if found is None or (own_names and not framework.owns(found.pattern)):
        return None
    name: MetricName = names.name(key)
    if name.metric is None or name.guessed:
        return None
    return GlossaryEntry(
        key=key,
        metric=name.metric,
        frameworks=(framework.label,),
        pattern=found.pattern,
        pane=name.pane,
        unit=name.unit,
        held_out=name.held_out,
        older=found.entry.older,
        caveat=name.caveat,
        scale=name.scale,
        offset=name.offset,
    )


def _grouped(found: Sequence[GlossaryEntry], known: Frameworks) -> list[GlossaryEntry]:
    """Frameworks that mean the same as one explanation, the meaning of the most first."""
    meanings: dict[tuple[object, ...], list[GlossaryEntry]] = {}
    for each in found:
        meaning = (each.canonical, each.unit, each.scale, each.offset, each.held_out)
        meanings.setdefault(meaning, []).append(each)
    grouped = []
    for group in meanings.values():
        labels = tuple(label for each in group for label in each.frameworks)
        whose = "{0}: {1}" if len(labels) > 1 else "{1}"
        caveats = [whose.format(each.frameworks[0], each.caveat) for each in group if each.caveat]
        grouped.append(
            group[0]._replace(
                framework=labels[0] if len(labels) == 1 else None,
                frameworks=labels,
                caveat=" ".join(caveats),
                older=all(each.older for each in group),
            )
        )
    return sorted(
        grouped,
        key=lambda each: (-len(each.frameworks), each.older, min(map(known.popularity, each.frameworks))),
    )


def nearest(key: str) -> list[str]:
    """Names, canonical ids, titles, terms and problems that look like `key`, the likeliest first."""
    known = catalogue()
    words: dict[str, str] = {}
    for word in (*known.metrics, *known.frameworks.spelled, *definitions().phrases()):
        words.setdefault(plain(word), word)
    import difflib  # for the lost only

    asked = plain(key)
    near = difflib.get_close_matches(asked, words, NEAREST, 0.6)
    last = asked.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
    if len(near) < NEAREST and len(last) > 3:
        near += [word for word in words if last in word and word not in near]
    return [words[word] for word in near[:NEAREST]]
