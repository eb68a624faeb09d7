"""A curve saved at once, in a file named after its metric: an array of numpy, or a printed list.

`np.save("rewards.npy", rewards)` and `file.write(str(rewards))` have a number for each episode or update,
without steps. Arrays of objects are pickles and never loaded.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.lib import format as npy

from rltui.common.regex import regex
from rltui.logs import log_file_names
from rltui.logs.formats.documents.document import DocumentReader, Parts
from rltui.logs.formats.interface import Format

_ARRAY = ".npy"
_LISTS = (".txt", ".json", ".csv", ".log")
_MAGIC = b"\x93NUMPY"
_MIN_LENGTH, _MAX_LENGTH = 10, 4 << 20  # of a curve: fewer numbers are results
_KINDS = "fi"  # bytes and booleans are often rewards of a replay buffer
_NUMBERS = rf"(?:\s*-?(?:\d[\d.eE+-]*|nan|inf)\s*(?:,|(?=\]))){{{_MIN_LENGTH},}}"
_LIST = regex(rf"\[{_NUMBERS}|{_NUMBERS}[^\n]*\Z")


def _shape(data: bytes) -> int:
    """The length of an array of one column. Raises ValueError for any other content."""
    file = io.BytesIO(data)
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    long_enough = bool(shape) and _MIN_LENGTH <= shape[0] <= _MAX_LENGTH
    if dtype.kind not in _KINDS or dtype.itemsize < 4 or not long_enough or any(n != 1 for n in shape[1:]):
        raise ValueError("no curve")
    return int(shape[0])


def _whole_array(tag: str, data: bytes) -> tuple[Parts, None]:
    _shape(data)
    try:
        values = np.load(io.BytesIO(data), allow_pickle=False).reshape(-1)
    except (OSError, EOFError) as error:
        raise ValueError("incomplete") from error
    return {"": [{tag: value} for value in values.tolist()]}, None


def _whole_list(tag: str, data: bytes) -> tuple[Parts, None]:
    """The numbers of a list; without brackets, only those before the last comma, since the list may grow."""
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("[") != text.endswith("]"):
        raise ValueError("incomplete")
    pieces = text[1:-1].split(",") if text.startswith("[") else text.split(",")[:-1]
    return {"": [{tag: float(piece)} for piece in pieces if piece.strip()]}, None


def _reader(path: str) -> DocumentReader:
    stem = log_file_names.stem_of(path.rpartition("/")[2])
    tag = stem.rstrip("0123456789").rstrip("_- ") or stem  # the number distinguishes runs, not metrics
    whole = _whole_array if path.lower().endswith(_ARRAY) else _whole_list
    # Truncated arrays and lists cannot be read.
    return DocumentReader(path, lambda data: whole(tag, data))


def _matches(name: str, head: bytes) -> bool:
    """By a name typical of metrics, and then by the first bytes."""
    lower = name.lower()
    array = lower.endswith(_ARRAY)
    if not (array or (head and lower.endswith(_LISTS))):
        return False  # every file below a LOGDIR is matched by name first
    if log_file_names.names().column.search(name) is None:
        return False
    if not array:
        return _LIST.match(head.decode("utf-8-sig", "replace")) is not None
    if not head:
        return True
    try:
        return head.startswith(_MAGIC) and _shape(head) > 0
    except (ValueError, TypeError, SyntaxError):
        return False


FORMAT = Format("array", _matches, lambda path, _: _reader(path), rewrites=True)
