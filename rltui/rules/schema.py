"""What may stand in the files of rules: `build` makes checked rows of them, every fault told.

A faulty entry is left out. A rule's own keys are those of its kind besides the ones below, see
`rltui.rules.kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from rltui.data.fields import (
    AnyOfField,
    BoolField,
    Field,
    KeyPath,
    ListField,
    MapField,
    NumberField,
    TableField,
    TextField,
    as_dict,
)
from rltui.metrics.glossary import glossary
from rltui.problem import Problem
from rltui.rules.finding import RANK
from rltui.rules.kind_fields import NUMBERS, WORDS
from rltui.rules.model import RECORDING
from rltui.rules.special_metrics import STEP_TIME
from rltui.text import clean

TEXTS = ListField(TextField())
_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="lower-case words joined by '-'")
_POINTS = NumberField(minimum=0, integer=True)
_WINDOWS = ListField(TextField(permitted="a window, such as '0.1*50 0.4*20'"))
_SEVERITY = TextField(choices=tuple(RANK))
_RULE: dict[str, Field[Any]] = {
    "id": _ID,
    "metric": TEXTS,
    "kind": TextField(choices=tuple(NUMBERS)),
    "severity": TextField(choices=(*RANK, RECORDING)),
    **dict.fromkeys(("for", "keep_firing_for", "warmup"), _POINTS),
    **dict.fromkeys(("latch", "skip_zeros"), BoolField()),
    "unless_logged": MapField(TextField()),
    "applies": TableField(
        {
            **dict.fromkeys(("frameworks", "frameworks_not", "tags", "tags_not"), TEXTS),
            "held_out": AnyOfField[Any]((BoolField(), TextField(choices=("any",))), "true, false or 'any'"),
            "comparable": BoolField(),
        },
        as_dict,
    ),
    **dict.fromkeys(("fires", "quiet"), _WINDOWS),
    **dict.fromkeys(("check_next", "holds_while", "inhibited_by", "info_when", "requires"), TEXTS),
    **dict.fromkeys(("title", "message", "advice", "source", "per"), TextField()),
}
_NEEDED = ("id", "metric", "kind", "severity")
_SCENARIO = TableField(
    {
        "id": _ID,
        "groups": ListField(
            TableField({"name": TextField(), "metrics": TEXTS}, as_dict, required=("name", "metrics"))
        ),
        **dict.fromkeys(("any", "none", "frameworks"), TEXTS),
        **dict.fromkeys(("title", "source"), TextField()),
    },
    as_dict,
    required=("id", "title", "groups"),
)
_GAP = TableField(
    {
        "id": _ID,
        "train": TextField(),
        "held_out": TextField(),
        "above": NumberField(),
        "relative": BoolField(),
    },
    as_dict,
    required=("id", "train", "held_out", "above"),
)


@cache
def _pane_field() -> TextField:
    """The glossary is read when the rules are (24 ms), not when this module is imported."""
    return TextField(choices=("overview", *(pane.id for pane in glossary().panes)))


@cache
def _symptom_field() -> TableField[dict[str, Any]]:
    return TableField(
        {
            "id": _ID,
            "severity": _SEVERITY,
            "all": ListField(ListField(TextField(), single=True)),
            **dict.fromkeys(("none", "explains", "check_next"), TEXTS),
            **dict.fromkeys(("title", "message", "advice", "source"), TextField()),
            "pane": _pane_field(),
            "together": NumberField(minimum=0),
        },
        as_dict,
        required=("id", "severity", "title", "message", "all"),
    )


@cache
def _rule_of(kind: str) -> TableField[dict[str, Any]]:
    own: dict[str, Field[Any]] = dict.fromkeys(NUMBERS.get(kind, ()), NumberField())
    own |= {key: TextField(choices=tuple(filter(None, words))) for key, words in WORDS.get(kind, {}).items()}
    return TableField(_RULE | own | {"pane": _pane_field()}, as_dict, required=_NEEDED)


def check_rule(row: object, tell: Callable[[str], None]) -> dict[str, Any]:
    """The checked row of one rule; `tell` hears what is wrong with it."""

    def say(path: KeyPath, message: str) -> None:
        tell(f"{_spelled(path)} {message}".strip())

    kind = row.get("kind") if isinstance(row, dict) else None
    taken = _rule_of(kind if isinstance(kind, str) else "").check(row, (), say)
    if not isinstance(taken, dict):
        return {}
    if taken["severity"] != RECORDING and not all(taken.get(key) for key in ("title", "message", "advice")):
        tell("needs title, message and advice")
    return taken


def build(tables: Mapping[str, dict[str, Any]], problems: list[Problem]) -> dict[str, Any]:
    """The rows of all files by what they are: `rules`, `symptoms`, `scenarios`, `gaps`."""
    book: dict[str, list[dict[str, Any]]] = {"rules": [], "symptoms": [], "scenarios": [], "gaps": []}
    seen: dict[tuple[bool, str], str] = {}
    for stem, table in tables.items():
        shown = f"{stem}.toml"
        for word, rows in table.items():
            if f"{word}s" not in book:
                problems.append(
                    _fault(shown, f"unknown key '{word}'; permitted: rule, symptom, scenario, gap")
                )
                continue
            if not isinstance(rows, list):
                problems.append(_fault(shown, f"'{word}' must be a list of tables: [[{word}]]"))
                continue
            for number, row in enumerate(rows, 1):
                named = row.get("id") if isinstance(row, dict) else None
                part = named if isinstance(named, str) else f"[[{word}]] {number}"
                faults: list[str] = []
                taken = _take(word, row, faults.append)
                key = (word == "scenario", part)
                if key in seen:
                    faults.append(f"is already defined in {seen[key]}")
                problems.extend(_fault(shown, f"{part} {fault}") for fault in faults)
                if not faults:
                    seen[key] = shown
                    book[f"{word}s"].append(taken)
    problems.extend(_fault("rules", message) for message in _references(book))
    return book


def _take(word: str, row: object, tell: Callable[[str], None]) -> dict[str, Any]:
    if word == "rule":
        return check_rule(row, tell)

    def say(path: KeyPath, message: str) -> None:
        tell(f"{_spelled(path)} {message}".strip())

    taken = {"symptom": _symptom_field(), "scenario": _SCENARIO, "gap": _GAP}[word].check(row, (), say)
    return taken if isinstance(taken, dict) else {}


def _spelled(path: KeyPath) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")


def _references(book: Mapping[str, list[dict[str, Any]]]) -> Iterable[str]:
    """Names that lead nowhere: rules that there are not, metrics that the glossary does not know."""
    rules = {row["id"] for row in (*book["rules"], *book["gaps"])}
    metrics = {*glossary().metrics, STEP_TIME}
    for row in (*book["rules"], *book["symptoms"]):
        named = [
            name
            for key in ("holds_while", "inhibited_by", "info_when", "requires", "none", "explains")
            for name in row.get(key, ())
        ]
        named += [name for group in row.get("all", ()) for name in group]
        for name in named:
            if name not in rules and "*" not in name:
                yield f"{row['id']} names '{clean(name, 60)}', which is no rule"
    for row in (row for rows in book.values() for row in rows):
        named = [name for key in ("metric", "check_next", "any") for name in row.get(key, ())]
        named += [row[key] for key in ("per", "train", "held_out") if key in row]
        named += [name for group in row.get("groups", ()) for name in group["metrics"]]
        named += [name for pair in row.get("unless_logged", {}).items() for name in pair]
        for name in named:
            if name not in metrics:
                yield f"{row['id']} names '{clean(name, 60)}', which is no metric of the glossary"


def _fault(shown: str, message: str) -> Problem:
    return Problem("error", "rules-data", shown, clean(message, 300))
