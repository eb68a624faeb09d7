"""Hyperparameters in a log: texts with such names, and TensorBoard's hparams records."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.logs.batch import Text
from rltui.run_context.hparams.hparams import (
    NO_HPARAMS,
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
    """Whether a text with this tag may hold hyperparameters, by the name of the text."""
    return text_pattern().search(_text_name(tag)) is not None


def _text_name(tag: str) -> str:
    """`args/text_summary` -> `args`."""
    return tag.removesuffix("/text_summary").rpartition("/")[2]


def logged_hparams(texts: Iterable[Text], hparams: Mapping[str, object] | None = None) -> HParams:
    """The hyperparameters in the records of a log, those of TensorBoard first. hparams: merged records."""
    parts = [hparams_of(hparams, "hparams record")] if hparams else []
    for text in texts:
        if text.kind == "hparams":
            parts.append(hparams_of(parse_json(text.body) or {}, "hparams record"))
        elif text.kind == "text" and is_hparams_tag(text.tag):
            parts.append(_of_text(text))
    return merge(parts)


def _of_text(text: Text) -> HParams:
    name = _text_name(text.tag)
    record = parse_mapping(text.body)
    source = f"{name} record"
    if record is None:
        if not text.body.lstrip().startswith("{"):
            return NO_HPARAMS  # prose about hyperparameters
        message = "the record is not a complete JSON object; the settings in it are not shown"
        return HParams(problems=(Problem("warning", "settings-unreadable", source, message),))
    return hparams_of(record, source, "" if name.lower() in known_hparams().text_names else name)


def parse_mapping(body: str) -> Mapping[str, object] | None:
    """The mapping in JSON, Python, a Markdown table of two columns or YAML; None for other texts."""
    text = body.strip("\n")
    for wrapped in (_FENCE.match(text), _PRE.match(text)):
        if wrapped is not None:
            text = wrapped[1]
    stripped = text.strip()
    if stripped.startswith("{"):
        return parse_json(stripped) or _python_dict(stripped)
    if stripped.startswith("|"):
        return _markdown_table(stripped)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or sum(_LINE.match(line) is not None for line in lines) < 0.8 * len(lines):
        return None
    try:
        found = parse_yaml(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    pairs = (re.split(r"\s*[:=]\s*", line.strip(), maxsplit=1) for line in lines if _LINE.match(line))
    return {key: parse_value(value) for key, value in pairs}


def _python_dict(text: str) -> Mapping[str, object] | None:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _markdown_table(text: str) -> Mapping[str, object] | None:
    """The rows of a Markdown table of two columns; None for other tables."""
    rows = []
    for number, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))]
        if number < 2 and len(cells) != 2:
            return None
        if len(cells) < 2:
            continue
        key, value = cells[0], "|".join(cells[1:])
        if not set(key) <= set("-: "):
            rows.append((key.strip("`*"), parse_value(value.replace("\\|", "|"))))
    return dict(rows[1:]) or None
