"""Sub-runs: folders of one curve or of hyperparameters, which belong to the run above them.

`add_scalars` writes every curve to a separate folder and event file with one tag: torch
`<run>/<main tag with _ for />_<key>/`, tensorboardX `<run>/<main tag>/<key>/`. `add_hparams` writes
`<run>/<unix time>/` or `<run>/<run_name>/` with hparams and a few single points. A folder counts as a sub-run
only if its content agrees with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rltui.common.named_tuple import NamedTuple
from rltui.logs.discovery.duplicate_logs import LogBeginning
from rltui.logs.log_file_names import names
from rltui.logs.run_names import folders_above


class Parent(NamedTuple):
    """The run of a sub-run."""

    folder: str
    rename: Callable[[str], str]  # from the tag in the file to the tag in the run


def parent_of(
    folder: str, name: str, sample: LogBeginning, events: Mapping[str, Sequence[str]]
) -> Parent | None:
    """The run above to which the event file `folder/name` with this content belongs; None if to none.

    events: names of the event files in each folder.
    """
    for upper in folders_above(folder):
        if not events.get(upper):
            continue
        below = folder[len(upper) + 1 :] if upper else folder
        if names().subrun_folder.match(below) or (sample.hparams and _same_writer(name, events[upper])):
            return Parent(upper, str)
        if len(sample.tags) == 1:
            main = sample.tags[0]
            for joint, path in (("_", main.replace("/", "_")), ("/", main)):
                if below.startswith(path + joint) and len(below) > len(path) + 1:
                    return Parent(upper, AddedCurve(main, below[len(path) + 1 :], below))
    return None


@dataclass(frozen=True, slots=True)
class AddedCurve:
    """Names the tags of a sub-run of `add_scalars`. A class, so that another process can be given it."""

    main: str
    key: str
    below: str

    def __call__(self, tag: str) -> str:
        """The tag in its run; a curve that has the name of the main tag (HARL, MAPPO) keeps it."""
        if tag != self.main:
            return f"{self.below}/{tag}"
        return tag if self.key in (tag, tag.replace("/", "_")) else f"{tag}/{self.key}"


def _same_writer(name: str, uppers: Sequence[str]) -> bool:
    writer = names().writer
    own = writer.search(name)
    return own is not None and any(
        (its := writer.search(upper)) is not None and its["writer"] == own["writer"] for upper in uppers
    )
