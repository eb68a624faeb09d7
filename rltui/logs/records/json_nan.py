"""NaN and Infinity as Python writes them into JSON: bare words, which the fast parser refuses.

They are spelled as marked strings for it, and put back into what it gives. A word is bare where an even
number of quotes stands before it and no backslash makes a quote doubtful.
"""

from __future__ import annotations

import math
from typing import Any

import orjson

_MARK = b"\x7f"  # in no line that is dealt with here, so that no text of a log is taken for a token
_TOKENS = {"\x7fNaN": math.nan, "\x7fInfinity": math.inf, "\x7f-Infinity": -math.inf}
_BLANKS = b" \t\r\n"
_ENDS = (b",", b"]", b"}")  # what may follow a value
_SPACED = 64  # bytes behind a token in which the end of its value is looked for


def loads(line: bytes) -> tuple[object, int]:
    """The JSON value that a line is, and how many tokens it holds.

    Raises ValueError when it is no JSON even so, or when it takes a more patient reader to say.
    """
    if b"\\" in line or _MARK in line:
        if b"NaN" in line or b"Infinity" in line:
            raise ValueError("not certain what is text")
        return orjson.loads(line), 0
    spelled, nans = _marked(line, b"NaN", b"")
    spelled, infinities = _marked(spelled, b"Infinity", b"-")
    record: object = orjson.loads(spelled)
    if count := nans + infinities:
        _put_back(record, count)
    return record, count


def _marked(line: bytes, token: bytes, sign: bytes) -> tuple[bytes, int]:
    """The line with each bare `token` (with `sign`, if it stands there) as a marked string; how many."""
    initial, pieces = token[:1], []
    taken = counted = quotes = 0
    place = line.find(initial)
    while place >= 0:
        if line.startswith(token, place):
            quotes += line.count(b'"', counted, place)
            counted = place
            if not quotes & 1:
                begin, end = place - (sign != b"" and line[place - 1 : place] == sign), place + len(token)
                if not line[end : end + _SPACED].lstrip(_BLANKS).startswith(_ENDS):
                    raise ValueError("a token where no value can stand")
                pieces += [line[taken:begin], b'"' + _MARK, line[begin:end], b'"']
                taken = end
        place = line.find(initial, place + 1)
    if not pieces:
        return line, 0
    return b"".join([*pieces, line[taken:]]), len(pieces) // 4


def _put_back(record: object, count: int) -> None:
    """Replace `count` marked strings at any depth of a value by the numbers that they stand for."""
    waiting = [record]
    while waiting:
        group: Any = waiting.pop()
        if not isinstance(group, dict | list):
            continue
        for key, value in group.items() if isinstance(group, dict) else enumerate(group):
            kind = type(value)
            if kind is str:
                if value in _TOKENS:
                    group[key] = _TOKENS[value]
                    count -= 1
                    if not count:
                        return
            elif kind is dict or kind is list:
                waiting.append(value)
