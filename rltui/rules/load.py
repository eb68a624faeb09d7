"""The shipped rules, symptoms and scenarios, checked and compiled: `rulebook()`.

All faults of all files are told at once, each naming file and entry; a faulty entry is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rltui import datafiles
from rltui.rules.finding import RANK
from rltui.rules.kinds import KINDS, NUMBERS, POINT_KINDS, WORDS
from rltui.rules.model import SIGN, Applies, Example, Gap, Rule, Scenario, Symptom
from rltui.scalars import Problem
from rltui.text import clean

DATA = Path(__file__).parent / "data"

_VERSION = 3  # of what `_build` makes of the files
_ID = re.compile(r"[a-z][a-z0-9-]*")
_RULE_LISTS = ("check_next", "quiet_when", "info_when", "needs")
_RULE_TEXTS = ("title", "message", "advice", "source", "pane", "per")
_RULE_KEYS = {
    "id", "metric", "kind", "severity", "for", "keep_firing_for", "warmup", "latch", "applies", "fires",
    "quiet",
    *_RULE_LISTS, *_RULE_TEXTS,
}  # fmt: skip
_APPLIES_KEYS = {"frameworks", "frameworks_not", "tags", "tags_not", "held_out", "comparable"}
_SYMPTOM_KEYS = {
    "id", "severity", "title", "message", "all", "none", "explains", "advice", "check_next", "pane", "source",
    "together",
}  # fmt: skip
_SCENARIO_KEYS = {"id", "title", "any", "none", "frameworks", "groups", "source"}
_GAP_KEYS = {"id", "train", "held_out", "above", "relative"}


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Everything the judge knows."""

    rules: Mapping[str, Rule]
    symptoms: tuple[Symptom, ...]
    scenarios: tuple[Scenario, ...]
    gaps: Mapping[str, Gap]
    problems: tuple[Problem, ...] = ()

    def of_metric(self, canonical: str) -> tuple[Rule, ...]:
        """The rules that judge a metric, signs included."""
        return tuple(rule for rule in self.rules.values() if canonical in rule.metrics)


@cache
def rulebook() -> Rulebook:
    """The shipped rules, loaded once."""
    return load(DATA)


def load(folder: Path) -> Rulebook:
    """The rules of a folder of files. Never raises for what the files hold."""
    loaded = datafiles.load(folder, "rules", _build, version=_VERSION)
    rules = {row["id"]: rule_of(row) for row in loaded.data["rules"]}
    return Rulebook(
        rules,
        tuple(_symptom_of(row) for row in loaded.data["symptoms"]),
        tuple(_scenario_of(row) for row in loaded.data["scenarios"]),
        {row["id"]: _gap_of(row) for row in loaded.data["gaps"]},
        loaded.problems,
    )


# ---- tables to checked rows


def _build(tables: Mapping[str, dict[str, Any]], problems: list[Problem]) -> dict[str, Any]:
    book: dict[str, Any] = {"rules": [], "symptoms": [], "scenarios": [], "gaps": []}
    seen: dict[str, str] = {}
    checks: dict[str, tuple[str, Callable[[dict[str, Any], Callable[[str], None]], None]]] = {
        "rule": ("rules", check_rule),
        "symptom": ("symptoms", _check_symptom),
        "scenario": ("scenarios", _check_scenario),
        "gap": ("gaps", _check_gap),
    }
    for stem, table in tables.items():
        shown = f"{stem}.toml"
        problems.extend(
            _fault(shown, "", f"unknown key '{clean(str(key), 60)}'") for key in table.keys() - checks.keys()
        )
        for word, (place, check) in checks.items():
            for number, row in enumerate(table.get(word, []), 1):
                part = (
                    str(row.get("id", f"[[{word}]] {number}"))
                    if isinstance(row, dict)
                    else f"[[{word}]] {number}"
                )
                before = len(problems)
                if not isinstance(row, dict):
                    problems.append(_fault(shown, part, "must be a table"))
                    continue

                tell = _teller(shown, part, problems)
                check(row, tell)
                if not _ID.fullmatch(part):
                    tell("id must be lower-case words joined by '-'")
                key = f"scenario {part}" if word == "scenario" else part
                if key in seen:
                    tell(f"is already defined in {seen[key]}")
                if len(problems) == before:
                    seen[key] = shown
                    book[place].append(row)
    names = {row["id"] for row in book["rules"]} | {row["id"] for row in book["gaps"]}
    _check_references(book, names, problems)
    return book


def _teller(shown: str, part: str, problems: list[Problem]) -> Callable[[str], None]:
    def tell(message: str) -> None:
        problems.append(_fault(shown, part, message))

    return tell


def _fault(shown: str, part: str, message: str) -> Problem:
    return Problem("error", "rules-data", shown, f"{clean(part, 60)} {message}".strip())


def check_rule(row: dict[str, Any], tell: Callable[[str], None]) -> None:
    """Say what is wrong with one rule, shipped or a user's own."""
    kind = row.get("kind", "")
    if kind not in KINDS and kind not in POINT_KINDS:
        tell(f"kind '{clean(str(kind), 40)}' is unknown; permitted: {', '.join([*KINDS, *POINT_KINDS])}")
        return
    words = WORDS.get(kind, {})
    for key in row.keys() - _RULE_KEYS - set(NUMBERS[kind]) - words.keys():
        tell(f"unknown key '{clean(str(key), 40)}'")
    for key in NUMBERS[kind]:
        if key in row and (isinstance(row[key], bool) or not isinstance(row[key], int | float)):
            tell(f"{key} must be a number")
    for key, permitted in words.items():
        if row.get(key, permitted[0]) not in permitted:
            tell(f"{key} must be one of: {', '.join(filter(None, permitted))}")
    if row.get("severity") not in {*RANK, SIGN}:
        tell(f"severity must be one of: {', '.join([*RANK, SIGN])}")
    if not _texts(row.get("metric")):
        tell("metric must be a list of canonical ids")
    for key in _RULE_LISTS:
        if not _texts(row.get(key, [])):
            tell(f"{key} must be a list of texts")
    for key in _RULE_TEXTS:
        if not isinstance(row.get(key, ""), str):
            tell(f"{key} must be a text")
    if row.get("severity") != SIGN and not all(row.get(key) for key in ("title", "message", "advice")):
        tell("needs title, message and advice")
    applies = row.get("applies", {})
    if not isinstance(applies, dict) or applies.keys() - _APPLIES_KEYS:
        tell(f"applies may hold: {', '.join(sorted(_APPLIES_KEYS))}")
    for key in ("fires", "quiet"):
        if not _texts(row.get(key, [])):
            tell(f"{key} must be a list of windows, such as '0.1*50 0.4*20'")
    for key in ("for", "keep_firing_for", "warmup"):
        if not isinstance(row.get(key, 1), int) or row.get(key, 1) < 0:
            tell(f"{key} must be a whole number of points")


def _check_symptom(row: dict[str, Any], tell: Callable[[str], None]) -> None:
    for key in row.keys() - _SYMPTOM_KEYS:
        tell(f"unknown key '{clean(str(key), 40)}'")
    for key in ("title", "message", "all"):
        if not row.get(key):
            tell(f"{key} is missing")
    if row.get("severity") not in RANK:
        tell(f"severity must be one of: {', '.join(RANK)}")


def _check_scenario(row: dict[str, Any], tell: Callable[[str], None]) -> None:
    for key in row.keys() - _SCENARIO_KEYS:
        tell(f"unknown key '{clean(str(key), 40)}'")
    if not isinstance(row.get("groups"), list) or not all(isinstance(group, dict) for group in row["groups"]):
        tell("groups must be a list of {name, metrics}")


def _check_gap(row: dict[str, Any], tell: Callable[[str], None]) -> None:
    for key in row.keys() - _GAP_KEYS:
        tell(f"unknown key '{clean(str(key), 40)}'")
    for key in ("train", "held_out", "above"):
        if key not in row:
            tell(f"{key} is missing")


def _check_references(book: dict[str, Any], names: set[str], problems: list[Problem]) -> None:
    def missing(part: str, wanted: list[str]) -> None:
        problems.extend(
            _fault("rules", part, f"names '{clean(name, 60)}', which is no rule")
            for name in wanted
            if name not in names and "*" not in name
        )

    for row in book["rules"]:
        missing(row["id"], [*row.get("quiet_when", []), *row.get("info_when", []), *row.get("needs", [])])
    for row in book["symptoms"]:
        groups = [[group] if isinstance(group, str) else group for group in row["all"]]
        missing(row["id"], [name for group in groups for name in group])
        missing(row["id"], [*row.get("none", []), *row.get("explains", [])])


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


# ---- rows to objects


def rule_of(row: Mapping[str, Any]) -> Rule:
    """A checked row as a rule."""
    kind = row["kind"]
    applies = dict(row.get("applies", {}))
    held_out = applies.pop("held_out", False)
    # An absolute limit means nothing on another scale; a multiple of the run's own level does.
    absolute = kind in ("threshold", "first-update") and not row.get("of") and not row.get("per")
    comparable = applies.pop("comparable", True if absolute else None)
    where = {key: tuple(value) for key, value in applies.items()}
    metrics = tuple(row["metric"])
    texts: dict[str, Any] = {key: tuple(row.get(key, ())) for key in _RULE_LISTS}
    texts |= {key: str(row.get(key, "")) for key in _RULE_TEXTS}
    return Rule(
        id=row["id"],
        metrics=metrics,
        kind=kind,
        severity=row["severity"],
        numbers={key: float(row[key]) for key in NUMBERS[kind] if key in row},
        words={key: row[key] for key in WORDS.get(kind, {}) if key in row},
        hold=int(row.get("for", 1)),
        keep=int(row.get("keep_firing_for", 4)),
        warmup=int(row.get("warmup", 0)),
        latch=bool(
            row.get("latch", kind in ("spike", "shift") and row["severity"] in ("warning", "critical"))
        ),
        applies=Applies(
            held_out=None if held_out == "any" else bool(held_out), comparable=comparable, **where
        ),
        fires=tuple(_example(text) for text in row.get("fires", [])),
        quiet=tuple(_example(text) for text in row.get("quiet", [])),
        **texts,
    )


def _example(text: str) -> Example:
    series, _, per = text.partition("/")
    return Example(series.strip(), per.strip())


def _symptom_of(row: Mapping[str, Any]) -> Symptom:
    groups = tuple((group,) if isinstance(group, str) else tuple(group) for group in row["all"])
    return Symptom(
        id=row["id"],
        severity=row["severity"],
        title=row["title"],
        message=row["message"],
        all=groups,
        explains=tuple(row.get("explains", ())),
        none=tuple(row.get("none", ())),
        advice=row.get("advice", ""),
        check_next=tuple(row.get("check_next", ())),
        pane=row.get("pane", "overview"),
        source=row.get("source", ""),
        together=float(row.get("together", 0.0)),
    )


def _scenario_of(row: Mapping[str, Any]) -> Scenario:
    return Scenario(
        row["id"],
        row["title"],
        tuple(row.get("any", ())),
        tuple((group["name"], tuple(group["metrics"])) for group in row["groups"]),
        tuple(row.get("none", ())),
        tuple(row.get("frameworks", ())),
        row.get("source", ""),
    )


def _gap_of(row: Mapping[str, Any]) -> Gap:
    return Gap(row["train"], row["held_out"], float(row["above"]), bool(row.get("relative", False)))
