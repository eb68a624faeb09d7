"""`evaluations.npz`, which Stable-Baselines3's EvalCallback writes anew with every evaluation.

Its arrays: `timesteps` (n), `results` and `ep_lengths` (n x episodes), `successes` (n x episodes, where the
environment says them). The means get the names that the callback gives them in its other logs. Arrays of
objects would be pickles, and are never loaded.
"""

from __future__ import annotations

import io
import zlib

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.documents.document import DocumentKind, DocumentReader, Parts, Records
from rltui.logs.formats.interface import Format

NAME = "evaluations.npz"
_CAP = 32 << 20  # bytes of an array, unpacked; a long training has a few hundred kilobytes
# What zipfile and numpy raise for headers and contents that are no such file.
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
    """A record for each evaluation. Raises ValueError for a file that is not whole."""
    arrays = _arrays(data)
    if arrays is None:
        raise ValueError("not whole")
    steps = arrays.pop("timesteps")
    records: Records = []
    for row, step in enumerate(steps):
        means = {_MEANS[name]: float(np.mean(each[row])) for name, each in arrays.items() if each[row].size}
        records.append({"step": int(step), **means})
    return {"": records}, None


def _arrays(data: bytes) -> dict[str, NDArray[np.float64]] | None:
    """Steps and what was measured at each, of equal length; None for a file that is not whole."""
    import zipfile  # most folders have no such file

    found: dict[str, NDArray[np.float64]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for name in ("timesteps", *_MEANS):
                member = f"{name}.npy"
                if member not in packed.namelist():
                    continue
                if packed.getinfo(member).file_size > _CAP:
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


# The directory of the archive stands at its end: of a part nothing can be read.
_KIND = DocumentKind(_evaluations, lambda _: [])
FORMAT = Format("evaluations", _matches, lambda path, _: DocumentReader(path, _KIND), rewrites=True)
