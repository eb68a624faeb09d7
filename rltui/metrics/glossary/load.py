"""The glossary's data files, checked and joined: `glossary()`.

One TOML file per pane; its name is the pane's id and the order of its entries is their importance, so an
entry is added where it belongs and nothing is renumbered.
All faults of all files are told at once; a faulty entry is left out, the rest stays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rltui.batch import Problem
from rltui.data.toml_files import read_tables
from rltui.metrics.glossary.model import (
    DIRECTIONS,
    STATISTICS,
    TITLE_WIDTH,
    UNITS,
    Glossary,
    Metric,
    Pane,
)
from rltui.text import cell_width, clean

DATA = Path(__file__).parents[2] / "data" / "metrics"

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_PANE_ID = re.compile(r"[a-z][a-z0-9-]*")
_PANE_KEYS = ("title", "tab", "order", "key", "always", "intro", "empty")


@cache
def glossary() -> Glossary:
    """The shipped glossary, loaded once. Its problems are for `doctor`; it is usable in any case."""
    return load(DATA)


def load(folder: Path) -> Glossary:
    """The glossary of a folder of pane files. Never raises for what the files hold."""
    problems: list[Problem] = []
    data = _build(read_tables(folder, problems), problems)
    panes = tuple(Pane(*row) for row in data["panes"])
    metrics = {row[0]: _metric(row) for row in data["metrics"]}
    return Glossary(metrics, panes, tuple(problems))


def metric_row(
    table: object, pane: str, importance: int, shown: str, problems: list[Problem]
) -> Metric | None:
    """One entry, from shipped data or from a user's own config: a Metric, or None and what is wrong with it.

    `shown` names the file in problems.
    """
    row = _entry(table, pane, importance, shown, problems)
    return None if row is None else _metric(row)


# ---- tables to rows that survive JSON


def _build(tables: Mapping[str, dict[str, Any]], problems: list[Problem]) -> dict[str, Any]:
    panes: list[tuple[float, list[Any]]] = []
    rows: dict[str, list[Any]] = {}
    where: dict[str, str] = {}
    by_pane: dict[str, list[str]] = {}
    for stem, table in tables.items():
        shown = f"{stem}.toml"
        fault = _teller(shown, "", problems)
        if not _PANE_ID.fullmatch(stem):
            fault("the file's name is the pane's id: lower-case letters, digits and '-'")
        for key in table.keys() - {"pane", "metric"}:
            fault(f"unknown key '{clean(str(key), 60)}'; permitted: metric, pane")
        panes.append(_pane(stem, table.get("pane"), shown, problems))
        entries = table.get("metric", [])
        if not isinstance(entries, list):
            fault("'metric' must be a list of tables: [[metric]]")
            continue
        for place, entry in enumerate(entries, 1):
            row = _entry(entry, stem, place, shown, problems)
            if row is None:
                continue
            if row[0] in rows:
                fault(f"metric '{row[0]}' is already defined in {where[row[0]]}")
                continue
            rows[row[0]], where[row[0]] = row, shown
            by_pane.setdefault(stem, []).append(row[0])
    for row in rows.values():
        check_next = row[_COLUMNS.index("check_next")]
        missing = [name for name in check_next if name not in rows]
        if missing:
            _teller(where[row[0]], row[0], problems)(f"check_next names no metric: {', '.join(missing)}")
            check_next[:] = [name for name in check_next if name in rows]
    panes.sort(key=lambda pane: (pane[0], pane[1][0]))
    keys: dict[str, str] = {}
    for _, (stem, *_, key, _, _) in panes:
        if key and (first := keys.setdefault(key, stem)) != stem:
            _teller(f"{stem}.toml", "[pane]", problems)(f"key '{key}' is already that of {first}.toml")
    return {
        "panes": [pane for _, pane in panes],
        "metrics": [rows[name] for _, pane in panes for name in by_pane.get(pane[0], [])],
    }


def _pane(stem: str, table: object, shown: str, problems: list[Problem]) -> tuple[float, list[Any]]:
    """Sort key and row of a pane; a faulty one still gets its place at the end."""
    fault = _teller(shown, "[pane]", problems)
    if not isinstance(table, dict):
        fault("is missing; it needs title, order and intro")
        table = {"title": stem, "intro": ""}
    for key in table.keys() - set(_PANE_KEYS):
        fault(f"unknown key '{clean(str(key), 60)}'; permitted: {', '.join(_PANE_KEYS)}")
    text: dict[str, str] = {}
    for key in ("title", "intro", "tab", "key", "empty"):
        value = table.get(key, "")
        if not isinstance(value, str) or not (value or key in ("tab", "key", "empty")):
            fault(f"{key} must be a text")
            value = ""
        text[key] = clean(value)
    if len(text["key"]) > 1:
        fault("key must be one character")
        text["key"] = ""
    always = table.get("always", False)
    if not isinstance(always, bool):
        fault("always must be true or false")
        always = False
    order = table.get("order", math.inf)
    if isinstance(order, bool) or not isinstance(order, int | float):
        fault("order must be a number")
        order = math.inf
    title, tab = text["title"] or stem, text["tab"] or stem
    return float(order), [stem, title, text["intro"], tab, text["key"], always, text["empty"]]


def _teller(shown: str, part: str, problems: list[Problem]) -> Callable[[str], None]:
    def tell(message: str) -> None:
        problems.append(Problem("error", "glossary-data", shown, f"{part} {message}".strip()))

    return tell


_COLUMNS = tuple(Metric.__dataclass_fields__)
_TEXTS = ("title", "meaning", "healthy", "watch_for", "group")
_LISTS = ("check_next", "sources")
_KEYS = tuple(name for name in _COLUMNS if name not in ("pane", "importance"))
_CHOICES: Mapping[str, Sequence[str]] = {
    "unit": tuple(UNITS),
    "direction": tuple(DIRECTIONS),
    "statistic": STATISTICS,
}
_NEEDED = ("title", "unit", "direction", "meaning")


def _entry(
    table: object, pane: str, importance: int, shown: str, problems: list[Problem]
) -> list[Any] | None:
    """A checked entry as a row in the order of `_COLUMNS`, or None."""
    before = len(problems)
    name = table.get("id", "") if isinstance(table, dict) else ""
    part = clean(str(name), 60) if name else f"[[metric]] {importance}"
    fault = _teller(shown, f"{part}:", problems)
    if not isinstance(table, dict):
        fault("must be a table")
        return None
    if not isinstance(name, str) or not _ID.fullmatch(name):
        fault("id must be lower-case words joined by dots, such as 'policy.kl'")
    values: dict[str, Any] = {"id": name, "pane": pane, "importance": importance}
    for key in table.keys() - set(_KEYS):
        fault(f"unknown key '{clean(str(key), 60)}'; permitted: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if not table.get(key):
            fault(f"{key} is missing")
    for key in _TEXTS:
        values[key] = _text(table.get(key, ""), key, fault)
    for key, permitted in _CHOICES.items():
        value = table.get(key, "")
        if value not in permitted and (value or key not in _NEEDED):
            fault(
                f"{key} '{clean(str(value), 60)}' is unknown; permitted: {', '.join(filter(None, permitted))}"
            )
        values[key] = value
    for key in _LISTS:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            fault(f"{key} must be a list of texts")
            value = []
        values[key] = [clean(item) for item in value]
    for key in ("bounds", "range", "band"):
        values[key] = _interval(table.get(key), key, fault)
    values["smooth"] = table.get("smooth", True)
    if not isinstance(values["smooth"], bool):
        fault("smooth must be true or false")
    if cell_width(values["title"]) > TITLE_WIDTH:
        fault(f"title is wider than {TITLE_WIDTH} cells")
    if values["statistic"] and not values["group"]:
        fault("statistic needs a group")
    return None if len(problems) > before else [values[column] for column in _COLUMNS]


def _text(value: object, key: str, fault: Callable[[str], None]) -> str:
    if isinstance(value, str):
        return clean(value)
    fault(f"{key} must be a text")
    return ""


def _interval(value: object, key: str, fault: Callable[[str], None]) -> list[float | None] | None:
    """[low, high] with None for an infinite end, because infinities do not survive JSON."""
    if value is None:
        return None
    numbers = value if isinstance(value, list) else []
    if len(numbers) == 2 and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
        low, high = float(numbers[0]), float(numbers[1])
        if low < high:
            return [low if math.isfinite(low) else None, high if math.isfinite(high) else None]
    fault(f"{key} must be [low, high], low below high; an end may be -inf or inf")
    return None


# ---- rows to metrics


def _metric(row: Sequence[Any]) -> Metric:
    values = dict(zip(_COLUMNS, row, strict=True))
    for key in _LISTS:
        values[key] = tuple(values[key])
    for key in ("bounds", "range", "band"):
        if values[key] is not None:
            low, high = values[key]
            values[key] = (-math.inf if low is None else low, math.inf if high is None else high)
    return Metric(**values)
