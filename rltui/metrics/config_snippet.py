"""Configuration entries for unrecognised metrics, ready to paste."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import count

from rltui.common.display_text import fit
from rltui.common.regex import regex
from rltui.metrics.frameworks.patterns import PatternError, check, is_wild
from rltui.metrics.resolve import MetricNames
from rltui.metrics.unknown_keys import humanise
from rltui.schema.metric import PANE_ID, TITLE_WIDTH

_NOT_IN_IDS = regex(r"[^a-z0-9_]+")


def snippet(tags: Iterable[str], names: MetricNames) -> str:
    """TOML that defines a metric for each tag, in the pane where it is shown now.

    For tags that would be read as patterns there is a comment.
    """
    blocks = []
    used: set[str] = set()
    for tag in tags:
        if not _is_plain(tag):
            blocks.append(f"# {quoted(tag)} would be read as a pattern; write one that matches it")
            continue
        name = names.name(tag)
        lines = [
            "[[metrics]]",
            f"id = {quoted(_unique_id(tag, used))}",
            f"title = {quoted(fit(humanise(tag.rsplit('/', 1)[-1]), TITLE_WIDTH))}",
            f"pane = {quoted(name.pane if re.fullmatch(PANE_ID.pattern, name.pane) else 'other')}",
            'unit = "varies"',
            f"aliases = [{quoted(tag)}]",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _is_plain(tag: str) -> bool:
    """Whether a tag as pattern matches only itself."""
    try:
        check(tag)
    except PatternError:
        return False
    return not is_wild(tag) and "{" not in tag


def quoted(text: str) -> str:
    """A text as TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unique_id(tag: str, used: set[str]) -> str:
    words = [word for part in tag.lower().split("/") if (word := _NOT_IN_IDS.sub("_", part).strip("_"))]
    base = ".".join(["own", *(words or ["metric"])])
    ids = (base if number == 1 else f"{base}_{number}" for number in count(1))
    id_ = next(id_ for id_ in ids if id_ not in used)
    used.add(id_)
    return id_
