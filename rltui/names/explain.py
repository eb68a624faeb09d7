"""What `rltui explain` says of a key."""

from __future__ import annotations

from dataclasses import dataclass

from rltui.names.catalogue import catalogue


@dataclass(frozen=True, slots=True)
class Explanation:
    """One meaning of a key."""

    key: str


def explain(key: str, framework: str | None = None) -> list[Explanation]:
    """Meanings of a key."""
    catalogue()
    return []


def nearest(key: str) -> list[str]:
    """Names like it."""
    return []
