"""Other runs behind a run's curves: the same metric of each, its sign and its colour."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import Span
from rltui.draw.value_range import share_of
from rltui.panes.charts.curve import Curve, Spread, curve
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

# Of curves over each other: told apart without colours; the first is the run shown. Those that stand for
# states and healths in the list of runs come last.
SIGNS = "●◆★✚▼○■▲"


MOST_SISTERS = 32


class OtherRun(NamedTuple):
    """The same metric of another run. Sister runs have no sign: they are drawn together as one band."""

    sign: str
    role: str
    series: Series

    @property
    def is_sister(self) -> bool:
        """Whether it differs from the run shown by its seed alone, and was not chosen by the user."""
        return not self.sign


def other_runs(view: RunView, row: Row, runs: Sequence[RunView]) -> tuple[OtherRun, ...]:
    """What runs have of a metric of another; a run keeps its sign whether the others have it or not."""
    found = []
    for at, run in enumerate(runs[: len(SIGNS) - 1], start=1):
        tag = view.tag_index.counterpart(row.tag, run.tag_index)
        if tag is not None and run.run.series[tag].count:
            found.append(OtherRun(SIGNS[at], f"series{at}", run.run.series[tag]))
    return tuple(found)


def sister_runs(view: RunView, others: Iterable[RunView], digest: Callable[[RunView], str]) -> list[RunView]:
    """The runs of the same framework and settings as another one but for the seed, `MOST_SISTERS` at most.

    digest: of the settings of a run without its seed; empty where none are known.
    """
    kin = digest(view)
    if not kin:
        return []
    alike = (one for one in others if one is not view and one.framework == view.framework)
    return list(islice((one for one in alike if digest(one) == kin), MOST_SISTERS))


def sister_series(view: RunView, tag: str, sisters: Iterable[RunView]) -> list[Series]:
    """What sister runs have of a metric."""
    found = ((one, view.tag_index.counterpart(tag, one.tag_index)) for one in sisters)
    return [one.run.series[key] for one, key in found if key is not None]


@dataclass(frozen=True, slots=True, eq=False)
class OverlaidCurve:
    """The curve of another run in the columns of a card."""

    sign: str
    role: str
    curve: Curve


def overlaid_curves(
    row: Row, others: Sequence[OtherRun], window: StepWindow, columns: int
) -> list[OverlaidCurve]:
    """The curves of other runs; none for a metric on an axis of its own, which no other run shares."""
    if row.own_axis:
        return []
    found = []
    for other in others:
        if other.is_sister:
            continue
        drawn = curve(replace(row, parts={"": other.series}), window, columns)
        if drawn is not None and np.isfinite(drawn.low).any():
            found.append(OverlaidCurve(other.sign, other.role, drawn))
    return found


def draw_overlaid(canvas: Canvas, found: Sequence[OverlaidCurve], bottom: float, top: float) -> None:
    """Draw other runs; what is drawn next lies over them."""
    for other in found:
        canvas.line(other.curve.low, other.curve.high, bottom, top)


def _sign_places(
    found: Sequence[OverlaidCurve], rows: int, bottom: float, top: float
) -> dict[tuple[int, int], OverlaidCurve]:
    """Where the sign of each curve stands, by (row from the top, cell): at its end."""
    taken: dict[tuple[int, int], OverlaidCurve] = {}
    for other in found:
        if not other.sign:
            continue
        level = other.curve.low / 2 + other.curve.high / 2
        last = int(np.flatnonzero(np.isfinite(level))[-1])
        for column in range(last, max(last - PER_CELL * len(found), -1), -PER_CELL):
            share = share_of(float(level[column]), bottom, top)
            if math.isfinite(share):
                place = (rows - 1 - min(int(max(share, 0.0) * rows), rows - 1), column // PER_CELL)
                if place not in taken:
                    taken[place] = other
                    break
    return taken


def canvas_spans(
    canvas: Canvas,
    drawn: Curve,
    bottom: float,
    top: float,
    behind: Spread | None,
    found: Sequence[OverlaidCurve] = (),
) -> list[list[Span]]:
    """A curve on a canvas as runs of cells, row by row, with marks for non-finite values.

    found: the curves that lie on the canvas already.
    """
    canvas.line(drawn.low, drawn.high, bottom, top)
    if behind is not None:
        canvas.draw_band(behind.low, behind.high, bottom, top)
    lines = canvas.lines()
    roles = ["accent", "band", "bad", *(other.role for other in found)]
    codes = np.zeros((len(lines), len(lines[0]) if lines else 0), np.int8)  # of the role of each cell
    if behind is not None:
        codes[canvas.band_cells()] = 1
    if found:
        owners = canvas.owners()
        others = (owners >= 0) & (owners < len(found))
        codes[others] = owners[others] + 3
    for (row, cell), other in _sign_places(found, len(lines), bottom, top).items():
        lines[row] = f"{lines[row][:cell]}{other.sign}{lines[row][cell + 1 :]}"
        codes[row, cell] = roles.index(other.role)
    bad = sorted(set((np.flatnonzero(drawn.nonfinite) // PER_CELL).tolist()))
    if bad and lines:
        lines[0] = "".join("×" if cell in bad else char for cell, char in enumerate(lines[0]))
        codes[0, bad] = 2
    return _runs(lines, codes, roles)


def _runs(lines: Sequence[str], codes: NDArray[np.int8], roles: Sequence[str]) -> list[list[Span]]:
    """Lines of narrow characters as runs of one role; codes: (lines, cells) index of each cell's role."""
    if not codes.any():
        return [[(text, roles[0])] for text in lines]
    borders: list[list[int]] = [[] for _ in lines]
    for row, at in np.argwhere(codes[:, 1:] != codes[:, :-1]).tolist():
        borders[row].append(at + 1)
    found = []
    for text, ends, named in zip(lines, borders, codes.tolist(), strict=True):
        starts = [0, *ends]
        found.append(
            [(text[at:end], roles[named[at]]) for at, end in zip(starts, [*ends, len(text)], strict=True)]
        )
    return found
