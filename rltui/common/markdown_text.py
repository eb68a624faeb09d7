"""Sanitised text in Markdown: escapes, code, fences and tables."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from rltui.common.regex import regex

_MARKDOWN_SYNTAX = regex(r"[\\`*\[\]<>|#]|&(?=[A-Za-z][A-Za-z0-9]*;)")
_UNDERSCORE_AT_WORD_END = regex(r"(?<![^\W_])_|_(?![^\W_])")


def in_markdown(text: str) -> str:
    """Sanitised text escaped for Markdown: it makes no link, image, HTML, entity, emphasis or cell.

    Underscores within words need no escape, and names with them stay readable as plain text.
    """
    escaped = _MARKDOWN_SYNTAX.sub(r"\\\g<0>", text)
    return _UNDERSCORE_AT_WORD_END.sub("\\_", escaped).replace("\n", " ")


def code_in_markdown(text: str) -> str:
    """Sanitised text as a code span in Markdown, also within a table, whatever backticks and bars it has."""
    fence = fence_for(text)
    gap = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{gap}{text}{gap}{fence}".replace("|", "\\|").replace("\n", " ")


def fence_for(text: str) -> str:
    """One backtick more than the longest sequence of backticks in a text."""
    return "`" * (1 + max(map(len, re.findall("`+", text)), default=0))


def markdown_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int] = ()
) -> list[str]:
    """The lines of a table whose cells are Markdown. right: indices of right-aligned columns."""
    rule = "|".join("---:" if column in right else "---" for column in range(len(heads)))
    return [f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
