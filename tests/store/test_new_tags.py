"""Tags that appear while a run goes on."""

from __future__ import annotations

import pytest

from rltui.store.store import Store
from tests.support.runs.deliveries import delivery, ticks


@pytest.mark.parametrize("before", [1, 7, 8, 9, 27, 40])
@pytest.mark.parametrize("steps", [1, 5, 60])
def test_many_points_with_new_tags_are_taken(before: int, steps: int) -> None:
    """A delivery in which tags speak for the first time is read whole, however many there were before."""
    store = Store()
    old = tuple(f"old/{index}" for index in range(before))
    young = ("young/a", "young/b")
    store.apply(delivery(ticks(range(1, 60), old), wall=1763600000.0))
    store.apply(delivery(ticks(range(60, 120), old), wall=1763600100.0))
    run, _ = store.apply(delivery(ticks(range(120, 120 + steps), (*old, *young)), wall=1763600200.0))
    assert [run.series[tag].count for tag in young] == [steps, steps]
    assert run.series[old[0]].count == 119 + steps
    assert len(run.attempts) == 1
