"""What becomes of rollouts, as `rltui/data/rollout_outcomes.toml` lists it."""

from __future__ import annotations

from functools import cache

from rltui.named_tuple import NamedTuple
from rltui.schema.fields import ListField, TableField, table_of
from rltui.schema.toml_files import read_table


class Reason(NamedTuple):
    """Why rollouts are lost. All names are canonical ids.

    `inverted`: metrics that are the share that is not lost. `part_of`: metrics that may count it as well.
    `named`: each key is a reason that the run names. `total`: for whatever reason. `signal`: lost because
    their group has no advantage, so that what is trained on has one.
    """

    title: str
    metrics: tuple[str, ...]
    inverted: tuple[str, ...] = ()
    part_of: tuple[str, ...] = ()
    named: bool = False
    total: bool = False
    signal: bool = False


class RolloutOutcomes(NamedTuple):
    """The table."""

    generated: tuple[str, ...]
    used: tuple[str, ...]
    groups: tuple[str, ...]
    lag: tuple[str, ...]
    words_of_groups: tuple[str, ...]
    words_of_evaluation: tuple[str, ...]
    lost: tuple[Reason, ...]
    without_signal: tuple[Reason, ...]


def _rollout_outcomes_field() -> TableField[RolloutOutcomes]:
    reasons = ListField(table_of(Reason))
    return table_of(RolloutOutcomes, lost=reasons, without_signal=reasons)


@cache
def rollout_outcomes() -> RolloutOutcomes:
    """The table of the file, read at the first call."""
    return read_table("rollout_outcomes", _rollout_outcomes_field)
