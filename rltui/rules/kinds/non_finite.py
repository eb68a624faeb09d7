"""Values that are NaN or infinite, which `Ticks` counts apart from its ticks.

The condition has no window: it is on periods of non-finite values (`NonFinitePeriod`).
"""

from __future__ import annotations

from rltui.rules.evaluated_series.ticks import NONFINITE_GAP, NonFinitePeriod, Ticks
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule import Rule


def present(rule: Rule, ticks: Ticks) -> NonFinitePeriod | None:
    """The present period of non-finite values, if the rule is about it."""
    period = ticks.nonfinite
    if period is None or _is_over(ticks, period) or is_undefined(ticks, period):
        return None
    return period if _concerns(rule, period, ticks.points) else None


def past(rule: Rule, ticks: Ticks) -> list[NonFinitePeriod]:
    """The resolved periods that the rule is about, oldest first."""
    periods = list(ticks.nonfinite_before)
    if ticks.nonfinite is not None and _is_over(ticks, ticks.nonfinite):
        periods.append(ticks.nonfinite)
    return [
        period
        for period in periods
        if not is_undefined(ticks, period) and _concerns(rule, period, period.last_index + 2)
    ]


def is_undefined(ticks: Ticks, period: NonFinitePeriod) -> bool:
    """Whether a period is that before the first value of a quantity that a training may lack.

    Writers fill the columns of such quantities, and those of unknown names, with NaN; a number that broke was
    one before, and infinity is the result of a calculation.
    """
    undefined = not ticks.canonical or ticks.canonical.startswith(metric_roles().nan_if_undefined)
    return undefined and period.never_defined


def _is_over(ticks: Ticks, period: NonFinitePeriod) -> bool:
    return ticks.points - 1 - period.last_index >= NONFINITE_GAP


def _concerns(rule: Rule, period: NonFinitePeriod, points: int) -> bool:
    """Whether a rule is about a period of non-finite values, in a series of so many points.

    A period lasts while more than half of the points since its first one are non-finite: a gradient that
    overflows once loses an update, weights that are NaN make every value NaN. With `share` so many of the
    points since its first one must be. With `never_before` there are so many where no value has been finite;
    with `until` none has been, and there are fewer points.
    """
    if period.count < rule.number("least", 1) or period.after < rule.number("after", 0):
        return False
    if not period.after and period.count < rule.number("never_before", 0):
        return False
    if "until" in rule.numbers and (period.after or points >= rule.number("until", 0)):
        return False
    since = points - period.after - period.before
    if period.count < rule.number("share", 0) * since:
        return False
    lasts = period.count > 0.5 * since
    if rule.number("passing", 0):
        return not lasts
    return not rule.number("lasting", 0) or (lasts and period.count >= rule.number("lasting", 0))
