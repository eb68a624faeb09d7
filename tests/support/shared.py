"""The collection of real logs beside the project; tests that need it skip where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
LOGS = SHARED / "logs"
PUBLIC = SHARED / "public"
BUNDLED = Path(__file__).resolve().parents[1] / "logs"

needs_shared = pytest.mark.skipif(not LOGS.is_dir(), reason="the shared collection of logs is not here")


def oracles() -> list[Path]:
    """Every `*.oracle.json` of the shared collection; empty where it is missing."""
    return sorted(LOGS.rglob("*.oracle.json"))


def manifest(folder: Path = LOGS) -> list[dict[str, Any]]:
    """The labelled runs of a shared collection; empty where it is missing."""
    path = folder / "manifest.json"
    return list(json.loads(path.read_text())["runs"]) if path.is_file() else []
