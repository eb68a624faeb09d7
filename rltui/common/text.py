"""Untrusted text made safe: everything that a log, a file name or a user's data says passes here once.

A tag name can hold escape sequences that set the window title, write the clipboard or query the
terminal, and right-to-left marks that reorder the line around them. Readers clean names where they
enter; no other layer has to think of it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache

from rltui.common.regex import regex

QUOTE_LIMIT = 200  # characters of a foreign line that a diagnostic may quote

# C0, DEL, C1; zero-width and bidirectional controls; line and paragraph separators; interlinear
# marks, the byte-order mark, what is no character, lone surrogates, tag characters.
_UNSAFE = regex(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)

_MARKS = regex(r"[\\`*\[\]<>|#]")
_LONE = regex(r"(?<![^\W_])_|_(?![^\W_])")


def _spell(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def clean(text: str, limit: int | None = None) -> str:
    """The text with every control character spelled out (``\\x1b``), cut in the middle to `limit` characters.

    Ordinary text comes back as the same object. Never raises.
    """
    if not text.isascii() or not text.isprintable():
        text = _UNSAFE.sub(_spell, text)
    if limit is not None and len(text) > limit:
        kept = (limit - 1) * 2 // 3
        text = f"{text[:kept]}…{text[len(text) - (limit - 1 - kept) :]}"
    return text


def in_markdown(text: str) -> str:
    """Cleaned text that Markdown takes as text: no link, image, HTML, emphasis, or table cell of its own.

    An underscore within a word means nothing there, and names are full of them: those stay readable where
    nobody interprets the backslash.
    """
    return _LONE.sub("\\_", _MARKS.sub(r"\\\g<0>", text)).replace("\n", " ")


def code_in_markdown(text: str) -> str:
    """Cleaned text as code in Markdown, whatever backticks and bars it holds; for table cells, too."""
    fence = fence_for(text)
    gap = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{gap}{text}{gap}{fence}".replace("|", "\\|").replace("\n", " ")


def fence_for(text: str) -> str:
    """Backticks that no run of them in a text closes."""
    return "`" * (1 + max(map(len, re.findall("`+", text)), default=0))


def markdown_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int] = ()
) -> list[str]:
    """The lines of a table of cells that are Markdown already. right: the columns of numbers."""
    rule = "|".join("---:" if at in right else "---" for at in range(len(heads)))
    return [f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]


def quote(text: str) -> str:
    """A foreign line as a diagnostic may show it: cleaned, cut at `QUOTE_LIMIT`."""
    return clean(text[: 2 * QUOTE_LIMIT], QUOTE_LIMIT)


@cache
def _measure() -> Callable[[str], int]:
    """Imported for the first text that is not ASCII: `--version` and most scripts have none."""
    from rich.cells import cell_len

    return cell_len


def cell_width(text: str) -> int:
    """Terminal cells that cleaned text occupies, as Textual counts them: wide characters two, marks none."""
    return len(text) if text.isascii() else _measure()(text)


def count_of(count: int, noun: str) -> str:
    """`1 point`, `2,000 points`: a number with its noun in the right form."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_sentence(title: str) -> str:
    """A title as words among others: its first letter small, unless it is an acronym such as `KL`."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def head(text: str, width: int) -> str:
    """The longest beginning of a text that fits in `width` cells."""
    if text.isascii():
        return text[: max(width, 0)]
    used, cell_len = 0, _measure()
    for at, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:at]
    return text


def fit(text: str, width: int) -> str:
    """Text cut in the middle to at most `width` cells: both ends tell a long tag from its neighbours."""
    if cell_width(text) <= width:
        return text
    if width <= 1:
        return "…"[: max(width, 0)]
    room = width - 1
    tail = head(text[::-1], room // 2)[::-1]
    return head(text, room - room // 2) + "…" + tail


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Text fitted and filled with blanks to exactly `width` cells."""
    if text.isascii() and len(text) <= width:
        return text.rjust(width) if right else text.ljust(width)
    text = fit(text, width)
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks
