"""What kind of training a run is, and so what to look at first."""

from __future__ import annotations

from collections.abc import Iterable

from rltui.rules.load import rulebook
from rltui.rules.model import Scenario


def scenario_of(canonical: Iterable[str | None], framework: str | None = None) -> Scenario:
    """The first scenario of the data whose signs are among the canonical ids of a run.

    The last scenario of the data asks for nothing, so there always is one.
    """
    present = {name for name in canonical if name}
    book = rulebook()
    for scenario in book.scenarios:
        if scenario.frameworks and framework not in scenario.frameworks:
            continue
        if scenario.any and not present.intersection(scenario.any):
            continue
        if present.intersection(scenario.none):
            continue
        return scenario
    return Scenario("other", "training", (), ())
