"""Lines for the user's configuration that make unrecognised metrics known, ready to paste."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from rltui.common.regex import regex
from rltui.common.text import fit
from rltui.metrics.frameworks.patterns import PatternError, check, is_wild
from rltui.metrics.resolve import MetricNames
from rltui.metrics.unknown_keys import humanise
from rltui.schema.metric import TITLE_WIDTH

_ID = regex(r"[^a-z0-9_]+")


def snippet(tags: Iterable[str], names: MetricNames) -> str:
    """TOML that names each tag as a metric of the user's own, in the pane where it stands now.

    Statistics of one distribution that differ only in their last part stay separate entries. Tags that
    would be read as patterns are told in a comment and left out.
    """
    blocks = []
    used: set[str] = set()
    for tag in tags:
        try:
            check(tag)
        except PatternError:
            tag_is_plain = False
        else:
            tag_is_plain = not is_wild(tag) and "{" not in tag
        if not tag_is_plain:
            blocks.append(f"# {quoted(tag)} would be read as a pattern; write one that matches it")
            continue
        name = names.name(tag)
        lines = [
            "[[metrics]]",
            f"id = {quoted(_unused(_id(tag), used))}",
            f"title = {quoted(fit(humanise(tag.rsplit('/', 1)[-1]), TITLE_WIDTH))}",
            f"pane = {quoted(name.pane if re.fullmatch('[a-z][a-z0-9-]*', name.pane) else 'other')}",
            'unit = "varies"',
            f"aliases = [{quoted(tag)}]",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _id(tag: str) -> str:
    words = [word for part in tag.lower().split("/") if (word := _ID.sub("_", part).strip("_"))]
    return ".".join(["own", *(words or ["metric"])])


def _unused(wanted: str, used: set[str]) -> str:
    made, number = wanted, 1
    while made in used:
        number += 1
        made = f"{wanted}_{number}"
    used.add(made)
    return made
