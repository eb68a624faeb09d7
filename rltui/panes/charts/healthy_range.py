"""The healthy range of a row, if the glossary has one: on the scale of its curve, and as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rltui.draw.numbers import SHARE, format_bound

if TYPE_CHECKING:
    from rltui.panes.rows.row import Row

Interval = tuple[float, float]

SHARES = {"fraction": 1.0, SHARE: 1.0, "percent": 100.0}  # units of shares, and the value of the whole
EDGE = "▏"  # marks the healthy rows of a curve on screens without background colours


def healthy_range_of(row: Row) -> Interval | None:
    """The healthy values of a row on the scale of its curve; an end may be infinite."""
    name = row.name
    metric = name.metric if name is not None else None
    healthy = metric.healthy_range if metric is not None else None
    if name is None or metric is None or healthy is None or not name.scale:
        return None
    if name.statistic not in ("", "mean", metric.statistic):  # the range of a mean is not one of a deviation
        return None
    low, high = sorted((end - name.offset) / name.scale for end in healthy)
    return (low, high)


def within_bounds(row: Row, shown: Interval, data: Interval) -> Interval:
    """A range to draw in, without slack beyond the bounds of the metric, such as a share above one.

    Data beyond the bounds remain visible.
    """
    name = row.name
    bounds = name.metric.bounds if name is not None and name.metric is not None else None
    if name is not None and bounds is not None and name.scale:
        low, high = sorted((end - name.offset) / name.scale for end in bounds)
    elif row.unit in SHARES:
        low, high = (0.0, SHARES[row.unit])
    else:
        return shown
    found = (max(shown[0], min(low, data[0])), min(shown[1], max(high, data[1])))
    return found if found[0] < found[1] else shown


def healthy_text(healthy: Interval, unit: str = "") -> str:
    """`healthy < 0.05`, `healthy 0…0.2`."""
    low, high = healthy
    if math.isinf(low):
        return f"healthy < {format_bound(high, unit)}"
    if math.isinf(high):
        return f"healthy > {format_bound(low, unit)}"
    return f"healthy {format_bound(low, unit)}…{format_bound(high, unit)}"


def limits_of(row: Row, *, log: bool) -> list[tuple[float, str, str]]:
    """The limits of findings and the ends of the healthy range: value (a logarithm if `log`), role, label."""
    limits = []
    for finding in row.findings:
        if finding.limit is not None and math.isfinite(finding.limit):
            role = "bad" if finding.severity == "critical" else "warn"
            limits.append((finding.limit, role, f"limit {format_bound(finding.limit, row.unit)}"))
    healthy = healthy_range_of(row)
    if healthy is not None:
        known = {value for value, *_ in limits}
        label = healthy_text(healthy, row.unit)
        limits += [(end, "good", label) for end in healthy if math.isfinite(end) and end not in known]
    if log:
        limits = [(math.log10(value), role, label) for value, role, label in limits if value > 0]
    return limits


def healthy_rows(healthy: Interval | None, bottom: float, top: float, rows: int) -> frozenset[int]:
    """The rows, from the top, of a curve from `bottom` to `top` whose middle is healthy; none if all are."""
    if healthy is None or not top > bottom or rows < 1:
        return frozenset()
    size = top / rows - bottom / rows
    middles = [top - (at + 0.5) * size for at in range(rows)]
    found = frozenset(at for at, middle in enumerate(middles) if healthy[0] <= middle <= healthy[1])
    return found if len(found) < rows else frozenset()
