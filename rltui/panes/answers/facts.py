"""Facts of answers from recent values: a number, and how it changed, in words."""

from __future__ import annotations

from rltui.draw.numbers import format_value
from rltui.panes.answers.answer import Fact
from rltui.panes.answers.recent_values import Values

MOSTLY_GONE = -0.95  # a relative change that is given as a factor, not in percent


def fact(title: str, values: Values, unit: str, *, formula: str = "") -> Fact:
    """The median of the last points with its change."""
    steps = int(values.step[-1] - values.step[0]) if len(values.step) else 0
    return Fact(title, values.now, format_value(values.now, unit), values.change, steps, formula)


def _factor_text(factor: float) -> str:
    """A factor in three digits: `2.5`, `12`, `2,160`."""
    return f"{factor:.3g}" if factor < 1000 else f"{float(f'{factor:.3g}'):,.0f}"


def trend_text(one: Fact, *, in_words: bool = False, steps: bool = True) -> str:
    """`+21 % over 60 steps`, `up 12-fold`, `steady`; empty if unknown.

    in_words: `up 21 %` instead of `+21 %`. steps: whether to give the number of steps.
    """
    change = one.change
    if not change:
        return "" if change is None else "steady"
    if change == -1:  # the value, which is 0, says it
        return ""
    direction = "up" if change > 0 else "down"
    if change >= 2 or -1 < change <= MOSTLY_GONE:
        text = f"{direction} {_factor_text(change + 1 if change > 0 else 1 / (1 + change))}-fold"
    else:
        text = f"{direction} {100 * abs(change):.0f} %" if in_words else f"{100 * change:+.0f} %"
    return f"{text} over {one.change_steps:,} steps" if steps else text
