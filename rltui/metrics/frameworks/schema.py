"""From the tables of framework files to plain data that survive a cache, with everything wrong told.

A file of `data/` is one framework; its stem is its id. All keys but `title` may be left out:

    title = "Zork"                      # as people call it
    source = "zork/zork @ 1dda039"      # what was read, and which version
    caveat = "..."                      # what a reader of any of its metrics should know
    aliases = ["zk"]                    # other names that users may call it by
    prefixes = ["train/", ""]           # what its loggers put in front of a name; default [""]
    held_out = ["eval/"]                # prefixes of evaluation: never taken for training
    held_out_sets = true                # data sets stand between: eval_math_loss
    domains = true                      # names repeat behind a domain: math/critic/score/mean
    silent = ["default_policy"]         # words for wildcards that say nothing
    extends = ["transformers"]          # its names count too, behind the file's own

    [recognise]                         # how a run is known as this framework's
    must = ["a/b", ["c", "d"]]          # at least one of these (a list: all of it) is there
    without = ["e"]                     # none of these is
    [recognise.signs]
    "a/{b,c}" = 1                       # names that tell it: each point halves the doubt

    [[variant]]                         # a trainer with a label of its own: zork-grpo
    id = "grpo"
    any = ["x"]                         # the first variant with one of these, and none of `without`
    [variant.names]                     # where it means something else by a name

    [names]                             # name -> canonical id; see `rltui.frameworks.match` for wildcards
    "a/{mean,avg}" = "reward.{mean,mean}"
    "b" = { is = "perf.mfu", unit = "percent", statistic = "max", caveat = "...", shared = false }
    "c" = { is = "rollout.format_score", scale = -1, offset = 1 }

    [older]                             # likewise, names that only older releases write

`unit` is that of the value as written where it is not the canonical one; `scale` and `offset` are needed only
where the two units do not tell them. `shared = false` keeps a name out of the guesses for unknown frameworks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rltui.batch import Problem
from rltui.metrics.frameworks.patterns import PatternError, ambiguous, expand, is_wild
from rltui.text import clean

CONVENTIONS = "conventions"  # the stem of the one file that is no framework

_KEYS = (
    "title",
    "source",
    "caveat",
    "aliases",
    "prefixes",
    "held_out",
    "silent",
    "domains",
    "held_out_sets",
    "extends",
    "recognise",
    "variant",
    "names",
    "older",
)
_ENTRY_KEYS = {
    "is": str,
    "unit": str,
    "scale": (int, float),
    "offset": (int, float),
    "statistic": str,
    "caveat": str,
    "shared": bool,
}
_STATISTICS = ("mean", "min", "max", "std", "")

Raw = str | dict[str, Any]  # an entry: the canonical id alone, or a table


class _Teller:
    """Collects what is wrong with one file."""

    def __init__(self, stem: str, problems: list[Problem]) -> None:
        self.shown = f"{stem}.toml"
        self._problems = problems

    def __call__(self, message: str) -> None:
        self._problems.append(Problem("error", "framework-data", self.shown, clean(message, 300)))


def build(tables: Mapping[str, dict[str, Any]], problems: list[Problem]) -> dict[str, Any]:
    """Frameworks, their signs, the union of their names, and the conventions, as plain data."""
    raws = {
        stem: _framework(stem, table, _Teller(stem, problems))
        for stem, table in tables.items()
        if stem != CONVENTIONS
    }
    for stem, raw in raws.items():
        _inherit(raw, raws, _Teller(stem, problems), (stem,))
    conventions = _conventions(tables.get(CONVENTIONS, {}), _Teller(CONVENTIONS, problems))
    done: dict[str, Any] = {}
    for stem, raw in raws.items():
        tell = _Teller(stem, problems)
        for one, other in ambiguous([name for name in raw["names"] if is_wild(name)]):
            if raw["names"][one] != raw["names"][other]:
                tell(f"'{one}' and '{other}' can match one name and neither is more specific")
        raw["sections"] = _sections(raw["names"])
        done[stem] = raw
    return {
        "frameworks": {stem: _plain(raw) for stem, raw in done.items()},
        "signs": _index(done),
        "union": _union(done, frozenset(conventions["kinds"])),
        "conventions": conventions,
    }


def _plain(raw: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in raw.items() if key not in ("signs", "extends")}
    return {**kept, "must": raw["signs"]["must"], "without": raw["signs"]["without"]}


def entries(table: object, where: str, tell: Any, *, older: bool = False) -> dict[str, Raw]:
    """A table of patterns and where they lead, expanded; `tell(message)` is called for each fault."""
    if not isinstance(table, dict):
        tell(f"{where} must be a table of names")
        return {}
    found: dict[str, Raw] = {}
    for pattern, target in table.items():
        entry = {"is": target} if isinstance(target, str) else target
        if not _is_entry(entry, f'{where} "{pattern}"', tell):
            continue
        try:
            pairs = list(expand(pattern, entry["is"]))
        except PatternError as error:
            tell(f'{where} "{pattern}" {error}')
            continue
        for name, canonical in pairs:
            made = {**entry, "is": canonical, **({"older": True} if older else {})}
            if name in found:
                tell(f'{where} "{name}" is there twice')
            found[name] = made if len(made) > 1 else canonical
    return found


def _is_entry(entry: object, where: str, tell: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("is"), str) or not entry["is"]:
        tell(f"{where} must be a canonical id or a table with 'is'")
        return False
    good = True
    for key, value in entry.items():
        kind = _ENTRY_KEYS.get(key)
        if kind is None:
            tell(f"{where} has an unknown key '{key}'; permitted: {', '.join(_ENTRY_KEYS)}")
            good = False
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):  # type: ignore[arg-type]
            tell(f"{where}: '{key}' is of the wrong type")
            good = False
    if entry.get("statistic", "") not in _STATISTICS:
        tell(f"{where}: statistic must be one of {', '.join(filter(None, _STATISTICS))}")
        good = False
    return good


def _texts(table: Mapping[str, Any], key: str, tell: _Teller, default: tuple[str, ...] = ()) -> list[str]:
    value = table.get(key, list(default))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    tell(f"'{key}' must be a list of texts")
    return list(default)


def _text(table: Mapping[str, Any], key: str, tell: _Teller) -> str:
    value = table.get(key, "")
    if isinstance(value, str):
        return value
    tell(f"'{key}' must be a text")
    return ""


def _flag(table: Mapping[str, Any], key: str, tell: _Teller) -> bool:
    value = table.get(key, False)
    if isinstance(value, bool):
        return value
    tell(f"'{key}' must be true or false")
    return False


def _framework(stem: str, table: Mapping[str, Any], tell: _Teller) -> dict[str, Any]:
    for key in table.keys() - set(_KEYS):
        tell(f"unknown key '{key}'; permitted: {', '.join(_KEYS)}")
    names = entries(table.get("names", {}), "[names]", tell)
    older = entries(table.get("older", {}), "[older]", tell, older=True)
    for name in names.keys() & older.keys():
        tell(f'"{name}" is both in [names] and in [older]')
    names |= {name: entry for name, entry in older.items() if name not in names}
    return {
        "title": _text(table, "title", tell) or stem,
        "source": _text(table, "source", tell),
        "caveat": _text(table, "caveat", tell),
        "aliases": _texts(table, "aliases", tell),
        "prefixes": sorted(_texts(table, "prefixes", tell, ("",)), key=len, reverse=True),
        "held_out": sorted(_texts(table, "held_out", tell), key=len, reverse=True),
        "silent": _texts(table, "silent", tell),
        "domains": _flag(table, "domains", tell),
        "held_out_sets": _flag(table, "held_out_sets", tell),
        "extends": _texts(table, "extends", tell),
        "variants": _variants(table.get("variant", []), tell),
        "signs": _signs(table.get("recognise", {}), tell),
        "own": len(names),
        "names": names,
    }


def _variants(tables: object, tell: _Teller) -> list[dict[str, Any]]:
    if not isinstance(tables, list):
        tell("'variant' must be a list of tables: [[variant]]")
        return []
    found = []
    for table in tables:
        if not isinstance(table, dict) or not isinstance(table.get("id"), str):
            tell("[[variant]] needs an id")
            continue
        for key in table.keys() - {"id", "title", "any", "without", "names"}:
            tell(f"[[variant]] {table['id']}: unknown key '{key}'; permitted: id, title, any, without, names")
        found.append(
            {
                "id": table["id"],
                "title": _text(table, "title", tell) or table["id"],
                "any": _texts(table, "any", tell),
                "without": _texts(table, "without", tell),
                "names": entries(table.get("names", {}), f"[variant {table['id']}]", tell),
            }
        )
    return found


def _signs(table: object, tell: _Teller) -> dict[str, Any]:
    if not isinstance(table, dict):
        tell("'recognise' must be a table")
        return {"weights": {}, "must": [], "without": []}
    for key in table.keys() - {"must", "without", "signs"}:
        tell(f"[recognise] has an unknown key '{key}'; permitted: must, without, signs")
    weights: dict[str, float] = {}
    signs = table.get("signs", {})
    if not isinstance(signs, dict):
        tell("[recognise] signs must be a table of names and weights")
        signs = {}
    for pattern, weight in signs.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight <= 0:
            tell(f'[recognise.signs] "{pattern}" needs a weight above 0')
            continue
        try:
            weights |= {name: float(weight) for name, _ in expand(pattern)}
        except PatternError as error:
            tell(f'[recognise.signs] "{pattern}" {error}')
    must = table.get("must", [])
    groups = []
    for group in must if isinstance(must, list) else [must]:
        members = [group] if isinstance(group, str) else group
        if isinstance(members, list) and all(isinstance(item, str) for item in members):
            groups.append(members)
        else:
            tell("[recognise] must is a list of names, or of lists of names that go together")
    return {"weights": weights, "must": groups, "without": _texts(table, "without", tell)}


def _inherit(
    raw: dict[str, Any], raws: Mapping[str, dict[str, Any]], tell: _Teller, path: tuple[str, ...]
) -> None:
    """Put the names of the frameworks that it extends behind its own."""
    for stem in raw["extends"]:
        if stem not in raws or stem in path:
            tell(f"extends '{stem}', which is " + ("itself" if stem in path else "no framework here"))
            continue
        parent = raws[stem]
        if parent["extends"]:
            _inherit(parent, raws, tell, (*path, stem))
        for name, entry in parent["names"].items():
            raw["names"].setdefault(name, entry)
    raw["extends"] = []


def _sections(names: Mapping[str, Raw]) -> dict[str, str]:
    """First part of the names -> first part of the canonical ids that most of them (two in three) lead to."""
    votes: dict[str, Counter[str]] = {}
    for name, entry in names.items():
        section, slash, _ = name.partition("/")
        if slash and not is_wild(section):
            canonical = entry if isinstance(entry, str) else entry["is"]
            votes.setdefault(section, Counter())[canonical.split(".", 1)[0]] += 1
    return {
        section: count.most_common(1)[0][0]
        for section, count in votes.items()
        if count.most_common(1)[0][1] * 3 >= count.total() * 2
    }


def _index(raws: Mapping[str, dict[str, Any]]) -> dict[str, list[list[Any]]]:
    """Each name that is a sign, with every logger prefix -> [framework, name, weight]."""
    index: dict[str, list[list[Any]]] = {}
    for stem, raw in raws.items():
        signs = raw["signs"]
        named = dict.fromkeys((*signs["without"], *(name for group in signs["must"] for name in group)), 0.0)
        for name, weight in (named | signs["weights"]).items():
            for prefix in raw["prefixes"]:
                index.setdefault(prefix + name, []).append([stem, name, weight])
    return index


def _union(raws: Mapping[str, dict[str, Any]], kinds: frozenset[str]) -> dict[str, list[Any]]:
    """Every name of every framework, with prefixes -> [entry of most, their ids, whether others differ]."""
    votes: dict[str, dict[str, tuple[Raw, list[str]]]] = {}
    for stem, raw in raws.items():
        for name, entry in list(raw["names"].items())[: raw["own"]]:
            table = {"is": entry} if isinstance(entry, str) else entry
            # "All other times of this framework" says nothing of a framework that nobody knows.
            rest = name.endswith("/**") and (name.count("/") == 1 or table["is"] in kinds)
            if rest or not table.get("shared", True):
                continue
            plain = {key: table[key] for key in table if key not in ("caveat", "older")}
            for prefix in raw["prefixes"]:
                choice = votes.setdefault(prefix + name, {})
                _, ids = choice.setdefault(
                    repr(sorted(plain.items())), (plain if len(plain) > 1 else plain["is"], [])
                )
                ids.append(stem)
    union = {}
    for name, choice in votes.items():
        ranked = sorted(choice.values(), key=lambda vote: -len(vote[1]))
        union[name] = [*ranked[0], len(ranked) > 1]
    for one, other in ambiguous([name for name in union if is_wild(name)]):
        if one in union and other in union:  # two frameworks differ in their spelling; the first file's holds
            del union[other]
    return union


def _conventions(table: Mapping[str, Any], tell: _Teller) -> dict[str, Any]:
    def mapping(key: str, kind: type | tuple[type, ...], words: str) -> dict[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict) or not all(_is(each, kind) for each in value.values()):
            tell(f"'{key}' must be a table of {words}")
            return {}
        return value

    validation: dict[str, str] = {}
    for name, target in mapping("validation", str, "texts").items():
        try:
            validation |= dict(expand(name, target))
        except PatternError as error:
            tell(f'[validation] "{name}" {error}')
    spelled = mapping("statistics", list, "lists of words")
    return {
        "held_out": _texts(table, "held_out", tell),
        "training": _texts(table, "training", tell),
        "validation": validation,
        "units": mapping("units", (int, float), "factors"),
        "kinds": _texts(table, "kinds", tell),
        "statistics": {word: statistic for statistic, words in spelled.items() for word in words},
        "sections": mapping("sections", str, "texts"),
    }


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
