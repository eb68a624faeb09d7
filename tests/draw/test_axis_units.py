"""Ticks of the large chart carry the unit of their metric, where that is a short one."""

from __future__ import annotations

import pytest

from rltui.draw.axis_ticks import y_ticks


@pytest.mark.parametrize(
    ("y", "unit", "texts"),
    [
        ((0.0, 0.31), "s", ["0", "100ms", "200ms", "300ms"]),
        ((0.0, 650.0), "s", ["0", "2m", "4m", "6m", "8m", "10m"]),
        ((0.0, 62.0), "percent", ["0", "20%", "40%", "60%"]),
        ((-0.5, 1.2), "nats", ["-0.5", "0", "0.5", "1.0"]),
    ],
)
def test_ticks_have_units_and_zero_is_0(y: tuple[float, float], unit: str, texts: list[str]) -> None:
    """Round values, times in round times; nothing reads 0.000."""
    assert [text for _, text in y_ticks(y, 5, unit=unit)] == texts
