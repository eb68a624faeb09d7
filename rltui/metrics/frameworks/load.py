"""The framework files, checked, expanded and joined: `frameworks()`.

A framework is one TOML file in `data/`; its stem is its id. What is wrong in a file is told for all files at
once, and the faulty entry is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from rltui.batch import Problem
from rltui.data.toml_files import read_tables
from rltui.metrics.frameworks.model import Conventions, Entry, Framework, Resolved, Variant, Vote
from rltui.metrics.frameworks.patterns import Matcher, is_wild, wild_text
from rltui.metrics.frameworks.schema import build

DATA = Path(__file__).parents[2] / "data" / "frameworks"


@dataclass(frozen=True, eq=False)
class Frameworks:
    """All known frameworks. A framework's names are made into objects when it is first asked for."""

    _raw: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids in the order of their files."""
        return tuple(self._raw["frameworks"])

    @property
    def signs(self) -> Mapping[str, list[Any]]:
        """Telling names, with logger prefixes -> [framework, bare name, weight] for each it tells of."""
        found: Mapping[str, list[Any]] = self._raw["signs"]
        return found

    @cached_property
    def conventions(self) -> Conventions:
        """What holds across frameworks."""
        raw = self._raw["conventions"]
        return Conventions(
            held_out=tuple(raw["held_out"]),
            training=tuple(raw["training"]),
            validation=raw["validation"],
            units=raw["units"],
            kinds=frozenset(raw["kinds"]),
            statistics=raw["statistics"],
            sections=raw["sections"],
        )

    @cached_property
    def _made(self) -> dict[str, Framework]:
        return {}

    @cached_property
    def _labels(self) -> dict[str, tuple[str, str]]:
        """Every accepted spelling of a framework or variant -> (id, variant id or "")."""
        labels = {}
        for id_, raw in self._raw["frameworks"].items():
            for name in (id_, *raw["aliases"]):
                labels[_plain(name)] = (id_, "")
                for variant in raw["variants"]:
                    labels.setdefault(_plain(f"{name}-{variant['id']}"), (id_, variant["id"]))
        return labels

    def known(self, name: str) -> bool:
        """Whether it names a framework or a variant, in any spelling."""
        return _plain(name) in self._labels

    @property
    def labels(self) -> list[str]:
        """All labels as people read them."""
        return sorted(
            f"{id_}-{variant}".replace("_", "-").rstrip("-") for id_, variant in set(self._labels.values())
        )

    def get(self, name: str) -> Framework | None:
        """The framework or variant of that name: `prime_rl`, `prime-rl`, `trl-grpo`."""
        id_, variant = self._labels.get(_plain(name), ("", ""))
        return self._make(id_, variant) if id_ else None

    def __iter__(self) -> Any:
        return (self._make(id_, "") for id_ in self.ids)

    def _make(self, id_: str, variant: str) -> Framework:
        key = f"{id_}-{variant}"
        if key not in self._made:
            raw = self._raw["frameworks"][id_]
            variants = tuple(
                Variant(
                    each["id"],
                    each["title"],
                    tuple(each["any"]),
                    tuple(each["without"]),
                    {name: entry_of(entry) for name, entry in each["names"].items()},
                )
                for each in raw["variants"]
            )
            self._made[key] = Framework(
                id=id_,
                title=raw["title"],
                source=raw["source"],
                caveat=raw["caveat"],
                prefixes=tuple(raw["prefixes"]),
                held_out=tuple(raw["held_out"]),
                silent=frozenset(raw["silent"]),
                domains=raw["domains"],
                held_out_sets=raw["held_out_sets"],
                own=raw["own"],
                names={name: entry_of(entry) for name, entry in raw["names"].items()},
                variants=variants,
                must=tuple(tuple(group) for group in raw["must"]),
                without=tuple(raw["without"]),
                sections=raw["sections"],
                variant=next((each for each in variants if each.id == variant), None),
            )
        return self._made[key]

    # ---- the union of all, for runs of an unknown framework

    @cached_property
    def _votes(self) -> dict[int, Entry]:
        return {}

    @cached_property
    def _union(self) -> tuple[list[str], list[Any], Matcher]:
        raw = self._raw["union"]
        return list(raw), list(raw.values()), Matcher(list(raw))

    def vote(self, key: str, *, wild: bool = True) -> tuple[Resolved, Vote] | None:
        """What most frameworks mean by `key`; without `wild`, only names spelled out in some file count."""
        names, values, matcher = self._union
        index, part = matcher.exact(key), ""
        if index is None:
            found = matcher.wild(key) if wild else None
            if found is None:
                return None
            index, part = found.place, wild_text(found.pattern, found.wild)
        entry, ids, contested = values[index]
        made = self._votes.get(index)
        if made is None:
            made = self._votes[index] = entry_of(entry)
        return Resolved(made, names[index], part, False), Vote(made, ids, contested)

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """Every name that some framework writes, wildcards left out."""
        return tuple(name for name in self._raw["union"] if not is_wild(name))

    @cached_property
    def aliases(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Canonical id -> framework label -> its names, as their files have them."""
        found: dict[str, dict[str, list[str]]] = {}
        for id_, raw in self._raw["frameworks"].items():
            label = id_.replace("_", "-")
            for name, entry in list(raw["names"].items())[: raw["own"]]:
                canonical = entry if isinstance(entry, str) else entry["is"]
                found.setdefault(canonical, {}).setdefault(label, []).append(name)
        return found


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def entry_of(raw: str | dict[str, Any]) -> Entry:
    """An entry from its plain form."""
    if isinstance(raw, str):
        return Entry(raw)
    return Entry(
        raw["is"],
        raw.get("unit", ""),
        raw.get("scale"),
        raw.get("offset", 0.0),
        raw.get("statistic", ""),
        raw.get("caveat", ""),
        raw.get("older", False),
        raw.get("shared", True),
    )


def load(folder: Path) -> Frameworks:
    """The frameworks of a folder. Never raises for what the files hold."""
    problems: list[Problem] = []
    return Frameworks(build(read_tables(folder, problems), problems), tuple(problems))


@cache
def frameworks() -> Frameworks:
    """The shipped frameworks, loaded once. Their problems are for `doctor`; they are usable in any case."""
    return load(DATA)
