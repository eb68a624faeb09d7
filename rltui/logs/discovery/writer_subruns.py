"""Sub-runs that a writer makes for its own reasons and that belong to the run above them.

`add_scalars` gives every curve its own folder and event file, with one tag in it:
torch `<run>/<main tag with _ for />_<key>/`, tensorboardX `<run>/<main tag>/<key>/`.
`add_hparams` writes `<run>/<unix time>/` or `<run>/<run_name>/` with hparams and a few single points.
A folder is folded only where its content bears its name out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from rltui.logs.discovery.duplicate_logs import Sample

_TIME_FOLDER = re.compile(r"^\d{9,11}\.\d+$")
_WRITER = re.compile(r"tfevents\.\d+\.(?P<writer>.+?\.\d+)\.\d+")  # host and process of torch's writer


@dataclass(frozen=True, slots=True)
class Parent:
    """Where a sub-run belongs."""

    folder: str
    rename: Callable[[str], str]  # from the tag in the file to the tag in the run


@lru_cache(maxsize=1024)
def above(folder: str) -> tuple[str, ...]:
    """The folders above `folder`, nearest first; the last is the empty one, LOGDIR itself."""
    parts = folder.split("/") if folder else []
    return tuple("/".join(parts[:count]) for count in range(len(parts) - 1, -1, -1))


def parent_of(folder: str, name: str, said: Sample, events: dict[str, list[str]]) -> Parent | None:
    """The run that the event file `folder/name` with content `said` belongs to; None when to its own.

    events: names of the event files in each folder.
    """
    for upper in above(folder):
        if not events.get(upper):
            continue
        below = folder[len(upper) + 1 :] if upper else folder
        if _TIME_FOLDER.match(below):
            return Parent(upper, _same)
        if said.hparams and _same_writer(name, events[upper]):
            return Parent(upper, _same)
        if len(said.tags) == 1:
            main = said.tags[0]
            for joint, path in (("_", main.replace("/", "_")), ("/", main)):
                if below.startswith(path + joint) and len(below) > len(path) + 1:
                    return Parent(upper, _curve(main, below[len(path) + 1 :], below))
    return None


def _same(tag: str) -> str:
    return tag


def _curve(main: str, key: str, below: str) -> Callable[[str], str]:
    def rename(tag: str) -> str:
        return f"{main}/{key}" if tag == main else f"{below}/{tag}"

    return rename


def _same_writer(name: str, uppers: list[str]) -> bool:
    mine = _WRITER.search(name)
    return mine is not None and any(
        (its := _WRITER.search(upper)) is not None and its["writer"] == mine["writer"] for upper in uppers
    )
