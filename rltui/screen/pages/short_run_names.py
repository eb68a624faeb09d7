"""Short names of runs: folders that every run has, and those that tell nothing apart, are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Folders that frameworks put between an experiment and its files.
_PLAIN = frozenset(
    {"runs", "logs", "log", "tb", "tb_logs", "tensorboard", "tensorboard_log", "tensorboard_logs", "events"}
)


def short_run_names(names: Iterable[str]) -> dict[str, str]:
    """By name, the fewest leading folders that tell a run from the others, without folders that all share.

    Two runs never get the same short name.
    """
    parts = {name: name.split("/") for name in names}
    shared = _shared(list(parts.values()))
    begins: dict[tuple[str, ...], int] = {}
    for path in parts.values():
        for depth in range(1, len(path) + 1):
            key = tuple(path[:depth])
            begins[key] = begins.get(key, 0) + 1
    found: dict[str, str] = {}
    for name, path in parts.items():
        alone = (n for n in range(shared + 1, len(path) + 1) if begins[tuple(path[:n])] == 1)
        told_by = (_told(path[shared:depth]) for depth in alone)
        found[name] = next((short for short in told_by if short), name)
    told: dict[str, int] = {}
    for short in found.values():
        told[short] = told.get(short, 0) + 1
    return {name: short if told[short] == 1 else name for name, short in found.items()}


def _told(parts: Sequence[str]) -> str:
    return "/".join(part for part in parts if part.lower() not in _PLAIN)


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """How many leading folders all of several paths share; at least one part of each is left."""
    if len(paths) < 2:
        return 0
    most = min(len(path) for path in paths) - 1
    return next((at for at in range(most) if len({path[at] for path in paths}) > 1), max(most, 0))
