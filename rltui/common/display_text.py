"""Sanitising untrusted text (from logs, file names, user data), its width in terminal cells, and wording.

A tag may contain escape sequences that set the window title, write the clipboard or query the terminal, and
right-to-left marks that reorder the line. Readers sanitise text where it enters, so that no other layer has
to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from rltui.common.regex import regex

QUOTE_LIMIT = 200  # characters of a line of a log that a diagnostic may quote

# C0, DEL, C1; zero-width and bidirectional controls; line and paragraph separators; interlinear
# annotations, byte-order mark, noncharacters, lone surrogates, tag characters.
_UNSAFE = regex(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def clean(text: str, limit: int | None = None) -> str:
    """Text with control characters as escapes (``\\x1b``), shortened in the middle to `limit` characters.

    Text that needs no change is returned as the same object. Never raises.
    """
    if not text.isascii() or not text.isprintable():
        text = _UNSAFE.sub(_escape, text)
    if limit is not None and len(text) > limit:
        begin = (limit - 1) * 2 // 3
        text = f"{text[:begin]}…{text[len(text) - (limit - 1 - begin) :]}"
    return text


def quote(text: str) -> str:
    """A line of a log as diagnostics quote it: sanitised and shortened to `QUOTE_LIMIT`."""
    return clean(text[: 2 * QUOTE_LIMIT], QUOTE_LIMIT)


@cache
def _cell_len() -> Callable[[str], int]:
    """Imported for the first text that is not ASCII: `--version` and most scripts have none."""
    from rich.cells import cell_len

    return cell_len


def cell_width(text: str) -> int:
    """Terminal cells of sanitised text, as Textual counts them: two for a wide character, none for a mark."""
    return len(text) if text.isascii() else _cell_len()(text)


def count_of(count: int, noun: str) -> str:
    """A number and its noun in singular or plural: `1 point`, `2,000 points`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def some_of(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def first_of(names: Sequence[str], most: int) -> str:
    """The first names, and an ellipsis if there are more: `a, b, …`."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def in_sentence(title: str) -> str:
    """A title for use within a sentence: its first letter in lower case, except in acronyms such as `KL`."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def head(text: str, width: int) -> str:
    """The longest prefix of a text that fits in `width` cells."""
    if text.isascii():
        return text[: max(width, 0)]
    used, cell_len = 0, _cell_len()
    for at, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:at]
    return text


def fit(text: str, width: int) -> str:
    """Text shortened in the middle to at most `width` cells, since long tags often differ at either end."""
    if cell_width(text) <= width:
        return text
    if width <= 1:
        return "…"[: max(width, 0)]
    room = width - 1
    tail = head(text[::-1], room // 2)[::-1]
    return head(text, room - room // 2) + "…" + tail


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Text shortened, or padded with blanks, to exactly `width` cells."""
    if text.isascii() and len(text) <= width:
        return text.rjust(width) if right else text.ljust(width)
    text = fit(text, width)
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks
