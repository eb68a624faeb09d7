"""The samples of a run, as lists and panes use them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.logs.sample_layouts.sample import Evaluation, SampleHead, nearest_step


class RunSamples(NamedTuple):
    """The samples of a run at one moment; immutable. by_step: by rising step."""

    by_step: Mapping[int, tuple[SampleHead, ...]] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()
    left_out: int = 0  # samples beyond the limit
    bytes_left: int = 0  # that were not read yet
    evaluations: tuple[Evaluation, ...] = ()  # by data set, then by step

    def nearest(self, step: int) -> int | None:
        """See `nearest_step`; of the steps with samples."""
        return nearest_step(self.by_step, step)
