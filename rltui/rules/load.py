"""The shipped rules, symptoms and scenarios, checked and compiled: `rulebook()`.

All faults of all files are told at once, each naming file and entry; a faulty entry is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rltui.data.toml_files import read_folder
from rltui.problem import Problem
from rltui.rules.kind_fields import NUMBERS, WORDS
from rltui.rules.model import Applies, Example, Gap, Rule, Scenario, Symptom
from rltui.rules.schema import build

DATA = Path(__file__).parents[1] / "data" / "rules"

_LISTS = ("check_next", "holds_while", "inhibited_by", "info_when", "requires")
_TEXTS = ("title", "message", "advice", "source", "pane", "per")


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
    problems: list[Problem] = []
    tables = {stem: table for stem, table, _ in read_folder(folder, problems, "rules-data")}
    data = build(tables, problems)
    rules = {row["id"]: rule_of(row) for row in data["rules"]}
    return Rulebook(
        rules,
        tuple(_symptom_of(row) for row in data["symptoms"]),
        tuple(_scenario_of(row) for row in data["scenarios"]),
        {row["id"]: _gap_of(row) for row in data["gaps"]},
        tuple(problems),
    )


def rule_of(row: Mapping[str, Any]) -> Rule:
    """A checked row as a rule."""
    kind = row["kind"]
    applies = dict(row.get("applies", {}))
    held_out = applies.pop("held_out", False)
    # An absolute limit means nothing on another scale; a multiple of the run's own level does.
    relative = {"of", "per", "multiple_of"} & row.keys()
    absolute = kind in ("threshold", "first", "logged") and not relative
    comparable = applies.pop("comparable", True if absolute else None)
    where = {key: tuple(value) for key, value in applies.items()}
    metrics = tuple(row["metric"])
    texts: dict[str, Any] = {key: tuple(row.get(key, ())) for key in _LISTS}
    texts |= {key: str(row.get(key, "")) for key in _TEXTS}
    return Rule(
        id=row["id"],
        metrics=metrics,
        kind=kind,
        severity=row["severity"],
        numbers={key: float(row[key]) for key in NUMBERS[kind] if key in row},
        words={key: row[key] for key in WORDS.get(kind, {}) if key in row},
        for_ticks=int(row.get("for", 1)),
        keep_firing_for=int(row.get("keep_firing_for", 4)),
        unless_logged=dict(row.get("unless_logged", {})),
        warmup=int(row.get("warmup", 0)),
        latch=bool(
            row.get("latch", kind in ("spike", "shift") and row["severity"] in ("warning", "critical"))
        ),
        skip_zeros=bool(row.get("skip_zeros", False)),
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
    return Symptom(
        id=row["id"],
        severity=row["severity"],
        title=row["title"],
        message=row["message"],
        all=tuple(tuple(group) for group in row["all"]),
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
