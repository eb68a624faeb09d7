"""The table of key bindings (`key_bindings.toml`): actions, keys, texts for help, contexts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from rltui.common.display_text import clean, in_sentence
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.panes.pane_tabs import PANES
from rltui.schema.toml_files import read_table

MOVING = "Moving"  # the group of keys that the palette lists last


class KeyEvent(Protocol):
    """A key as Textual reports it."""

    key: str
    character: str | None


class Command(NamedTuple):
    """An action of the table or of a clickable spot, and its argument."""

    action: str
    argument: str = ""


class Bind(NamedTuple):
    """One action and its keys. `where` and `group` are those of the group in the table where it has none.

    `also` are other words that the palette finds it by.
    """

    action: str
    keys: tuple[str, ...]
    words: str
    group: str = ""
    where: str = ""
    also: str = ""


class KeyGroup(NamedTuple):
    """A group of bindings in help; `panes`: the keys of the panes come first."""

    title: str
    key: tuple[Bind, ...]
    where: str = "any"
    panes: bool = False


class KeyContext(NamedTuple):
    """What keys apply to, such as a pane or a list.

    hints: of its footer, in order; the last ones of `kept` are left out first. title: of its keys in help.
    place: its name where one of its keys is pressed elsewhere.
    words: texts for keys of all contexts that do something else here.
    """

    hints: Mapping[str, str] = {}
    kept: tuple[str, ...] = ()
    title: str = ""
    words: Mapping[str, str] = {}
    place: str = ""


class Sign(NamedTuple):
    """A sign on the screen and its meaning."""

    sign: str
    words: str


class KeyTable(NamedTuple):
    """The table. more: texts for keys of panes after their titles; shown: names of keys for people."""

    more: Mapping[str, str]
    shown: Mapping[str, str]
    group: tuple[KeyGroup, ...]
    context: Mapping[str, KeyContext]
    sign: tuple[Sign, ...]


@cache
def key_table() -> KeyTable:
    """The table, read on first use."""
    return read_table("key_bindings", KeyTable)


@cache
def bindings() -> tuple[Bind, ...]:
    """All default bindings, in the order of help."""
    table, found = key_table(), []
    for group in table.group:
        own = [
            Bind(f"pane:{pane.id}", (pane.key,), in_sentence(pane.title) + table.more.get(pane.id, ""))
            for pane in (PANES.values() if group.panes else ())
        ]
        found += [
            bind._replace(group=group.title, where=bind.where or group.where) for bind in (*own, *group.key)
        ]
    return tuple(found)


def shown(key: str) -> str:
    """The name of a key for people."""
    if key.startswith("ctrl+"):
        return f"Ctrl-{key[5:].upper()}"
    return key_table().shown.get(key, key)


class Keys:
    """The bindings in use: the table, overridden by the user's configuration."""

    def __init__(self, own: Mapping[str, object] | None = None) -> None:
        self.problems: list[Problem] = []
        known = {bind.action for bind in bindings()}
        changed: dict[str, tuple[str, ...]] = {}
        for action, keys in (own or {}).items():
            listed = [keys] if isinstance(keys, str) else keys
            if action not in known:
                self._fault(f"keys: no action is called '{clean(str(action), 40)}'")
            elif not isinstance(listed, list | tuple) or not all(
                isinstance(key, str) and key for key in listed
            ):
                self._fault(f"keys.{action}: a key or a list of keys is needed")
            else:
                changed[action] = tuple(str(key) for key in listed)
        self.binds = tuple(bind._replace(keys=changed.get(bind.action, bind.keys)) for bind in bindings())
        self._by_key: dict[tuple[str, str], str] = {}
        # A key of the user takes precedence over the same key in the table.
        for bind in sorted(self.binds, key=lambda bind: bind.action in changed):
            for key in bind.keys:
                self._by_key[bind.where, key] = bind.action

    def _fault(self, message: str) -> None:
        self.problems.append(Problem("warning", "bad-key", "config", message))

    def action(self, key: str, where: str) -> str | None:
        """The action of a key in a context, else its action in all contexts."""
        return self._by_key.get((where, key)) or self._by_key.get(("any", key))

    def places(self, key: str) -> str:
        """`the list of runs, the samples`: where a key works that does nothing here; empty if nowhere."""
        named = (
            (context.place, self._by_key.get((where, key))) for where, context in key_table().context.items()
        )
        return ", ".join(place for place, action in named if place and action)

    def hint_of(self, action: str) -> str:
        """The name of the first key of an action, for people."""
        bind = next((bind for bind in self.binds if bind.action == action), None)
        return shown(bind.keys[0]) if bind is not None and bind.keys else ""


def key_name(event: KeyEvent) -> str:
    """The name of a key in the table of bindings: its character, or Textual's name."""
    if event.character is not None and event.character.isprintable() and "ctrl+" not in event.key:
        return event.character
    return {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter"}.get(
        event.key, event.key
    )
