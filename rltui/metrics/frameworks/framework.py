"""A training framework: its names and the metrics that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.frameworks.framework_schema import FrameworkFile, VariantTable
from rltui.metrics.frameworks.patterns import Matcher, is_wild, literal_head
from rltui.schema.metric import NameTarget


class Variant(NamedTuple):
    """A trainer of a framework, and the names that differ from those of the others, expanded."""

    table: VariantTable
    names: Mapping[str, NameTarget]

    @property
    def id(self) -> str:
        """The end of the label: `grpo` of `trl-grpo`."""
        return self.table.id


class Resolved(NamedTuple):
    """The meaning of a key."""

    entry: NameTarget
    pattern: str  # in the framework's file, expanded
    part: str  # the text matched by wildcards
    held_out: bool  # whether the key is an evaluation prefix followed by a name of training


@dataclass(frozen=True, eq=False)
class Framework:
    """The names of a framework or variant. names: expanded patterns, those of `extends` after its own."""

    id: str
    file: FrameworkFile
    own: frozenset[str]  # the names in its own file
    names: Mapping[str, NameTarget]
    variants: tuple[Variant, ...]
    variant: Variant | None = None

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """Prefixes that loggers add to names, longest first, mostly including ""."""
        return tuple(sorted(self.file.prefixes, key=len, reverse=True))

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Prefixes of evaluation, longest first."""
        return tuple(sorted(self.file.held_out, key=len, reverse=True))

    @property
    def title(self) -> str:
        """The title of the framework."""
        return self.file.title or self.id

    @property
    def label(self) -> str:
        """The name for display and options: `prime-rl`, `trl-grpo`."""
        name = self.id.replace("_", "-")
        return f"{name}-{self.variant.id}" if self.variant else name

    @cached_property
    def _all_names(self) -> Mapping[str, NameTarget]:
        return {**self.names, **(self.variant.names if self.variant else {})}

    @cached_property
    def _matcher(self) -> Matcher[NameTarget]:
        return Matcher(self._all_names)

    @cached_property
    def _heads(self) -> frozenset[str] | None:
        """First parts of all names; None if they may occur within a part of a key, or have wildcards."""
        prefixes = (*self.prefixes, *self.held_out)
        heads = frozenset(name.split("/", 1)[0] for name in self._all_names)
        whole = all(prefix.endswith("/") for prefix in prefixes if prefix) and not self.file.held_out_sets
        return None if not whole or any(map(is_wild, heads)) else heads

    def find(self, key: str) -> Resolved | None:
        """The meaning of `key`, or None if the framework writes no such name."""
        heads = self._heads  # a fast path: unknown keys are looked up in several frameworks
        if heads is not None and heads.isdisjoint(key.split("/")):
            return None
        found = self._find_name(key)
        if found is not None:
            return found
        if not self.is_held_out(key):
            return self._find_after_domain(key) if self.file.domains else None
        for name in dict.fromkeys((key, self.bare(key))):
            for prefix in self.held_out:
                if name.startswith(prefix) and len(name) > len(prefix):
                    return self._find_held_out(name[len(prefix) :])
        return None

    def owns(self, pattern: str) -> bool:
        """Whether a name is in its own file, not in that of a framework that it extends."""
        return pattern in self.own or bool(self.variant and pattern in self.variant.names)

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """By first part of names, the first part of the canonical ids of at least two thirds of them."""
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

    def _find_name(self, key: str) -> Resolved | None:
        matcher = self._matcher
        bares = (
            (key,)
            if self.prefixes == ("",)
            else [key[len(prefix) :] for prefix in self.prefixes if key.startswith(prefix)]
        )
        for bare in bares:
            entry = matcher.exact(bare)
            if entry is not None:
                return Resolved(entry, bare, "", False)
        for bare in bares:
            found = matcher.wild(bare)
            # Wildcards of training names do not match evaluation prefixes.
            if found is not None and (
                literal_head(found.pattern).startswith(self.held_out) or not self.is_held_out(key)
            ):
                part = found.part
                if self.file.silent and part:
                    part = " ".join([word for word in part.split(" ") if word not in self.file.silent])
                return Resolved(found.target, found.pattern, part, False)
        return None

    def _find_after_domain(self, key: str) -> Resolved | None:
        domain, slash, rest = key.partition("/")
        found = self._find_name(rest) if domain and slash else None
        return found._replace(part=f"{domain} {found.part}".rstrip()) if found is not None else None

    def _find_held_out(self, rest: str) -> Resolved | None:
        """The meaning of an evaluation key, without its prefix, that repeats a name of training."""
        found = self._find_name(rest) or (self._find_after_domain(rest) if self.file.domains else None)
        if found is not None:
            return found._replace(held_out=True)
        at = rest.find("_") if self.file.held_out_sets else -1
        while at > 0:
            found = self._find_name(rest[at + 1 :])
            if found is not None:
                part = f"{rest[:at]} {found.part}".rstrip()
                return found._replace(held_out=True, part=part)
            at = rest.find("_", at + 1)
        return None


class Vote(NamedTuple):
    """The meaning of a name in most frameworks."""

    entry: NameTarget
    frameworks: Sequence[str]  # ids of those with this meaning
    contested: bool  # whether others have another meaning
