"""`rltui explain`: what a metric means, asked by any framework's name for it."""

from __future__ import annotations

import click

from rltui import metrics as resolver
from rltui.cli.output import FOUND, emit, emit_json, fail, leave, note
from rltui.config import load_config
from rltui.metrics.frameworks.load import frameworks
from rltui.metrics.glossary.entry_text import GlossaryEntry
from rltui.panes.metric_card import cards_of
from rltui.text import clean

WIDTH = 80  # cells
# Not the shared option: its module loads sessions, and a look into the glossary must not wait for them.
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")


@click.command(name="explain")
@click.argument("keys", metavar="KEY ...", nargs=-1, required=True)
@click.option("--framework", metavar="NAME", help="Read the key as this framework writes it.")
@JSON
def command(keys: tuple[str, ...], framework: str | None, as_json: bool) -> None:
    """Say what a metric means: KEY as any framework writes it, or a canonical id such as policy.kl_ref.

    Where frameworks mean different things by one name, all of them are told; --framework decides.

    \b
    Examples:
      rltui explain actor/pg_clipfrac
      rltui explain train/entropy_loss --framework stable-baselines3
      rltui explain policy.kl_ref --json
    """
    label = known_framework(framework) if framework is not None else None
    config = load_config()
    if config.problems:
        from rltui.cli.loading import refuse_unreadable

        refuse_unreadable(config)
    for problem in config.problems:
        note(f"{problem.path}: {problem.message}")
    unknown, first = False, True
    for key in keys:
        cards = cards_of(key, label, config)
        if not cards:
            unknown = True
            _tell_nearest(key, label)
        if as_json:
            for answer in _answers(key, cards):
                emit_json(answer)
            continue
        for found in cards:
            if not first:
                emit()
            emit("\n".join(found.as_lines(WIDTH)))
            first = False
    if unknown:
        leave(FOUND)


def _answers(key: str, cards: list[GlossaryEntry]) -> list[dict[str, object]]:
    """One object for a key, those of its other meanings inside; one for each member of a family of keys."""
    told = [card.as_json() for card in cards]
    if len(told) < 2 or "*" in key:
        return told
    return [{**told[0], "framework": None, "others": told[1:]}]


def known_framework(name: str) -> str:
    """The label of a framework or variant in any spelling; ends the command with 1 for an unknown one."""
    found = frameworks().get(name)
    if found is None:
        fail(f"no framework named {name!r}; frameworks: {', '.join(frameworks().labels)}", FOUND)
    return found.label


def _tell_nearest(key: str, framework: str | None) -> None:
    near = [name for name in resolver.nearest(key) if name != key]
    whose = f" of {framework}" if framework else ""
    meant = [label for card in cards_of(key) for label in card.frameworks] if framework else []
    hint = f"; nearest: {', '.join(near)}" if near else "; `rltui glossary` lists all metrics"
    if meant:
        hint = f"; it is a name of {', '.join(meant)}{hint}"
    note(f"{clean(key, 120)}: no metric{whose} by this name{hint}")
