"""The catalogue of framework keys, and keys that match its patterns."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.shared import SHARED, oracles

CATALOGUE = SHARED / "metric-catalog.json"
DIFFERENCES = Path(__file__).resolve().parents[1] / "catalogue_differences.toml"

needs_catalogue = pytest.mark.skipif(not CATALOGUE.is_file(), reason="the shared catalogue is not here")

# Panes of the catalogue that the glossary shows elsewhere.
PANES = {"reward_model": "reward-model", "optimizer": "policy", "discarded": "rollout"}

_WORDS = (("alpha", "beta2", "gamma"), ("math_500", "x", "openai-gsm8k"))
_NUMBER = re.compile(r"(@|pass_at_|_pass|pg_|rollout_is_p)\*")


def catalogue() -> list[dict[str, Any]]:
    """All entries; empty where the catalogue is missing."""
    return list(json.loads(CATALOGUE.read_text())) if CATALOGUE.is_file() else []


def instances(entry: dict[str, Any]) -> Iterator[str]:
    """Keys for an entry of the catalogue, in the log and in TensorBoard; two for each pattern."""
    for key in dict.fromkeys((entry["key"], entry.get("tb_key", entry["key"]))):
        plain = _NUMBER.sub(r"\g<1>8", key)
        for words in _WORDS if "*" in plain else (("",),):
            supply = iter(words)
            yield "".join(next(supply) if char == "*" else char for char in plain)


@cache
def differences() -> list[dict[str, Any]]:
    """The reviewed list of intended differences."""
    return list(tomllib.loads(DIFFERENCES.read_text())["difference"])


def difference(entry: dict[str, Any]) -> dict[str, Any]:
    """The values of rltui for the fields of a catalogue entry."""
    found: dict[str, Any] = {}
    for each in differences():
        if entry["framework"] in each["frameworks"] and entry["key"] in each["keys"]:
            found |= {key: each[key] for key in ("canonical", "pane", "unit") if key in each}
    return found


def logs() -> Iterator[tuple[str, str, list[str]]]:
    """(run, kind of log, keys) of every recorded run, from the oracles."""
    for path in oracles():
        oracle = json.loads(path.read_text())
        run = str(path.relative_to(SHARED / "logs")).removesuffix(".oracle.json")
        events: set[str] = set()
        for field in ("event_files", "event_dirs"):
            for each in oracle.get(field, {}).values():
                events |= set(each.get("scalars", {}))
        texts: set[str] = set()
        for each in oracle.get("text_files", {}).values():
            texts |= set(each.get("keys") or each.get("columns") or {})
        for kind, keys in (("events", events), ("text", texts)):
            if keys:
                yield run, kind, sorted(keys)
