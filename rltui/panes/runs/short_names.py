"""Short names of runs that distinguish them, independent of filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from rltui.common.display_text import cell_width, fit, head
from rltui.common.regex import regex
from rltui.logs import log_file_names

_SEPARATOR = regex(r"[/_.,=\- ]")
MIN_SHARED = 4  # letters of a common beginning from which it is replaced by an ellipsis


def short_run_names(names: Iterable[str]) -> dict[str, str]:
    """By name, the fewest leading folders that distinguish a run from the others, without common ones.

    Short names are unique. A single run keeps all its folders.
    """
    parts = {name: name.split("/") for name in names}
    if len(parts) == 1:
        (name,) = parts
        return {name: _joined(parts[name]) or name}
    shared = _shared_folders(list(parts.values()))
    prefixes = Counter(tuple(path[:depth]) for path in parts.values() for depth in range(1, len(path) + 1))
    short_names: dict[str, str] = {}
    for name, path in parts.items():
        unique = (n for n in range(shared + 1, len(path) + 1) if prefixes[tuple(path[:n])] == 1)
        candidates = (_joined(path[shared:depth]) for depth in unique)
        short_names[name] = next(filter(None, candidates), name)
    uses = Counter(short_names.values())
    return {name: short if uses[short] == 1 else name for name, short in short_names.items()}


def with_given_names(shown: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """By run its given name, followed by its short name if several runs have that given name."""
    uses = Counter(given.get(name, short) for name, short in shown.items())
    return {
        name: short if not given.get(name)
        else given[name] if uses[given[name]] == 1
        else f"{given[name]} {short.rpartition('/')[2]}"
        for name, short in shown.items()
    }  # fmt: skip


def _joined(path: Sequence[str]) -> str:
    """Folders as a name, each once, without uninformative ones."""
    plain = log_file_names.names().plain_folders
    return "/".join(dict.fromkeys(part for part in path if part.lower() not in plain))


def _shared_folders(paths: Sequence[Sequence[str]]) -> int:
    """The number of leading folders that several paths share; at least one part of each is left."""
    if len(paths) < 2:
        return 0
    most = min(len(path) for path in paths) - 1
    return next((at for at in range(most) if len({path[at] for path in paths}) > 1), max(most, 0))


def fitted_names(names: Collection[str], width: int) -> dict[str, str]:
    """By name, at most `width` cells of it, different for each if possible.

    The common beginning is cut first, then the middle, or the beginning that similar names share.
    """
    if all(cell_width(name) <= width for name in names):
        return {name: name for name in names}
    shared = _to_separator(shared_beginning(names)) if len(names) > 1 else 0
    cut = {name: f"…{name[shared:]}" if shared else name for name in names}
    fitted = {name: fit(short, width) for name, short in cut.items()}
    alike: dict[str, list[str]] = {}
    for name, short in fitted.items():
        alike.setdefault(short, []).append(name)
    for same in alike.values():
        if len(same) > 1:
            differs = len(shared_beginning(same))
            for name in same:
                start = max(min(differs - 2, len(name) - width + 1), 0)
                fitted[name] = f"…{head(name[start:], width - 1)}"
    return fitted


def shared_beginning(texts: Collection[str]) -> str:
    """The common beginning of some texts."""
    first, last = min(texts), max(texts)
    at = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    return first[:at]


def _to_separator(prefix: str) -> int:
    """The length of a common beginning up to its last separator; 0 if it is short."""
    ends = [match.end() for match in _SEPARATOR.finditer(prefix)]
    return ends[-1] if ends and ends[-1] >= MIN_SHARED else 0
