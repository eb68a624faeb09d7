"""Hyperparameters in a log itself: texts named like them, and TensorBoard's own records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.batch import Text
from rltui.run_context.hparams.hparams import (
    NONE,
    HParams,
    hparams_of,
    merge,
    parse_json,
    parse_value,
    parse_yaml,
)
from rltui.run_context.hparams.known_hparams import known_hparams, text_pattern

_FENCE = regex(r"^\s*(?:```+|~~~+)[^\n]*\n(.*?)\n\s*(?:```+|~~~+)\s*$", re.S)
_PRE = regex(r"^\s*<pre[^>]*>(.*?)</pre>\s*$", re.S | re.I)
_CELL = regex(r"(?<!\\)\|")
_LINE = regex(r"^\s*(?:-\s*)?[\w./ -]{1,120}?\s*[:=]\s?.*$")


def is_hparams_tag(tag: str) -> bool:
    """Whether a text of this tag may be hyperparameters: its last word that matters is named like them."""
    return text_pattern().search(_word(tag)) is not None


def _word(tag: str) -> str:
    """`args/text_summary` -> `args`: what names the text."""
    return tag.removesuffix("/text_summary").rpartition("/")[2]


def logged_hparams(texts: Iterable[Text], hparams: Mapping[str, object] | None = None) -> HParams:
    """The hyperparameters in a log's own records, those of TensorBoard first."""
    parts = [hparams_of(hparams, "hparams record")] if hparams else []
    for text in texts:
        if text.kind == "hparams":
            found = parse_json(text.body)
            parts.append(hparams_of(found, "hparams record") if found else NONE)
        elif text.kind == "text" and is_hparams_tag(text.tag):
            parts.append(_of_text(text))
    return merge(parts)


def _of_text(text: Text) -> HParams:
    word = _word(text.tag)
    record = parse_mapping(text.body)
    source = f"{word} record"
    if record is None:
        if not text.body.lstrip().startswith("{"):
            return NONE  # words about hyperparameters
        message = "the record is no whole JSON object; what it says is not shown"
        return HParams(problems=(Problem("warning", "settings-unreadable", source, message),))
    return hparams_of(record, source, "" if word.lower() in known_hparams().text_names else word)


def parse_mapping(body: str) -> Mapping[str, object] | None:
    """The mapping that a text spells as JSON, Python, a Markdown table of two columns, or YAML; or None."""
    text = body.strip("\n")
    for wrapped in (_FENCE.match(text), _PRE.match(text)):
        if wrapped is not None:
            text = wrapped[1]
    stripped = text.strip()
    if stripped.startswith("{"):
        return parse_json(stripped) or _python(stripped)
    if stripped.startswith("|"):
        return _table(stripped)
    lines = [one for one in text.splitlines() if one.strip()]
    if len(lines) < 2 or sum(_LINE.match(one) is not None for one in lines) < 0.8 * len(lines):
        return None
    try:
        found = parse_yaml(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    pairs = (re.split(r"\s*[:=]\s*", one.strip(), maxsplit=1) for one in lines if _LINE.match(one))
    return {key: parse_value(value) for key, value in pairs}


def _python(text: str) -> Mapping[str, object] | None:
    import ast

    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _table(text: str) -> Mapping[str, object] | None:
    """The rows of a Markdown table of two columns; None for any other table."""
    rows = []
    for number, one in enumerate(text.splitlines()):
        if not one.strip():
            continue
        cells = [cell.strip() for cell in _CELL.split(one.strip().removeprefix("|").removesuffix("|"))]
        if number < 2 and len(cells) != 2:
            return None
        if len(cells) < 2:
            continue
        key, value = cells[0], "|".join(cells[1:])
        if not set(key) <= set("-: "):
            rows.append((key.strip("`*"), parse_value(value.replace("\\|", "|"))))
    return dict(rows[1:]) or None
