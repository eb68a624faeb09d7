"""`evaluations.npz`, which the EvalCallback of Stable-Baselines3 rewrites with every evaluation.

Its arrays: `timesteps` (n), `results` and `ep_lengths` (n x episodes), `successes` (n x episodes, if reported
by the environment). The means have the names that the callback uses in its other logs. Arrays of objects are
pickles and never loaded.
"""

from __future__ import annotations

import io
import zlib

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.documents.document import DocumentReader, Parts, Records
from rltui.logs.formats.interface import Format

NAME = "evaluations.npz"
_MAX_BYTES = 32 << 20  # of an uncompressed array; a long training has a few hundred kilobytes
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
    arrays = _arrays(data)
    if arrays is None:
        raise ValueError("incomplete")
    steps = arrays.pop("timesteps")
    records: Records = []
    for row, step in enumerate(steps):
        means = {_MEANS[name]: float(np.mean(each[row])) for name, each in arrays.items() if each[row].size}
        records.append({"step": int(step), **means})
    return {"": records}, None


def _arrays(data: bytes) -> dict[str, NDArray[np.float64]] | None:
    """Arrays of equal length, including `timesteps`; None for an incomplete file."""
    import zipfile  # rarely needed

    found: dict[str, NDArray[np.float64]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for name in ("timesteps", *_MEANS):
                member = f"{name}.npy"
                if member not in packed.namelist():
                    continue
                if packed.getinfo(member).file_size > _MAX_BYTES:
                    return None
                array = np.load(io.BytesIO(packed.read(member)), allow_pickle=False)
                if array.dtype.kind in "biuf" and array.ndim:
                    found[name] = array.astype(np.float64)
    except (zipfile.BadZipFile, zlib.error, *_DAMAGED):
        return None
    steps = found.get("timesteps")
    if steps is None or steps.ndim != 1 or len(found) < 2 or not np.isfinite(steps).all():
        return None
    if np.abs(steps).max(initial=0) >= 1 << 53:
        return None
    return {name: values for name, values in found.items() if len(values) == len(steps)}


def _matches(name: str, head: bytes) -> bool:
    return name == NAME and (not head or head.startswith(b"PK\x03\x04"))


# The directory of an archive is at its end, so a part of it cannot be read.
FORMAT = Format("evaluations", _matches, lambda path, _: DocumentReader(path, _evaluations), rewrites=True)
