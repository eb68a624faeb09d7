"""Arrays saved at once: curves of one metric, tables of several, and the evaluations of Stable-Baselines3.

`np.save("rewards.npy", rewards)` and `file.write(str(rewards))` have a number for each episode or update,
without steps or in pairs with them, in a file named after the metric. A table, such as ElegantRL's
`recorder.npy`, has a row for each evaluation; its columns are known by the name of the file (`saved_tables`
of `log_files.toml`). An archive, `np.savez("training_log.npz", returns=..., losses=...)`, has several such
arrays; its steps are the array with the name of a step, if there is one of that length.
`evaluations.npz`, which the EvalCallback of Stable-Baselines3 rewrites with every evaluation, has the
arrays `timesteps` (n), `results` and `ep_lengths` (n x episodes), `successes` (n x episodes, if reported by
the environment); the means have the names that the callback uses in its other logs. Arrays of objects are
pickles and never loaded.
"""

from __future__ import annotations

import io
import json
import math
import re
import zlib
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rltui.common.regex import regex
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.documents.columns import MIN_LENGTH, column_parts, is_axis
from rltui.logs.formats.documents.document import DocumentReader, Parts, Records
from rltui.logs.formats.interface import Format
from rltui.logs.formats.printed_metrics.line_items import words

_ARRAY = ".npy"
_LISTS = (".txt", ".json", ".csv", ".log")
_MAGIC = b"\x93NUMPY"
_MAX_LENGTH = 4 << 20  # of a curve
_KINDS = "fi"  # bytes and booleans are often rewards of a replay buffer
_NUMBERS = rf"(?:\s*-?(?:\d[\d.eE+-]*|nan|inf)\s*(?:,|(?=\]))){{{MIN_LENGTH},}}"
_LIST = regex(rf"\[{_NUMBERS}|{_NUMBERS}[^\n]*\Z")
_VALUE = r"-?(?:\d[\d.eE+-]*|NaN|Infinity)"
_PAIRS = regex(
    rf"\[(?:\s*\[\s*\d{{1,18}}\s*,\s*{_VALUE}\s*\]\s*,?){{{MIN_LENGTH}}}"
    rf'|\{{(?:\s*"\d{{1,18}}"\s*:\s*{_VALUE}\s*,?){{{MIN_LENGTH}}}'
)


def _header(file: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether it is stored column by column, and type. Raises ValueError for other content."""
    read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
    return read(file)


def _shape(data: bytes) -> tuple[int, ...]:
    """The shape of an array of numbers. Raises ValueError for any other content."""
    shape, _, dtype = _header(io.BytesIO(data))
    if dtype.kind not in _KINDS or dtype.itemsize < 4 or not shape or shape[0] > _MAX_LENGTH:
        raise ValueError("no curve")
    return tuple(map(int, shape))


def curve_length(data: bytes, least: int = 1) -> int:
    """The length of an array of one column or row. Raises ValueError for any other content."""
    length = _curve_length(_shape(data))
    if length < least:
        raise ValueError("no curve")
    return length


def _curve_length(shape: tuple[int, ...]) -> int:
    """The number of values of one column, or of one row; 0 for any other shape."""
    if min(shape, default=0) < 1:  # the product of two negative lengths of a damaged header is positive
        return 0
    length = math.prod(shape)
    return length if length == max(shape, default=0) <= _MAX_LENGTH else 0


def _columns(name: str, data: bytes) -> tuple[str, ...]:
    """The columns of a table. Raises ValueError for any other content, and for a table without rows."""
    shape = _shape(data)
    for columns in log_file_names.names().saved_tables.get(name, ()):
        if len(shape) == 2 and shape[0] and shape[1] == len(columns):
            return columns
    raise ValueError("no table")


def _loaded(data: bytes) -> NDArray[np.float64]:
    try:
        return np.load(io.BytesIO(data), allow_pickle=False).astype(np.float64)  # type: ignore[no-any-return]
    except (OSError, EOFError) as error:
        raise ValueError("incomplete") from error


def _whole_array(tag: str, data: bytes) -> tuple[Parts, None]:
    """A record for each number, or for each pair of a step and a number."""
    if _is_of_pairs(data):
        pairs = _loaded(data)
        steps = pairs[:, 0]
        if not (np.array_equal(steps, np.rint(steps)) and (np.diff(steps) > 0).all()):
            raise ValueError("no steps")
        return {"": [{"step": int(step), tag: value} for step, value in pairs.tolist()]}, None
    curve_length(data, MIN_LENGTH)
    return {"": [{tag: value} for value in _loaded(data).reshape(-1).tolist()]}, None


def _is_of_pairs(data: bytes) -> bool:
    """Whether an array has two columns, the first of which may be steps by what is there of it."""
    shape = _shape(data)
    if len(shape) != 2 or shape[1] != 2 or shape[0] < MIN_LENGTH:
        return False
    file = io.BytesIO(data)
    _, by_column, dtype = _header(file)
    size = MIN_LENGTH * (1 if by_column else 2)
    rest = data[file.tell() : file.tell() + size * dtype.itemsize]
    if len(rest) < size * dtype.itemsize:
        return False
    steps = np.frombuffer(rest, dtype)[:: 1 if by_column else 2].astype(np.float64)
    return bool(np.array_equal(steps, np.rint(steps)) and (np.diff(steps) > 0).all() and steps[0] >= 0)


def _whole_table(name: str, data: bytes) -> tuple[Parts, None]:
    """A record for each row."""
    columns = _columns(name, data)
    return {"": [dict(zip(columns, row, strict=True)) for row in _loaded(data).tolist()]}, None


def _whole_list(tag: str, data: bytes) -> tuple[Parts, None]:
    """The numbers of a list; without brackets, only those before the last comma, since the list may grow."""
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("[") != text.endswith("]"):
        raise ValueError("incomplete")
    pieces = text[1:-1].split(",") if text.startswith("[") else text.split(",")[:-1]
    return {"": [{tag: float(piece)} for piece in pieces if piece.strip()]}, None


def _whole_pairs(tag: str, data: bytes) -> tuple[Parts, None]:
    """The pairs of a step and a number in a JSON list or object. Raises ValueError for other content."""
    whole = json.loads(data)
    pairs = whole.items() if isinstance(whole, dict) else whole
    records: Records = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or type(pair[1]) not in (int, float):
            raise ValueError("no pairs")
        records.append({"step": pair[0], tag: pair[1]})
    return {"": records}, None


def _whole_text(tag: str, data: bytes) -> tuple[Parts, None]:
    pairs = _PAIRS.match(data.decode("utf-8-sig", "replace").lstrip())
    return _whole_pairs(tag, data) if pairs else _whole_list(tag, data)


def _reader(path: str) -> DocumentReader:
    name = path.rpartition("/")[2].lower()
    if name in log_file_names.names().saved_tables:
        return DocumentReader(path, lambda data: _whole_table(name, data))
    stem = log_file_names.stem_of(path.rpartition("/")[2])
    tag = stem.rstrip("0123456789").rstrip("_- ") or stem  # the number distinguishes runs, not metrics
    whole = _whole_array if path.lower().endswith(_ARRAY) else _whole_text
    # Truncated arrays and lists cannot be read.
    return DocumentReader(path, lambda data: whole(tag, data))


def _matches_curve(name: str, head: bytes) -> bool:
    """By a name typical of metrics, and then by the first bytes."""
    lower = name.lower()
    array = lower.endswith(_ARRAY)
    if not (array or (head and lower.endswith(_LISTS))):
        return False  # every file below a LOGDIR is matched by name first
    known = log_file_names.names()
    table = lower in known.saved_tables
    if not table and known.column.search(name) is None:
        return False
    if not array:
        text = head.decode("utf-8-sig", "replace")
        pairs = lower.endswith(".json") and _PAIRS.match(text.lstrip()) is not None
        return pairs or _LIST.match(text) is not None
    if not head:
        return True
    try:
        return head.startswith(_MAGIC) and bool(
            _columns(lower, head) if table else _is_of_pairs(head) or curve_length(head, MIN_LENGTH)
        )
    except (ValueError, TypeError, SyntaxError):
        return False


CURVE = Format("array", _matches_curve, lambda path, _: _reader(path), rewrites=True)


_ARCHIVE = ".npz"
_MEMBER = regex(rb"PK\x03\x04.{22}(..)(..)", re.DOTALL)  # up to the length of the name in the first header


def _first_member(head: bytes) -> str:
    """The name of the first array of an archive; empty for other data."""
    found = _MEMBER.match(head)
    if found is None:
        return ""
    name = head[found.end() :][: int.from_bytes(found[1], "little")].decode("utf-8", "replace")
    return name.removesuffix(_ARRAY) if name.endswith(_ARRAY) else ""


def _columns_of_archive(data: bytes) -> tuple[Parts, None]:
    """The records of each array of one column or row. Raises ValueError for an incomplete archive."""
    found = _members(data)
    if found is None:
        raise ValueError("incomplete")
    if log_contents.is_transition(found):
        return {}, None
    columns = {
        name: array.reshape(-1).tolist()
        for name, array in found.items()
        if _curve_length(array.shape) >= MIN_LENGTH
    }
    return column_parts(columns), None


def _matches_archive(name: str, head: bytes) -> bool:
    """By a name typical of logs, and by that of the first array."""
    known = log_file_names.names()
    if not name.lower().endswith(_ARCHIVE) or name == NAME or known.data_sets.search(name):
        return False
    if not (log_file_names.tells_of_training(name) or known.column.search(name)):
        return False
    if not head:
        return True
    first = _first_member(head)
    return bool(first) and (is_axis(first) or words().telling.search(first) is not None)


ARCHIVE = Format(
    "arrays", _matches_archive, lambda path, _: DocumentReader(path, _columns_of_archive), rewrites=True
)

NAME = "evaluations.npz"
_MAX_BYTES = 32 << 20  # of an uncompressed array; a long training has a few hundred kilobytes
_MAX_MEMBERS = 64  # arrays of an archive that are read
# Raised by zipfile and numpy for damaged headers and contents.
_DAMAGED = (
    *(OSError, ValueError, KeyError, IndexError, TypeError, EOFError),
    *(RuntimeError, OverflowError, SyntaxError, MemoryError),
)
_MEANS = {
    "results": "eval/mean_reward",
    "ep_lengths": "eval/mean_ep_length",
    "successes": "eval/success_rate",
}


def _evaluations(data: bytes) -> tuple[Parts, None]:
    """A record for each evaluation. Raises ValueError for an incomplete file."""
    found = _members(data, ("timesteps", *_MEANS))
    steps = None if found is None else found.pop("timesteps", None)
    if not found or steps is None or steps.ndim != 1 or not (np.abs(steps) < 1 << 53).all():
        raise ValueError("incomplete")
    records: Records = [{"step": int(step)} for step in steps]
    for name, episodes in found.items():
        for record, row in zip(records, episodes if len(episodes) == len(steps) else (), strict=False):
            if row.size:
                record[_MEANS[name]] = float(np.mean(row))
    return {"": records}, None


def _members(data: bytes, wanted: Collection[str] = ()) -> dict[str, NDArray[np.float64]] | None:
    """The arrays of numbers in an archive, by name. None if it is incomplete, or if one is too large.

    wanted: the names of those that are read; empty for the first few, without arrays of objects.
    """
    import zipfile  # rarely needed

    found: dict[str, NDArray[np.float64]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = [f"{name}{_ARRAY}" for name in wanted] or packed.namelist()[:_MAX_MEMBERS]
            for member in members:
                if member not in packed.namelist():
                    continue
                if packed.getinfo(member).file_size > _MAX_BYTES:
                    return None
                try:
                    array = np.load(io.BytesIO(packed.read(member)), allow_pickle=False)
                except ValueError:  # objects, which are pickled
                    if wanted:
                        return None
                    continue
                if array.dtype.kind in "biuf" and array.ndim:
                    found[member.removesuffix(_ARRAY)] = array.astype(np.float64)
    except (zipfile.BadZipFile, zlib.error, *_DAMAGED):
        return None
    return found


def _matches_evaluations(name: str, head: bytes) -> bool:
    return name == NAME and (not head or head.startswith(b"PK\x03\x04"))


# The directory of an archive is at its end, so a part of it cannot be read.
EVALUATIONS = Format(
    "evaluations", _matches_evaluations, lambda path, _: DocumentReader(path, _evaluations), rewrites=True
)
