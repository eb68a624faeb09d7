"""The LOGDIRs, each with the prefix that tells its runs from those of the others."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from rltui.common.named_tuple import NamedTuple
from rltui.common.writable_paths import local_path


class Root(NamedTuple):
    """One LOGDIR. For a single file, its folder and the name of the file."""

    given: str
    place: str  # absolute
    only: str | None = None
    prefix: str = ""  # of run names and paths, if there are several LOGDIRs


def is_folder(place: str) -> bool | None:
    """Whether a path is a folder; None if it does not exist or cannot be read."""
    try:
        return stat.S_ISDIR(os.stat(place).st_mode)  # noqa: PTH116 - a string is what is kept
    except OSError:
        return None


def roots_of(
    logdirs: Sequence[str | os.PathLike[str]],
    could_be_log: Callable[[str], bool],
    ask: Callable[[str], bool | None] = is_folder,
) -> tuple[Root, ...]:
    """The LOGDIRs, each with a prefix for its runs.

    One that does not exist counts as a folder, unless it has the name of a log.
    """
    places: list[tuple[str, str, str | None]] = []
    for given in dict.fromkeys(os.fspath(logdir) for logdir in logdirs):
        place = Path(local_path(given)).expanduser().absolute()
        folder = ask(str(place))
        single = bool(place.suffix) and could_be_log(place.name) if folder is None else not folder
        absolute = os.path.normpath(place.parent if single else place)
        places.append((given, absolute, place.name if single else None))
    prefixes = _prefixes([place for _, place, _ in places])
    return tuple(Root(given, place, only, prefixes[place]) for given, place, only in places)


def _prefixes(places: Sequence[str]) -> dict[str, str]:
    """For each folder, as many of its last parts as make it unique; nothing for a single folder."""
    distinct = list(dict.fromkeys(places))
    if len(distinct) < 2:
        return dict.fromkeys(distinct, "")
    for count in range(1, 1 + max(len(Path(place).parts) for place in distinct)):
        names = ["/".join(Path(place).parts[-count:]).lstrip("/") for place in distinct]
        if len(set(names)) == len(names):
            break
    return {place: f"{name}/" if name else "" for place, name in zip(distinct, names, strict=True)}
