"""The layout saved per LOGDIR: a small file in the user's state folder, never in LOGDIR."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rltui.common import writable_paths

_MAX_BYTES = 1 << 20  # a larger file is not a layout


@dataclass(slots=True)
class SavedLayout:
    """Layout, pins and smoothing. Values of a wrong type in the file are ignored one by one."""

    pane: str = ""
    theme: str = ""
    density: str = "auto"
    smoothing: int = -1  # index into `state.SMOOTHINGS`; below 0: none was chosen
    axis: str = "step"
    outliers: bool = False  # whether charts show them all
    run_order: str = "age"  # see `RunOrder`
    run_group: str = ""  # what the list of runs is grouped by
    run_columns: list[str] = field(default_factory=list)  # added to those of the list of runs
    pins: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)  # panes that the tabs leave out
    acknowledged: list[str] = field(default_factory=list)  # findings, see `Acknowledgements`


def path_for(logdirs: Sequence[str]) -> Path | None:
    """The file of these folders. None without a home: then nothing is saved."""
    return writable_paths.file_for_logdirs("layouts", logdirs)


def load_layout(path: Path) -> SavedLayout:
    """The saved layout; the defaults without a valid file."""
    layout = SavedLayout()
    try:
        if path.stat().st_size > _MAX_BYTES:
            return layout
        table: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return layout
    if not isinstance(table, dict):
        return layout
    if "hushed" in table:  # its name in files of earlier releases
        table.setdefault("acknowledged", table["hushed"])
    for key, default in asdict(layout).items():
        value = table.get(key)
        if type(value) is type(default):
            setattr(layout, key, [str(one) for one in value] if isinstance(value, list) else value)
    return layout


def save_layout(path: Path, layout: SavedLayout) -> None:
    """Write the file whole or not at all; without a writable home nothing is saved."""
    with contextlib.suppress(OSError):
        writable_paths.write_atomically(path, json.dumps(asdict(layout), indent=1).encode())


def delete_layout(path: Path) -> None:
    """Delete the layout."""
    with contextlib.suppress(OSError):
        path.unlink()
