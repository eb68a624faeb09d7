"""A training framework as rltui knows it: how to recognise it, and where each of its names leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.metrics.frameworks.framework_schema import FrameworkFile
from rltui.metrics.frameworks.patterns import Matcher, is_wild, literal_head, wild_text
from rltui.schema.metric import NameTarget


@dataclass(frozen=True, slots=True)
class Variant:
    """A trainer of a framework with a log of its own look: `trl-grpo`."""

    id: str
    title: str
    any: tuple[str, ...]  # names (without logger prefix) of which at least one is there
    without: tuple[str, ...] = ()
    names: Mapping[str, NameTarget] = field(default_factory=dict)


class Resolved(NamedTuple):
    """What a framework says of a key."""

    entry: NameTarget
    pattern: str  # as the framework's file has it, expanded
    part: str  # what the wildcards stood for
    held_out: bool  # an evaluation prefix stood before a name of training


@dataclass(frozen=True, eq=False)
class Framework:
    """One framework's names. `names` are expanded patterns with those of `extends` behind its own."""

    id: str
    file: FrameworkFile
    own: frozenset[str]  # the names of its own file; the others are those of `extends`
    names: Mapping[str, NameTarget]
    variants: tuple[Variant, ...]
    variant: Variant | None = None

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """What loggers put in front of a name, longest first, mostly with ""."""
        return tuple(sorted(self.file.prefixes, key=len, reverse=True))

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Prefixes of evaluation, longest first."""
        return tuple(sorted(self.file.held_out, key=len, reverse=True))

    @property
    def title(self) -> str:
        """As people call it."""
        return self.file.title or self.id

    @property
    def label(self) -> str:
        """As people read it: `prime-rl`, `trl-grpo`."""
        name = self.id.replace("_", "-")
        return f"{name}-{self.variant.id}" if self.variant else name

    @cached_property
    def _table(self) -> tuple[list[str], list[NameTarget], Matcher]:
        names = {**self.names, **(self.variant.names if self.variant else {})}
        return list(names), list(names.values()), Matcher(list(names))

    @cached_property
    def _heads(self) -> frozenset[str] | None:
        """First parts of all names; None where these may begin within a part of a key, or with a wildcard."""
        before = (*self.prefixes, *self.held_out)
        heads = frozenset(name.split("/", 1)[0] for name in self._table[0])
        whole = all(prefix.endswith("/") for prefix in before if prefix) and not self.file.held_out_sets
        return None if not whole or any(map(is_wild, heads)) else heads

    def find(self, key: str) -> Resolved | None:
        """What the framework means by `key`, or None where it never wrote such a name."""
        heads = self._heads  # every unknown key comes here, for several frameworks
        if heads is not None and heads.isdisjoint(key.split("/")):
            return None
        found = self._plain(key)
        if found is not None:
            return found
        if not self.is_held_out(key):
            return self._of_domain(key) if self.file.domains else None
        for name in dict.fromkeys((key, self.bare(key))):
            for prefix in self.held_out:
                if name.startswith(prefix) and len(name) > len(prefix):
                    return self._underlying(name[len(prefix) :])
        return None

    def owns(self, pattern: str) -> bool:
        """Whether a name is of its own file (or its variant's), not of one that it extends."""
        return pattern in self.own or bool(self.variant and pattern in self.variant.names)

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """First part of names -> first part of the canonical ids that two in three of them lead to."""
        areas: dict[str, Counter[str]] = {}
        for name, entry in self.names.items():
            section, slash, _ = name.partition("/")
            if slash and not is_wild(section):
                areas.setdefault(section, Counter())[entry.canonical.split(".", 1)[0]] += 1
        most = {section: count.most_common(1)[0] for section, count in areas.items()}
        return {
            section: area
            for section, (area, count) in most.items()
            if count * 3 >= areas[section].total() * 2
        }

    def bare(self, key: str) -> str:
        """The key without the logger's prefix."""
        for prefix in self.prefixes:
            if prefix and key.startswith(prefix) and len(key) > len(prefix):
                return key[len(prefix) :]
        return key

    def is_held_out(self, key: str) -> bool:
        """Whether the key has an evaluation prefix."""
        if not self.held_out:
            return False
        if key.startswith(self.held_out):
            return True
        bare = self.bare(key)
        return bare is not key and bare.startswith(self.held_out)

    def _plain(self, key: str) -> Resolved | None:
        names, entries, matcher = self._table
        bares = (
            (key,)
            if self.prefixes == ("",)
            else [key[len(prefix) :] for prefix in self.prefixes if key.startswith(prefix)]
        )
        for bare in bares:
            index = matcher.exact(bare)
            if index is not None:
                return Resolved(entries[index], names[index], "", False)
        for bare in bares:
            found = matcher.wild(bare)
            # A wildcard of training never reaches over evaluation.
            if found is not None and (
                literal_head(found.pattern).startswith(self.held_out) or not self.is_held_out(key)
            ):
                part = wild_text(found.pattern, found.wild)
                if self.file.silent and part:
                    part = " ".join([word for word in part.split(" ") if word not in self.file.silent])
                return Resolved(entries[found.place], found.pattern, part, False)
        return None

    def _of_domain(self, key: str) -> Resolved | None:
        """A name behind the word of a domain."""
        domain, slash, rest = key.partition("/")
        found = self._plain(rest) if domain and slash else None
        return found._replace(part=f"{domain} {found.part}".rstrip()) if found is not None else None

    def _underlying(self, rest: str) -> Resolved | None:
        """An evaluation key without its prefix, read as the name of training that it repeats."""
        found = self._plain(rest) or (self._of_domain(rest) if self.file.domains else None)
        if found is not None:
            return found._replace(held_out=True)
        at = rest.find("_") if self.file.held_out_sets else -1
        while at > 0:
            found = self._plain(rest[at + 1 :])
            if found is not None:
                part = f"{rest[:at]} {found.part}".rstrip()
                return found._replace(held_out=True, part=part)
            at = rest.find("_", at + 1)
        return None


class Vote(NamedTuple):
    """What most frameworks mean by a name."""

    entry: NameTarget
    frameworks: Sequence[str]
    contested: bool
