"""A hyperparameter in full: what each run says of it, and where."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, cut, line
from rltui.panes.render.lines.hparams_lines import labels
from rltui.panes.render.sample_view import wrapped
from rltui.screen.pages.hparams_page import hparams
from rltui.screen.pages.lists.list_page import ListContent
from rltui.screen.state import AppState

WIDTH = 92  # cells; longer lines are hard to read


def hparam_details(state: AppState, key: str, width: int) -> ListContent:
    """The values, unabridged."""
    lines: list[Line] = []
    width = min(width, WIDTH)
    pane = hparams(state)
    row = next((one for one in pane.hparams if one.key == key), None) if pane is not None else None
    if pane is None or row is None:
        return ListContent([line(("said nowhere", "faint"))], title=key)
    names = labels(pane.columns)
    for name, cell in zip(names, row.cells, strict=True):
        if lines:
            lines.append(BLANK)
        if len(names) > 1:
            lines.append(line((name, "strong")))
        text = "said nowhere" if cell is None else cell.text
        role = "text" if cell is not None else "faint"
        lines += [line((part.rstrip(), role)) for _, part in wrapped(text, width)]
        if cell is not None:
            lines.append(line((f"said by {cell.source}", "dim")))
    for other in row.others:
        lines += [BLANK, line((cut(other.text, width), "warn")), line((f"said by {other.source}", "dim"))]
    return ListContent(lines, title=key)
