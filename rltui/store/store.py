"""The store: all runs, to which deliveries are applied."""

from __future__ import annotations

from collections.abc import Collection

from rltui.logs.delivery import Delivery
from rltui.store.points import NewPoints
from rltui.store.run import Run

WINDOW = 1024  # exact recent points per series of a focused run
SLOTS = 512  # buckets of older points
UNFOCUSED_WINDOW = 128  # for the other runs: what the list of runs and the rules need
UNFOCUSED_SLOTS = 128


class Store:
    """The runs by name. Until `focus` is called, every run has the sizes of a focused run."""

    def __init__(self, window: int = WINDOW, slots: int = SLOTS) -> None:
        self.runs: dict[str, Run] = {}
        self._focused_sizes = (window, slots)
        self._other_sizes = (min(window, UNFOCUSED_WINDOW), min(slots, UNFOCUSED_SLOTS))
        self._focused: frozenset[str] | None = None

    def apply(self, delivery: Delivery) -> tuple[Run, list[NewPoints]]:
        """Apply a delivery. Returns its run and the new shown points by tag, in order of arrival."""
        name = delivery.source.run
        run = self.runs.get(name)
        if run is None:
            run = self.runs[name] = Run(name, *self._sizes(name))
        return run, run.apply(delivery)

    def _sizes(self, name: str) -> tuple[int, int]:
        focused = self._focused is None or name in self._focused
        return self._focused_sizes if focused else self._other_sizes

    def focus(self, names: Collection[str]) -> None:
        """Keep full windows for these runs only. In the others, old points move to fewer buckets.

        This cannot be undone: `Series.exact_from` is the step from which points are exact.
        """
        self._focused = frozenset(names)
        for name, run in self.runs.items():
            run.table.resize(*self._sizes(name))

    @property
    def nbytes(self) -> int:
        """Bytes held in tables, all runs."""
        return sum(run.table.nbytes for run in self.runs.values())
