"""Metrics and tags with a special role, such as the time of a step: `rltui/data/metric_roles.toml`."""

from __future__ import annotations

from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.toml_files import read_table

STEP_TIME = "progress.pace"  # metric of rules on seconds per step, derived from the wall times of points


class MetricRoles(NamedTuple):
    """Canonical ids, except for final tags and hyperparameters; described in the data file."""

    final_tags: tuple[str, ...]
    planned_steps: tuple[str, ...]  # hyperparameters
    whole_steps: tuple[str, ...]
    step_times: tuple[str, ...]
    logged_at_updates: tuple[str, ...]
    zero_if_unknown: tuple[str, ...]
    nan_if_undefined: tuple[str, ...]
    in_percent: tuple[str, ...]  # prefixes of ids
    phase_order: tuple[str, ...]
    logged_once: tuple[str, ...]
    returns: tuple[str, ...]
    returns_else: tuple[str, ...]
    outcomes: tuple[str, ...]
    compared_outcomes: tuple[str, ...]
    never_best: tuple[str, ...]


@cache
def metric_roles() -> MetricRoles:
    """The shipped table, read once."""
    return read_table("metric_roles", MetricRoles)
