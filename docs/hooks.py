"""Pages that are made of data when the site is built: commands, configuration keys, panes, glossary, rules.

What stands in the program is not written down a second time, so that it cannot differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from rltui.cli import command_group
from rltui.cli.command_reference import command_texts
from rltui.cli.exit_codes import EXIT_CODES
from rltui.cli.pane_output.render_pane import OutputOptions, render_pane
from rltui.config.config_schema import DISPLAY, json_schema
from rltui.demo import recording
from rltui.demo.replay import Replay
from rltui.metrics.glossary_entry import GlossaryEntry
from rltui.metrics.glossary_files import Pane, general_panes, glossary
from rltui.panes.explanations import explained_entry
from rltui.rules.rulebook import rulebook
from rltui.schema.metric import DIRECTIONS, Metric
from rltui.schema.units import units
from rltui.session.session import Session

ROOT = Path(__file__).resolve().parents[1]
# The bundled recording that shows something on a pane; other panes have no picture.
SHOWN = {
    "overview": "late-collapse", "validation": "verl-ppo", "reward": "verl-ppo", "policy": "late-collapse",
    "critic": "verl-ppo", "lengths": "length-collapse", "preference": "overfitting", "load": "verl-ppo",
    "timing": "verl-ppo", "perf": "verl-ppo", "findings": "kl-runaway",
}  # fmt: skip
MAX_ALIASES = 4  # names of a metric that its entry lists of each framework


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of data, and their pictures."""
    pages: dict[str, str] = {
        "commands.md": _commands(),
        "configuration-keys.md": _configuration_keys(),
        "rules.md": _rules(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "glossary/index.md": _glossary_index(),
        "panes/index.md": _panes_index(),
    }
    for pane in _panes():
        pages[f"panes/{pane.id}.md"] = _pane(pane)
        if glossary().of_pane(pane.id):
            pages[f"glossary/{pane.id}.md"] = _glossary(pane)
        if pane.id in SHOWN:
            pages[f"panes/{pane.id}.svg"] = _picture(pane.id)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for picture in sorted((ROOT / "screenshots").glob("*.svg")):
        files.append(File.generated(config, f"screenshots/{picture.name}", abs_src_path=str(picture)))
    return files


def _commands() -> str:
    lines = [
        "# Commands",
        "",
        "`LOGDIR` is a folder, a run's folder or one log file; several may be given.",
        "",
    ]
    for each in command_texts(command_group):
        lines += [f"## {each.name}", "", "```text", each.usage, "```", ""]
        lines += [line for paragraph in each.text for line in (paragraph, "")]
        if each.options:
            rows = [f"| `{_cell(term)}` | {_cell(text)} |" for term, text in each.options]
            lines += ["| option | does |", "| --- | --- |", *rows, ""]
        if each.examples:
            lines += ["```text", *each.examples, "```", ""]
    lines += ["## Exit codes", "", "| code | means |", "| --- | --- |"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES]
    return "\n".join(lines) + "\n"


def _configuration_keys() -> str:
    lines = [
        "# Configuration keys",
        "",
        "All keys of the [configuration](configuration.md). `[]` is an item of a list, `*` a name of your "
        "own. Those of the second table count in your own file only, not in an `rltui.toml` beside the logs.",
    ]
    tops = json_schema()["properties"]
    for title, shared in (("Names, panes, ranges and limits", True), ("In your own file", False)):
        lines += ["", f"## {title}", "", "| key | value | means |", "| --- | --- | --- |"]
        for key, text, schema in _keys({"properties": tops}, ""):
            if (key.partition(".")[0].removesuffix("[]") in DISPLAY) == shared:
                lines.append(f"| `{key}` | {_cell(text)} | {_cell(schema.get('description', ''))} |")
    return "\n".join(lines) + "\n"


def _keys(schema: dict[str, Any], path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The path, the permitted values in words and the schema of each key of a table, those within it too."""
    for name, each in schema["properties"].items():
        if each.get("deprecated"):
            continue
        key = f"{path}.{name}" if path else name
        yield key, _values(each), each
        for inner, mark in ((each, ""), (each.get("items"), "[]"), (each.get("additionalProperties"), ".*")):
            if isinstance(inner, dict) and "properties" in inner:
                yield from _keys(inner, key + mark)


def _values(schema: dict[str, Any]) -> str:
    """The values that a key may have, in words."""
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_values, schema["anyOf"])))
    kind = schema.get("type", "")
    if kind in ("integer", "number"):
        word = "whole number" if kind == "integer" else "number"
        ends = [f"{schema[end]:,}".removesuffix(".0") for end in ("minimum", "maximum") if end in schema]
        return f"{word}, {' to '.join(ends)}" if ends else word
    words = {"string": "text", "boolean": "true or false", "array": "list", "object": "table"}
    return words.get(kind, kind)


@cache
def _panes() -> tuple[Pane, ...]:
    """The panes in the order of their tabs."""
    panes = (*glossary().panes, *general_panes().values())
    return tuple(sorted(panes, key=lambda pane: pane.order))


def _picture(pane: str) -> str:
    """A pane on a recording, drawn by the program itself."""
    with tempfile.TemporaryDirectory() as folder:
        found = recording.read(SHOWN[pane])
        Replay(found, Path(folder)).write_until(len(found.rows))
        return render_pane(Session.load([folder]), pane, OutputOptions("svg", width=110))


def _panes_index() -> str:
    lines = ["# Panes", "", "Each pane answers one question first and lists its metrics below.", ""]
    lines += ["| key | pane | question |", "| --- | --- | --- |"]
    for pane in _panes():
        key = f"`{pane.key}`" if pane.key else ""
        lines.append(f"| {key} | [{pane.title}]({pane.id}.md) | {_cell(pane.intro.partition('. ')[0])} |")
    return "\n".join(lines) + "\n"


def _pane(pane: Pane) -> str:
    lines = [f"# {pane.title}", "", pane.intro, ""]
    if pane.key:
        lines += [
            f"Key in the monitor: `{pane.key}`. In the shell: `rltui snapshot LOGDIR --pane {pane.id}`.",
            "",
        ]
    if pane.id in SHOWN:
        about = recording.read(SHOWN[pane.id])
        lines += [f"![{pane.title}]({pane.id}.svg)", "", f"The recording `{about.name}`: {about.about}", ""]
    metrics = glossary().of_pane(pane.id)
    if metrics:
        lines += ["| metric | healthy | watch for |", "| --- | --- | --- |"]
        for metric in metrics:
            link = f"[{metric.title}](../glossary/{pane.id}.md#{_anchor(metric.id)})"
            lines.append(f"| {link} | {_cell(metric.healthy)} | {_cell(metric.watch_for)} |")
    if pane.empty:
        lines += ["", f"Without such metrics the pane says: {pane.empty}"]
    return "\n".join(lines) + "\n"


def _glossary_index() -> str:
    lines = ["# Glossary", "", "What every metric means, by pane.", ""]
    for pane in _panes():
        metrics = glossary().of_pane(pane.id)
        if metrics:
            names = ", ".join(f"[{each.title}]({pane.id}.md#{_anchor(each.id)})" for each in metrics)
            lines += [f"**[{pane.title}]({pane.id}.md)**: {names}", ""]
    return "\n".join(lines) + "\n"


def _glossary(pane: Pane) -> str:
    lines = [f"# Glossary: {pane.title}", "", pane.intro, ""]
    for metric in glossary().of_pane(pane.id):
        lines += _entry(metric)
    return "\n".join(lines) + "\n"


def _entry(metric: Metric) -> list[str]:
    entry = explained_entry(GlossaryEntry(metric.id, metric))
    unit = units().words.get(metric.unit, metric.unit)
    lines = [f"## {metric.title} {{ #{_anchor(metric.id)} }}", ""]
    lines += [f"`{metric.id}` · {unit} · {DIRECTIONS[metric.direction]}", "", metric.meaning, ""]
    for label, text in (("Healthy", metric.healthy), ("Watch for", metric.watch_for)):
        if text:
            lines += [f"**{label}**: {text}", ""]
    for formula in metric.derived:
        lines += [f"**Derived**: {formula}", ""]
    if entry.rules:
        lines += ["**Rules**:", ""]
        lines += [
            f"- {rule.severity}: {rule.when} ([{rule.id}](../rules.md#{rule.id}))" for rule in entry.rules
        ]
        lines.append("")
    if entry.aliases:
        written = [
            f"{label}: {', '.join(f'`{key}`' for key in keys[:MAX_ALIASES])}"
            for label, keys in entry.aliases.items()
        ]
        lines += ["**Written as**: " + "; ".join(written), ""]
    if metric.sources:
        lines += ["**Sources**: " + "; ".join(metric.sources), ""]
    return lines


def _rules() -> str:
    book = rulebook()
    lines = [
        "# Rules",
        "",
        "A rule judges a window of points of one metric, never a single point. A symptom combines rules that "
        "have one cause, and says the cause in one sentence.",
        "",
        "## Symptoms",
        "",
    ]
    for symptom in book.symptoms:
        needs = " and ".join(
            "(" + " or ".join(f"[{name}](#{name})" if name in book.rules else name for name in group) + ")"
            for group in symptom.all
        )
        lines += [f"### {symptom.id}", "", f"{symptom.severity}: {symptom.message}", ""]
        lines += [f"When {needs}.", ""]
        lines += [text for text in (symptom.advice, symptom.source and f"Source: {symptom.source}") if text]
        lines.append("")
    lines += ["## Rules of one metric", ""]
    for rule in book.rules.values():
        metrics = ", ".join(f"`{name}`" for name in rule.metrics)
        said = rule.title or rule.message
        head = (
            f"{rule.severity}: {said}" if rule.shown else "For symptoms and other rules, never shown alone."
        )
        lines += [f"### {rule.id} {{ #{rule.id} }}", "", head, ""]
        lines += [f"Judges {metrics}" + (f" per `{rule.per}`" if rule.per else "") + ".", ""]
        lines += [text for text in (rule.advice, rule.source and f"Source: {rule.source}") if text]
        lines.append("")
    return "\n".join(lines) + "\n"


def _anchor(name: str) -> str:
    return name.replace(".", "-").replace("_", "-")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("\n", " ")
