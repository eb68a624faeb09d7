"""What a run's tags are, gathered once for a set of tags: by pane, by canonical id, by distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from rltui.session.session import RunView

Group = tuple[str, str, str, bool]  # pane, group, what a wildcard matched, held out
Quantity = tuple[str, bool, str]  # canonical id, held out, what a wildcard matched


@dataclass(frozen=True, slots=True)
class TagIndex:
    """Tags in the order in which they appeared."""

    panes: dict[str, list[str]]
    canonical: dict[str, list[str]]
    groups: dict[Group, list[str]]
    quantities: dict[Quantity, list[str]]
    guessed: frozenset[str]


_KNOWN: WeakKeyDictionary[RunView, tuple[tuple[int, int], TagIndex]] = WeakKeyDictionary()


def tag_index(view: RunView) -> TagIndex:
    """The index of a run; made anew when tags have appeared or names have changed."""
    key = (len(view.run.series), id(view.names))
    known = _KNOWN.get(view)
    if known is not None and known[0] == key:
        return known[1]
    made = TagIndex({}, {}, {}, {}, frozenset())
    guessed = set()
    for tag in list(view.run.series):
        name = view.names.name(tag)
        made.panes.setdefault(name.pane, []).append(tag)
        if name.canonical is not None:
            made.canonical.setdefault(name.canonical, []).append(tag)
            made.quantities.setdefault((name.canonical, name.held_out, name.part), []).append(tag)
        if name.group:
            made.groups.setdefault((name.pane, name.group, name.part, name.held_out), []).append(tag)
        if name.guessed:
            guessed.add(tag)
    made = TagIndex(made.panes, made.canonical, made.groups, made.quantities, frozenset(guessed))
    _KNOWN[view] = (key, made)
    return made


def pane_of(view: RunView, tag: str) -> str:
    """The pane that shows a tag."""
    return view.names.name(tag).pane


def mates(view: RunView, tag: str) -> list[str]:
    """The tags of the same distribution, itself among them."""
    name = view.names.name(tag)
    found = (
        tag_index(view).groups.get((name.pane, name.group, name.part, name.held_out)) if name.group else None
    )
    return found or [tag]


def counterpart(view: RunView, tag: str, other: RunView) -> str | None:
    """The tag of another run that is the same metric: the same key, else the same quantity.

    A quantity that a run writes under several keys has no counterpart: nothing says which of them it is.
    """
    if tag in other.run.series:
        return tag
    name = view.names.name(tag)
    if name.canonical is None:
        return None
    key = (name.canonical, name.held_out, name.part)
    mine, theirs = (tag_index(one).quantities.get(key, []) for one in (view, other))
    return theirs[0] if len(mine) == len(theirs) == 1 else None
