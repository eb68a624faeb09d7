"""What is healthy for a row, where the glossary states numbers: as drawn, and in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rltui.draw.numbers import SHARE, format_bound

if TYPE_CHECKING:
    from rltui.panes.rows.row import Row

Band = tuple[float, float]

SHARES = {"fraction": 1.0, SHARE: 1.0, "percent": 100.0}  # units of shares, and the value of the whole
EDGE = "▏"  # beside the rows of a curve that are healthy: a glyph, for screens without shades


def band_of(row: Row) -> Band | None:
    """The healthy values of a row on the scale of its curve; an end may be infinite."""
    name = row.name
    metric = name.metric if name is not None else None
    band = metric.band if metric is not None else None
    if name is None or metric is None or band is None or not name.scale:
        return None
    if name.statistic not in ("", "mean", metric.statistic):  # a deviation is not healthy where a mean is
        return None
    low, high = sorted((end - name.offset) / name.scale for end in band)
    return (low, high)


def within_bounds(row: Row, shown: Band, data: Band) -> Band:
    """A range to draw in without the slack beyond what the metric can be, such as a share above one.

    Data beyond that stay in sight.
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


def band_text(band: Band, unit: str = "") -> str:
    """`healthy < 0.05`, `healthy 0…0.2`."""
    low, high = band
    if math.isinf(low):
        return f"healthy < {format_bound(high, unit)}"
    if math.isinf(high):
        return f"healthy > {format_bound(low, unit)}"
    return f"healthy {format_bound(low, unit)}…{format_bound(high, unit)}"


def limits_of(row: Row, *, log: bool) -> list[tuple[float, str, str]]:
    """The limits of what fires, the ends of what is healthy: value (a logarithm where `log`), role, words."""
    found = []
    for one in row.findings:
        if one.limit is not None and math.isfinite(one.limit):
            role = "bad" if one.severity == "critical" else "warn"
            found.append((one.limit, role, f"limit {format_bound(one.limit, row.unit)}"))
    band = band_of(row)
    if band is not None:
        known = {value for value, *_ in found}
        words = band_text(band, row.unit)
        found += [(end, "good", words) for end in band if math.isfinite(end) and end not in known]
    if log:
        found = [(math.log10(value), role, words) for value, role, words in found if value > 0]
    return found


def healthy_rows(band: Band | None, bottom: float, top: float, rows: int) -> frozenset[int]:
    """The rows, counted from the top, of a curve between `bottom` and `top` whose middle is healthy.

    None of them where all are: there is nothing to tell apart.
    """
    if band is None or not top > bottom or rows < 1:
        return frozenset()
    size = top / rows - bottom / rows
    middles = [top - (at + 0.5) * size for at in range(rows)]
    found = frozenset(at for at, middle in enumerate(middles) if band[0] <= middle <= band[1])
    return found if len(found) < rows else frozenset()
