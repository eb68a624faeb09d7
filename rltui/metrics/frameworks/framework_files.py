"""Loading the files of frameworks: `frameworks()`.

All files are read, since any framework may have written a run; the names of a framework are expanded on first
use. Invalid entries are omitted and reported in `Frameworks.problems`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from rltui.common.problem import Problem
from rltui.metrics.frameworks.framework import Framework, Resolved, Variant, Vote
from rltui.metrics.frameworks.framework_schema import (
    Conventions,
    FrameworkFile,
    WordTable,
    expand_names,
    expand_pattern,
    with_copies,
)
from rltui.metrics.frameworks.name_words import NameWords
from rltui.metrics.frameworks.patterns import (
    Matcher,
    ambiguous,
    filled,
    is_wild,
    literal_head,
    literal_tail,
    specificity,
    to_regex,
)
from rltui.schema.fields import table_of
from rltui.schema.metric import NameTarget
from rltui.schema.toml_files import DATA, FileReport, read_folder
from rltui.schema.value_cache import cached_value

SHARED = "shared_names"  # the folder of names that runs of any framework may have
GENERIC = "glossary"  # the file of names that custom training loops use
Sign = tuple[str, str, float]  # framework id, name without logger prefix, points


class Frameworks:
    """The frameworks of a folder, and the conventions for all of them."""

    def __init__(self, folder: Path) -> None:
        self._problems: list[Problem] = []
        self._reports: dict[str, FileReport] = {}
        self._files: dict[str, FrameworkFile] = {}
        self.conventions = Conventions()
        self.words = NameWords(WordTable(), {})
        files = list(read_folder(folder, self._problems, "framework-data"))
        if (folder / SHARED).is_dir():
            files += read_folder(folder / SHARED, self._problems, "framework-data")
        framework = table_of(FrameworkFile)
        for stem, table, report in sorted(files, key=lambda file: file[0]):
            if stem == "conventions":
                self.conventions = report.check(table, table_of(Conventions)) or self.conventions
            elif stem == "words":
                words = report.check(table, table_of(WordTable)) or WordTable()
                self.words = NameWords(words, expand_names(words.names, ("names",), report.fault))
            else:
                self._reports[stem] = report
                self._files[stem] = report.check(table, framework) or FrameworkFile()
        self._own: dict[str, dict[str, NameTarget]] = {}  # expanded names of each file
        self._frameworks: dict[tuple[str, str], Framework] = {}

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the files. Expands the names of all frameworks."""
        for framework in self:
            names = framework.names
            for one, other in ambiguous([name for name in names if is_wild(name)]):
                if names[one] != names[other]:
                    message = f"'{one}' and '{other}' can match one name and neither is more specific"
                    self._reports[framework.id].fault(("names",), message)
        len(self.signs)  # expands their patterns
        return tuple(dict.fromkeys(self._problems))

    @cached_property
    def _labels(self) -> dict[str, tuple[str, str]]:
        """Every normalised name of a framework or variant -> (id, variant id or "")."""
        labels = {}
        for id_, file in self._files.items():
            for name in (id_, *file.aliases):
                labels[_normalised(name)] = (id_, "")
                for variant in file.variant:
                    labels.setdefault(_normalised(f"{name}-{variant.id}"), (id_, variant.id))
        return labels

    @property
    def labels(self) -> list[str]:
        """The labels of all frameworks and variants, sorted."""
        return sorted(
            f"{id_}-{variant}".replace("_", "-").rstrip("-") for id_, variant in set(self._labels.values())
        )

    def get(self, name: str) -> Framework | None:
        """The framework or variant of a name in any spelling: `prime_rl`, `prime-rl`, `trl-grpo`."""
        id_, variant = self._labels.get(_normalised(name), ("", ""))
        return self.framework(id_, variant) if id_ else None

    def popularity(self, label: str) -> float:
        """The rank of a framework by popularity, from 1; infinity if it has none."""
        file = self._files.get(self._labels.get(_normalised(label), ("", ""))[0])
        return math.inf if file is None or file.popularity is None else file.popularity

    def __iter__(self) -> Iterator[Framework]:
        return (self.framework(id_) for id_ in self._files)

    @cached_property
    def used_in_any_run(self) -> tuple[Framework, ...]:
        """Those whose names also apply to runs of other frameworks, after that framework's own names."""
        return tuple(self.framework(id_) for id_, file in self._files.items() if file.beside)

    def framework(self, id_: str, variant: str = "") -> Framework:
        """A framework or variant by id."""
        if (id_, variant) not in self._frameworks:
            file, own = self._files[id_], self._own_names(id_)
            report = self._reports[id_].fault
            variants = tuple(
                Variant(
                    each,
                    with_copies(own, each.copies)
                    | expand_names(each.names, ("variant", index, "names"), report),
                )
                for index, each in enumerate(file.variant)
            )
            self._frameworks[id_, variant] = Framework(
                id_,
                file,
                frozenset(own),
                self._names(id_, ()),
                variants,
                next((each for each in variants if each.id == variant), None),
            )
        return self._frameworks[id_, variant]

    def _own_names(self, id_: str) -> dict[str, NameTarget]:
        """The names in a framework's own file."""
        if id_ not in self._own:
            file, report = self._files[id_], self._reports[id_].fault
            names = expand_names(file.names, ("names",), report)
            for name, entry in expand_names(file.older, ("older",), report, older=True).items():
                if name in names:
                    report(("older",), f'has "{name}", which is in [names] as well')
                names.setdefault(name, entry)
            self._own[id_] = with_copies(names, file.copies) | names
        return self._own[id_]

    def _names(self, id_: str, extended_by: tuple[str, ...]) -> dict[str, NameTarget]:
        """The names of a framework, followed by those of the frameworks that it extends."""
        names = dict(self._own_names(id_))
        for parent in self._files[id_].extends:
            if parent not in self._files or parent in (id_, *extended_by):
                message = "itself" if parent in self._files else "no framework here"
                self._reports[id_].fault(("extends",), f"has '{parent}', which is {message}")
                continue
            for name, entry in self._names(parent, (id_, *extended_by)).items():
                names.setdefault(name, entry)
        return names

    def with_indexes(self) -> Frameworks:
        """The same object after computing the indexes over all frameworks, so that they are cached with it.

        A log with a key that its framework does not write needs them: 3 instead of 17 ms. The names of
        individual frameworks are not cached, since a run needs those of few.
        """
        len(self.signs), len(self.wild_signs)
        len(self._exact), self._wild, len(self._flat), len(self._flat_inside)
        self._own.clear()
        return self

    @cached_property
    def signs(self) -> Mapping[str, list[Sign]]:
        """Each sign, with every logger prefix -> the frameworks that it indicates."""
        index: dict[str, list[Sign]] = {}
        for id_, file in self._files.items():
            table, report = file.recognise, self._reports[id_].fault
            points = dict.fromkeys((*table.without, *(name for group in table.must for name in group)), 0.0)
            for pattern, weight in table.signs.items():
                path = ("recognise", "signs", pattern)
                points |= {name: weight for name, _ in expand_pattern(pattern, "", path, report)}
            for name, weight in points.items():
                for prefix in file.prefixes:
                    index.setdefault(prefix + name, []).append((id_, name, weight))
        return index

    @cached_property
    def wild_signs(self) -> Mapping[str, list[tuple[str, str, str]]]:
        """Signs with wildcards, by their first part, "" if it has a wildcard.

        Each is (head, tail, sign): most keys can be excluded by their head and tail.
        """
        index: dict[str, list[tuple[str, str, str]]] = {}
        for name in filter(is_wild, self.signs):
            first = name.split("/", 1)[0]
            sign = literal_head(name), literal_tail(name), name
            index.setdefault("" if is_wild(first) else first, []).append(sign)
        return index

    # ---- the names of all frameworks, for runs of an unknown framework

    def _shared(self, *, wild: bool) -> Iterator[tuple[str, str, NameTarget]]:
        """Framework, name without logger prefix, and target of all names with (or without) wildcards."""
        for id_ in self._files:
            for name, entry in self._own_names(id_).items():
                # A pattern for all other keys of a framework says nothing about those of other frameworks.
                is_rest = name.endswith("/**") and (
                    name.count("/") == 1 or entry.canonical in self.conventions.kinds
                )
                if is_wild(name) == wild and entry.shared and not is_rest:
                    bare = entry._replace(caveat="", older=False) if entry.caveat or entry.older else entry
                    yield id_, name, bare

    @cached_property
    def _exact(self) -> Mapping[str, list[tuple[str, NameTarget]]]:
        """Each name without wildcards and logger prefix -> the frameworks that write it."""
        index: dict[str, list[tuple[str, NameTarget]]] = {}
        same: dict[NameTarget, NameTarget] = {}  # equal entries are shared: loads in a fifth of the time
        for id_, name, entry in self._shared(wild=False):
            index.setdefault(name, []).append((id_, same.setdefault(entry, entry)))
        return index

    @cached_property
    def _prefixes(self) -> Mapping[str, frozenset[str]]:
        """Each logger prefix -> the frameworks that write it."""
        prefixes = {prefix for file in self._files.values() for prefix in file.prefixes}
        return {
            prefix: frozenset(id_ for id_, file in self._files.items() if prefix in file.prefixes)
            for prefix in prefixes
        }

    @cached_property
    def _prefix_texts(self) -> tuple[str, ...]:
        """The non-empty logger prefixes."""
        return tuple(filter(None, self._prefixes))

    @cached_property
    def _wild(self) -> Matcher[Vote]:
        """The votes on all names with wildcards, with logger prefixes."""
        meanings: dict[str, list[tuple[str, NameTarget]]] = {}
        for id_, name, entry in self._shared(wild=True):
            for prefix in self._files[id_].prefixes:
                meanings.setdefault(prefix + name, []).append((id_, entry))
        votes = {name: _vote(name, found) for name, found in meanings.items()}
        for one, other in ambiguous(list(votes)):
            if one in votes:  # two frameworks write the pattern differently; the first one wins
                votes.pop(other, None)
        return Matcher(votes)

    def vote(self, key: str, *, wild: bool = True) -> tuple[Resolved, Vote] | None:
        """The meaning of `key` in most frameworks; without `wild`, patterns are not considered."""
        prefixes = self._prefixes if key.startswith(self._prefix_texts) else ("",)
        found = [
            (id_, entry)
            for prefix in prefixes
            if key.startswith(prefix)
            for id_, entry in self._exact.get(key[len(prefix) :], ())
            if id_ in self._prefixes[prefix]
        ]
        if found:
            order = list(self._files).index
            vote = _vote(key, sorted(found, key=lambda item: order(item[0])))
            return Resolved(vote.entry, key, "", False), vote
        if not wild:
            return None
        match = self._wild.wild(key)
        if match is None:
            return None
        return Resolved(match.target.entry, match.pattern, match.part, False), match.target

    @cached_property
    def _flat(self) -> Mapping[str, str]:
        """Names with slashes replaced by `_` -> the names; `timing_s_` -> `timing_s/` for all keys below it.

        Ambiguous ones are omitted.
        """
        found: dict[str, dict[str, str]] = {}  # flat name -> canonical id -> name
        for id_ in self._files:
            for name, entry in self._own_names(id_).items():
                if is_wild(name):
                    name = name.removesuffix("**").removesuffix("*")
                if "/" in name and not is_wild(name):
                    found.setdefault(flat(name), {}).setdefault(entry.canonical, name)
        return {
            flat_name: next(iter(names.values()))
            for flat_name, names in found.items()
            if len({*names.values()}) == 1
        }

    @cached_property
    def _flat_inside(self) -> Mapping[str, list[tuple[str, str, str]]]:
        """Patterns with slashes around a wildcard, most specific first, by the first word of the flat name.

        Each is (flat head, flat tail, pattern): most keys can be excluded by their head and tail.
        """
        found: dict[str, list[str]] = {}
        for id_ in self._files:
            for name in self._own_names(id_):
                head = literal_head(name)
                if head.endswith("/") and is_wild(name) and not name.rpartition("/")[2].startswith("*"):
                    found.setdefault(flat(head).partition("_")[0], []).append(name)
        return {
            first: [
                (flat(literal_head(name)), flat(literal_tail(name)), name)
                for name in sorted(dict.fromkeys(names), key=specificity, reverse=True)
            ]
            for first, names in found.items()
        }

    def with_slashes(self, key: str) -> str:
        """A key with the slashes that an exporting program wrote as `_` or `.`; other keys unchanged."""
        if "/" in key or ("_" not in key and "." not in key) or key in self._exact or key in self.signs:
            return key
        flat_key, known = flat(key), self._flat
        if (name := known.get(flat_key)) is not None:
            return name
        for head, tail, pattern in self._flat_inside.get(flat_key.partition("_")[0], ()):
            if not (flat_key.startswith(head) and flat_key.endswith(tail)):
                continue
            if match := _flat_regex(pattern).fullmatch(flat_key):
                return filled(
                    pattern, [key[match.start(at) : match.end(at)] for at in range(1, match.re.groups + 1)]
                )
        end = len(flat_key)
        while (end := flat_key.rfind("_", 0, end)) > 0:
            if (name := known.get(flat_key[: end + 1])) is not None:
                return name + key[end + 1 :]
        return key

    def find(self, framework: Framework, key: str) -> Resolved | None:
        """The meaning of a key in a framework, with or without its slashes."""
        found = framework.find(key)
        return found if found or (name := self.with_slashes(key)) is key else framework.find(name)

    @cached_property
    def exact_names(self) -> tuple[str, ...]:
        """All names without wildcards, with every logger prefix."""
        shared = self._shared(wild=False)
        return tuple(
            dict.fromkeys(prefix + name for id_, name, _ in shared for prefix in self._files[id_].prefixes)
        )

    @cached_property
    def aliases(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Canonical id -> framework label -> names and patterns in its file."""
        found: dict[str, dict[str, list[str]]] = {}
        for id_ in self._files:
            label = id_.replace("_", "-")
            for name, entry in self._own_names(id_).items():
                found.setdefault(entry.canonical, {}).setdefault(label, []).append(name)
        return found


def _vote(name: str, meanings: Iterable[tuple[str, NameTarget]]) -> Vote:
    """The most frequent meaning of a name. meanings: framework id and target, in the order of the files."""
    found: dict[NameTarget, list[str]] = {}
    for id_, entry in meanings:
        found.setdefault(entry, []).append(id_)
    # A name without slashes is more likely from a custom training loop than from any framework.
    plain = "/" not in name
    entry = max(found, key=lambda entry: (plain and GENERIC in found[entry], len(found[entry])))
    return Vote(entry, found[entry], len(found) > 1)


@cache
def _flat_regex(pattern: str) -> re.Pattern[str]:
    return re.compile(to_regex(flat(pattern)))


def flat(name: str) -> str:
    """A name as in tables and databases that permit no slashes: `actor/pg_loss` as `actor_pg_loss`."""
    return name.replace("/", "_").replace(".", "_")


def _normalised(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


@cache
def frameworks() -> Frameworks:
    """The shipped frameworks. `doctor` reports their problems; they are usable in any case."""
    folder, here = DATA / "frameworks", Path(__file__).parent
    sources = (folder, folder / SHARED, DATA, here, here.parent)
    return cached_value(folder, sources, lambda: Frameworks(folder).with_indexes())
