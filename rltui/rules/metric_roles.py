"""Metrics and tags with a special role, such as the time of a step: `rltui/data/metric_roles.toml`."""

from __future__ import annotations

from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.metric import MetricReference
from rltui.schema.toml_files import read_table

STEP_TIME = "progress.pace"  # metric of rules on seconds per step, derived from the wall times of points


class MetricRoles(NamedTuple):
    """Canonical ids, except for final tags and hyperparameters; described in the data file."""

    final_tags: tuple[str, ...]
    planned_steps: tuple[str, ...]  # hyperparameters
    whole_steps: tuple[MetricReference, ...]
    step_times: tuple[MetricReference, ...]
    logged_at_updates: tuple[MetricReference, ...]
    zero_if_unknown: tuple[str, ...]  # prefixes of ids
    nan_if_undefined: tuple[str, ...]  # prefixes of ids
    in_percent: tuple[str, ...]  # prefixes of ids
    phase_order: tuple[MetricReference, ...]
    logged_once: tuple[str, ...]  # prefixes of ids
    returns: tuple[MetricReference, ...]
    returns_else: tuple[MetricReference, ...]
    outcomes: tuple[MetricReference, ...]
    compared_outcomes: tuple[MetricReference, ...]
    never_best: tuple[MetricReference, ...]


@cache
def metric_roles() -> MetricRoles:
    """The shipped table, read once."""
    return read_table("metric_roles", MetricRoles)
