"""Runs with one array per metric, with a number for each epoch: MushroomRL's `J.npy`, `R.npy`, `entropy.npy`.

`Logger.log_numpy` (mushroom_rl/core/logger/data_logger.py @ 1.10.2) saves each array anew after every epoch.
With a seed its number ends the names, `J-3.npy`, and those of the consoles in the folder. Arrays of another
length, such as the losses of all fits, have steps of their own and are runs of their own. The first number is
that of the evaluation before the training, epoch 0 (examples/gym_recurrent_ppo.py).
"""

from __future__ import annotations

import io
import math
import os

import numpy as np

from rltui.common.regex import regex
from rltui.logs import log_file_names
from rltui.logs.formats.container import Container, NewRows, Part, Parts
from rltui.logs.formats.documents.arrays_document import curve_length
from rltui.logs.formats.interface import HEAD

_NAME = regex(r"(?P<tag>[A-Za-z]\w*?)(?P<seed>-\d{1,9})?\.npy\Z")
_FEW = 10  # epochs from which one of them is enough
_MAX_BYTES = 32 << 20


class EpochArrays(Part[int]):
    """A `Part`: the arrays of one seed. Its cursor is the number of epochs that have been read.

    arrays: the path of each tag.
    """

    def __init__(self, arrays: dict[str, str], run: str) -> None:
        super().__init__("array", tuple(arrays.values()), run=run)
        self._arrays = arrays

    def read(self, cursor: int | None, budget: int) -> NewRows[int] | None:
        """The epochs after `cursor` for which all arrays have a value; None while one is being saved."""
        found = {}
        for tag, path in self._arrays.items():
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read(_MAX_BYTES)
            try:
                curve_length(data)
                values = np.load(io.BytesIO(data), allow_pickle=False)
            except (ValueError, EOFError, TypeError, SyntaxError):
                return None
            found[tag] = values.astype(np.float64).reshape(-1).tolist()
        epochs = min(map(len, found.values()))
        # A later training in the folder is shorter at first.
        begin = cursor if cursor is not None and cursor <= epochs else 0
        new = NewRows[int](cursor=epochs, bytes_read=8 * len(found) * (epochs - begin))
        for epoch in range(begin, epochs):
            values_of_epoch: dict[str, object] = {tag: values[epoch] for tag, values in found.items()}
            new.records.append((epoch, math.nan, values_of_epoch))
        return new


def _parts(place: str) -> Parts | None:
    """The runs of a folder in the first array of each; none in the others; None for any other array."""
    folder, _, name = place.rpartition("/")
    match = _NAME.match(name)
    if match is None:
        return None
    tag, seed = match["tag"], match["seed"] or ""
    outcomes = log_file_names.names().epoch_outcomes
    if not any(os.path.exists(f"{folder}/{each}{seed}.npy") for each in outcomes):  # noqa: PTH110
        return None  # the folder may hold thousands of other arrays
    lengths = _lengths(folder, seed)
    returns = [lengths[each] for each in outcomes if each in lengths]
    if tag not in lengths or not returns or (len(returns) < 2 and returns[0] < _FEW):
        return None
    # One after the other is saved: while that happens, lengths differ by one.
    tags = [each for each, length in lengths.items() if abs(length - max(returns)) <= 1]
    if tag not in tags:
        return Parts((EpochArrays({tag: place}, f"{tag}{seed}"),), includes_neighbours=True)
    if tag != tags[0]:
        return Parts(includes_neighbours=True)
    run = f"{os.path.basename(folder)}{seed}" if seed else ""  # noqa: PTH119
    arrays = {each: f"{folder}/{each}{seed}.npy" for each in tags}
    return Parts((EpochArrays(arrays, run),), includes_neighbours=True)


def _lengths(folder: str, seed: str) -> dict[str, int]:
    """The lengths of the arrays of a seed, by their tags."""
    found: dict[str, int] = {}
    for name in sorted(os.listdir(folder)):  # noqa: PTH208
        match = _NAME.match(name)
        if match is not None and (match["seed"] or "") == seed:
            with open(f"{folder}/{name}", "rb") as file:  # noqa: PTH123
                head = file.read(HEAD)
            try:
                found[match["tag"]] = curve_length(head)
            except (ValueError, TypeError, SyntaxError):
                continue
    return found


MUSHROOM = Container(lambda place: place.endswith(".npy"), _parts)
