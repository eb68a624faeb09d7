"""Hyperparameters that a loop prints before it begins: a dictionary or a repr in one line."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rltui.common.regex import regex

FEWEST = 4  # settings; a shorter dictionary may be anything
MAX_CHARACTERS = 20_000
_MESSAGE_KEYS = {"msg", "message", "event"}  # of a line of a structured logger
# The class is that of argparse, or a dataclass as tyro and trainers have it.
_CLASS = r"(?:Namespace|\w{0,30}(?:Args|Arguments|Config|Params))"
_LINE = regex(rf"^(?:[\w ]{{1,30}}[:=]\s*)?({_CLASS}\(.*\)|\{{.*\}})\s*$")


def printed_hparams(line: str) -> dict[str, object] | None:
    """The hyperparameters that a line prints; None for other lines.

    A dictionary of numbers alone is a row of metrics, so there must be a word or a switch among the values.
    """
    if len(line) > MAX_CHARACTERS or (found := _LINE.match(line.strip())) is None:
        return None
    try:
        node = ast.parse(found[1], mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    hparams = dict(_hparams(node))
    if not _MESSAGE_KEYS.isdisjoint(hparams):
        return None
    words = any(isinstance(value, bool | str) and not _is_text_of_number(value) for value in hparams.values())
    return hparams if len(hparams) >= FEWEST and words else None


def _hparams(node: ast.expr) -> Iterator[tuple[str, object]]:
    pairs: Iterable[tuple[object, ast.expr]] = ()
    if isinstance(node, ast.Call):
        pairs = [(each.arg, each.value) for each in node.keywords]
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        pairs = zip(keys, node.values, strict=True)
    for name, value in pairs:
        if isinstance(name, str):
            try:
                known = ast.literal_eval(value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                continue  # an object, such as a device or a path
            yield name, known


def _is_text_of_number(value: object) -> bool:
    """Whether a text is a number: newer trainers print rows of metrics as texts."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True
