"""What the screen remembers of a LOGDIR: a small file in the user's state folder, never in LOGDIR."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rltui import paths

_LIMIT = 1 << 20  # bytes; a larger file is not ours


@dataclass(slots=True)
class SavedLayout:
    """Layout, pins and smoothing. Values of a wrong type in the file are ignored one by one."""

    pane: str = ""
    theme: str = ""
    density: str = "auto"
    smoothing: int = -1  # of `actions.SMOOTHINGS`; below 0: nothing was chosen
    axis: str = "step"
    pins: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)  # panes that the tabs leave out
    hushed: list[str] = field(default_factory=list)  # findings that were seen, see `hush`


def path_for(logdirs: Sequence[str]) -> Path | None:
    """The file that remembers these folders. None without a home: then nothing is remembered."""
    return paths.of_logdirs("layouts", logdirs)


def recall(path: Path) -> SavedLayout:
    """What was remembered; the defaults when there is nothing sensible."""
    memory = SavedLayout()
    try:
        if path.stat().st_size > _LIMIT:
            return memory
        table: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return memory
    if not isinstance(table, dict):
        return memory
    for key, default in asdict(memory).items():
        value = table.get(key)
        if type(value) is type(default):
            setattr(memory, key, [str(one) for one in value] if isinstance(value, list) else value)
    return memory


def remember(path: Path, memory: SavedLayout) -> None:
    """Write it whole or not at all; without a writable home nothing is remembered."""
    with contextlib.suppress(OSError):
        paths.write_atomically(path, json.dumps(asdict(memory), indent=1).encode())


def forget(path: Path) -> None:
    """Start afresh."""
    with contextlib.suppress(OSError):
        path.unlink()
