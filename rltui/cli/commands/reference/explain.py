"""`rltui explain`: the meaning of a key, a term, a problem or a finding."""

from __future__ import annotations

import click

from rltui.cli.exit_codes import FOUND
from rltui.cli.options.arguments import JSON_LINES, FrameworkArgument, schema_option
from rltui.cli.options.completions import complete_metric
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import emit, emit_json, leave, note
from rltui.common.display_text import clean
from rltui.config import load_config
from rltui.draw.cells import wrap
from rltui.metrics.definitions import Definition, Term, as_lines, definitions
from rltui.metrics.explain_key import nearest
from rltui.metrics.glossary_entry import GlossaryEntry
from rltui.metrics.glossary_files import glossary, pane_id
from rltui.panes.explanations import definition_of, explained_entries

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
        from rltui.cli.reading.loading import refuse_unreadable

        refuse_unreadable(config)
    note_problems(config.problems)
    unknown, first = False, True
    joined = " ".join(keys)
    is_phrase = len(keys) > 1 and (definition_of(joined) is not None or definitions().metrics(joined))
    for key in (joined,) if is_phrase else keys:
        entries = explained_entries(key, framework, config)
        definition = definition_of(key) if framework is None else None
        if not entries and definition is None:
            unknown = True
            _note_unknown(key, framework)
        if as_json:
            for record in _records(key, entries, definition):
                emit_json(record)
            continue
        texts = [entry.as_lines(WIDTH) for entry in entries]
        if len(entries) > 1 and "*" not in key:
            texts.insert(0, _meanings(key, entries))
        if definition is not None:
            told = as_lines(_without(definition, entries), WIDTH)
            texts.insert(len(texts) if _names(key, entries) else 0, told)
        for text in texts:
            if not first:
                emit()
            emit("\n".join(text))
            first = False
    if unknown:
        leave(FOUND)


def _names(key: str, entries: list[GlossaryEntry]) -> bool:
    """Whether a key names these metrics, rather than a term that some framework writes for one of them."""
    return not key.isalpha() or any(entry.metric.title.lower() == key.lower() for entry in entries)


def _without(definition: Definition, entries: list[GlossaryEntry]) -> Definition:
    """A definition for the text that explains these metrics, too: what is healthy is not said twice."""
    if not isinstance(definition, Term):
        return definition
    told = {entry.canonical for entry in entries}
    return definition._replace(check_next=tuple(one for one in definition.check_next if one not in told))


def _meanings(key: str, entries: list[GlossaryEntry]) -> list[str]:
    """What tells the meanings of a key apart, before each of them is explained."""
    lines = [f"{clean(key)} has {len(entries)} meanings; --framework NAME chooses one:"]
    for entry in entries:
        sign = "minus " if entry.scale < 0 and not entry.offset else ""
        names = ", ".join(entry.frameworks) or "no framework"
        lines += wrap(f"{sign}{entry.metric.title} ({entry.canonical}): {names}", WIDTH - 2)
    return [lines[0], *(f"  {one}" for one in lines[1:])]


def _records(
    key: str, entries: list[GlossaryEntry], definition: Definition | None
) -> list[dict[str, object]]:
    """One object for a key, which contains its other meanings; for a pattern one object per member.

    A definition is the field `definition`. Without a metric, it is an object with the fields of metrics.
    """
    records = [entry.as_json() for entry in entries]
    if definition is not None and not records:
        empty: dict[str, object] = {"framework": None, "canonical": None, "pane": "", "unit": ""}
        empty |= {"direction": "none", "healthy": "", "watch_for": "", "rules": [], "caveats": []}
        empty |= {"frameworks": [], "held_out": False}
        fields = definition.as_json()
        return [{"key": key, **empty, **fields, "aliases": {}, "definition": fields}]
    if definition is not None:
        records = [{**record, "definition": definition.as_json()} for record in records]
    if len(records) < 2 or "*" in key:
        return records
    return [{**records[0], "framework": None, "others": records[1:]}]


def _note_unknown(key: str, framework: str | None) -> None:
    near = [name for name in nearest(key) if name != key]
    of_framework = f" of {framework}" if framework else ""
    labels = [label for entry in explained_entries(key) for label in entry.frameworks] if framework else []
    hint = f"; nearest: {', '.join(near)}" if near else "; `rltui glossary` lists all metrics"
    if glossary().pane(pane_id(key) or key) is not None:
        hint = f"; it is a pane: `rltui glossary --pane {pane_id(key) or key}`{hint}"
    if labels:
        hint = f"; it is a name of {', '.join(labels)}{hint}"
    note(f"{clean(key, 120)}: no metric{of_framework or ' or term'} by this name{hint}")
