"""`rltui explain`: what a metric means, asked by any framework's name for it."""

from __future__ import annotations

import click

from rltui.cli.arguments import JSON_LINES, FrameworkArgument, schema_option
from rltui.cli.completions import complete_metric
from rltui.cli.exit_codes import FOUND
from rltui.cli.file_problems import note_problems
from rltui.cli.output import emit, emit_json, leave, note
from rltui.common.text import clean
from rltui.config import load_config
from rltui.metrics.definitions import Definition, as_lines, definitions
from rltui.metrics.explain_key import nearest
from rltui.metrics.glossary_entry import GlossaryEntry
from rltui.metrics.glossary_files import glossary, pane_id
from rltui.panes.metric_explanation import finding_card, metric_cards

WIDTH = 80  # cells


@click.command(name="explain")
@click.argument("keys", metavar="KEY ...", nargs=-1, required=True, shell_complete=complete_metric)
@click.option(
    "--framework", metavar="NAME", type=FrameworkArgument(), help="Read the key as this framework writes it."
)
@JSON_LINES
@schema_option("explain")
def command(keys: tuple[str, ...], framework: str | None, as_json: bool) -> None:
    """Say what a metric means: KEY as any framework writes it, or a canonical id such as policy.kl_ref.

    Where frameworks mean different things by one name, all meanings are printed; --framework chooses one.
    Terms such as gae, "value function" or clipping are explained, problems such as "reward crashes", and
    findings by their id.

    \b
    Examples:
      rltui explain actor/pg_clipfrac
      rltui explain train/entropy_loss --framework stable-baselines3
      rltui explain policy.kl_ref --json
      rltui explain gae
      rltui explain grad-explosion
    """
    config = load_config()
    if config.problems:
        from rltui.cli.loading import refuse_unreadable

        refuse_unreadable(config)
    note_problems(config.problems)
    unknown, first = False, True
    joined = " ".join(keys)
    is_phrase = len(keys) > 1 and (_defined(joined) is not None or definitions().metrics(joined))
    for key in (joined,) if is_phrase else keys:
        cards = metric_cards(key, framework, config)
        defined = _defined(key) if framework is None else None
        if not cards and defined is None:
            unknown = True
            _note_nearest(key, framework)
        if as_json:
            for answer in _answers(key, cards, defined):
                emit_json(answer)
            continue
        texts = [found.as_lines(WIDTH) for found in cards]
        for text in (*texts, *([as_lines(defined, WIDTH)] if defined is not None else [])):
            if not first:
                emit()
            emit("\n".join(text))
            first = False
    if unknown:
        leave(FOUND)


def _defined(words: str) -> Definition | None:
    """The term, problem or finding of this name."""
    return definitions().find(words) or finding_card(words)


def _answers(key: str, cards: list[GlossaryEntry], defined: Definition | None) -> list[dict[str, object]]:
    """One object for a key, those of its other meanings inside; one for each member of a family of keys.

    What is defined beside, a term or a problem, is under `definition`; alone it is an object of these fields.
    """
    entries = [card.as_json() for card in cards]
    if defined is not None and not entries:
        return [_of_definition(key, defined)]
    if defined is not None:
        entries = [{**entry, "definition": defined.as_json()} for entry in entries]
    if len(entries) < 2 or "*" in key:
        return entries
    return [{**entries[0], "framework": None, "others": entries[1:]}]


def _of_definition(key: str, defined: Definition) -> dict[str, object]:
    """A term or problem with all fields that a metric has."""
    empty = {"framework": None, "canonical": None, "pane": "", "unit": "", "direction": "none"}
    rest = {"healthy": "", "watch_for": "", "rules": [], "caveats": [], "frameworks": [], "held_out": False}
    return {"key": key, **empty, **rest, **defined.as_json(), "aliases": {}, "definition": defined.as_json()}


def _note_nearest(key: str, framework: str | None) -> None:
    near = [name for name in nearest(key) if name != key]
    whose = f" of {framework}" if framework else ""
    meant = [label for card in metric_cards(key) for label in card.frameworks] if framework else []
    hint = f"; nearest: {', '.join(near)}" if near else "; `rltui glossary` lists all metrics"
    if glossary().pane(pane_id(key) or key) is not None:
        hint = f"; it is a pane: `rltui glossary --pane {pane_id(key) or key}`{hint}"
    if meant:
        hint = f"; it is a name of {', '.join(meant)}{hint}"
    note(f"{clean(key, 120)}: no metric{whose} by this name{hint}")
