"""One way to filter metrics, runs and commands: words in any order, a glob with `*`, or `/regex/`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence

SCATTERED_COST = 100  # of letters that are not adjacent

Match = Callable[[str], bool]


def edited(query: str, key: str) -> str | None:
    """The query after a key; None if the key is not text."""
    if key == "backspace":
        return query[:-1]
    if key == "ctrl+u":
        return ""
    return query + key if len(key) == 1 and key.isprintable() else None


def next_match(found: Sequence[int], here: int, by: int) -> int:
    """Of rising places the next match, or the one before for `by` -1; after the last one the first."""
    ahead = [at for at in found if (at - here) * by > 0] or found
    return ahead[0] if by > 0 else ahead[-1]


def matcher(query: str) -> Match:
    """A test for texts: a regex, a glob, or words that all have to occur, in any case.

    An incomplete regex matches everything, so that nothing flickers while it is typed.
    """
    query = query.strip()
    if not query:
        return lambda text: True
    if query.startswith("/"):
        try:
            pattern = re.compile(query.strip("/"), re.IGNORECASE)
        except (re.error, RecursionError):
            return lambda text: True
        return lambda text: pattern.search(text[:1000]) is not None
    if "*" in query or "?" in query:
        glob = query.lower() if query.startswith("*") else f"*{query.lower()}"
        glob = glob if glob.endswith("*") else f"{glob}*"
        return lambda text: fnmatch.fnmatchcase(text.lower(), glob)
    words = query.lower().split()

    def plain(text: str) -> bool:
        lower = text.lower()
        return all(word in lower for word in words)

    return plain


def fuzzy(query: str, text: str) -> int | None:
    """The cost of matching letters in order: 0 for a match at the start, None for no match.

    Adjacent letters cost less than `SCATTERED_COST`, wherever they are.
    """
    query, lower = query.lower(), text.lower()
    if not query:
        return 0
    whole = lower.find(query)
    if whole >= 0:
        return min(whole, SCATTERED_COST - 1)
    at, cost = -1, SCATTERED_COST
    for char in query.replace(" ", ""):
        found = lower.find(char, at + 1)
        if found < 0:
            return None
        cost += found - at - 1
        at = found
    return cost
