"""`evaluations.npz`, which Stable-Baselines3's EvalCallback writes anew with every evaluation.

Its arrays: `timesteps` (n), `results` and `ep_lengths` (n x episodes), `successes` (n x episodes, where the
environment says them). The means get the names that the callback gives them in its other logs. Arrays of
objects would be pickles, and are never loaded.
"""

from __future__ import annotations

import io
import math
import zlib

import numpy as np
from numpy.typing import NDArray

from rltui.batch import EMPTY, Batch
from rltui.logs.formats.interface import BLOCK, File, Format
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.problem import Problem

NAME = "evaluations.npz"
_CAP = 32 << 20  # bytes of a file, packed and unpacked; a long training has a few hundred kilobytes
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


class EvaluationsReader:
    """One such file being read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordBatcher(path)
        self._offset = 0
        self._delivered = 0  # evaluations delivered
        self._reported = False

    @property
    def offset(self) -> int:
        """Bytes that are done with: the size at the last complete reading."""
        return self._offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Read the file when it is whole; a part of it says nothing, so the budget does not apply."""
        size = file.size()
        if size <= self._offset:
            return EMPTY
        if size > _CAP:
            return self._damaged(f"a file of {size:,} bytes is more than is read at once")
        arrays = _arrays(file.read_at(0, size))
        if arrays is None:
            return EMPTY
        self._offset = size
        steps = arrays.pop("timesteps")
        for row in range(self._delivered, len(steps)):
            record: dict[str, object] = {
                _MEANS[name]: float(np.mean(values[row]))
                for name, values in arrays.items()
                if values[row].size
            }
            if record:
                self._records.add(record, at=(int(steps[row]), math.nan))
        self._delivered = max(self._delivered, len(steps))
        return self._records.batch()

    def newest(self, file: File, length: int) -> Batch:
        """Nothing: the file is read at once anyway."""
        return Batch(tags=self._records.tags.names)

    def finish(self, file: File) -> Batch:
        """Say that a file is cut or damaged."""
        batch = self.read(file)
        if file.size() <= self._offset:
            return batch
        return self._damaged("the file is cut or damaged; its evaluations were not read")

    def close(self) -> None:
        """Let go of what was collected."""
        self._records.batch()

    def _damaged(self, message: str) -> Batch:
        if self._reported:
            return EMPTY
        self._reported = True
        return Batch(problems=(Problem("warning", "torn-tail", self._path, message),))


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


FORMAT = Format("evaluations", _matches, lambda path, _: EvaluationsReader(path), rewrites=True)
