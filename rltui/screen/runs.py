"""The list of runs: framework, state, step, age, a key metric, health; sorted, filtered, marked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rltui.boards.overview import HEALTH_GLYPH, HEALTH_ROLE, STATE_GLYPH, STATE_ROLE, key_rows
from rltui.draw.line import Line, Span, cut, line
from rltui.draw.number import format_age, format_step
from rltui.screen.filters import matcher
from rltui.screen.listing import Listing
from rltui.text import cell_width, pad

if TYPE_CHECKING:
    from rltui.screen.desk import Desk
    from rltui.session import RunView

_HEALTH = {"critical": 0, "warning": 1, "ok": 2}


def _framework(view: RunView) -> str:
    return "" if view.framework == "unknown" else view.framework


def _words(view: RunView, now: float) -> str:
    """What a filter looks at."""
    return f"{view.name} {view.framework} {view.liveness(now).state} {view.judge.health}"


def _key_value(view: RunView, now: float) -> tuple[str, float]:
    """Runs of one key metric together, the highest value first."""
    rows = key_rows(view, 1)
    value = rows[0].value if rows else None
    known = value is not None and math.isfinite(value)
    return (rows[0].title if rows else "~", -value if known and value is not None else math.inf)


SORTS: tuple[tuple[str, Callable[[RunView, float], Any]], ...] = (
    ("age", lambda view, now: -view.modified),
    ("name", lambda view, now: view.name),
    ("health", lambda view, now: _HEALTH.get(view.judge.health, 3)),
    ("step", lambda view, now: -(view.run.last_step or 0)),
    ("key metric", _key_value),
    ("framework", lambda view, now: view.framework),
)


class RunsPage(Listing):
    """A line per run. Typing after `/` filters; `x` marks for comparison."""

    where = "runs"

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.query = ""
        self.sort = 0
        self.whole = True
        self.frames = 12
        names = [view.name for view in self._sorted(desk)]
        self.at = names.index(desk.view.name) if desk.view is not None and desk.view.name in names else 0

    def _sorted(self, desk: Desk) -> list[RunView]:
        now = desk.now
        match = matcher(self.query)
        found = desk.session.ordered()
        if self.query.strip():
            found = [view for view in found if match(view.name) or match(_words(view, now))]
        return sorted(found, key=lambda view: SORTS[self.sort][1](view, now))

    @property
    def title(self) -> str:  # type: ignore[override]
        """The heading says how the list is sorted and filtered."""
        words = f"Runs by {SORTS[self.sort][0]}"
        if self.typing:
            return f"{words} · /{self.query}▏"
        return f"{words} · {self.query}" if self.query else words

    def content(self, desk: Desk, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """Columns that do not fit are left out from the right. Only lines in sight ask for metrics."""
        views = self._sorted(desk)
        whole = max((cell_width(view.name) for view in views), default=8)
        self.whole = whole <= max(width - 97, 24)  # with all columns beside it
        longest = max((cell_width(self._title(desk, view)) for view in views), default=8)
        names = min(longest, max(width - (27 if width < 60 else 48), 9))
        self.frames = min(max((cell_width(_framework(view)) for view in views), default=8), 17)
        words = height >= 12 and width >= 60 and bool(views)
        lines: list[Line] = [self._words(names, width)] if words else []
        items: list[tuple[int, str]] = []
        room = max(height - 4, 1)
        for index, view in enumerate(views):
            if abs(index - self.at) <= room:
                lines.append(self._line(desk, view, names, width))
            else:
                lines.append(line((view.name, "text")))
            items.append((index + words, view.name))
        return lines or [line(("no run matches", "dim"))], items

    def _title(self, desk: Desk, view: RunView) -> str:
        return desk.title(view.name) if self.whole else desk.brief(view.name)

    def _words(self, names: int, width: int) -> Line:
        """The faint words over the columns."""
        text = f"  {pad('run', names)}  {pad('state', 9)}  {pad('health', 10)}{pad('step', 13, right=True)}"
        text += f"{pad('last', 10, right=True)}  "
        if cell_width(text) + self.frames <= width:
            text += pad("framework", self.frames)
            room = min(width - cell_width(text) - 13, 18)
            text += f"  {pad('key metric', room)}" if room >= 10 else ""
        return line((text, "faint"))

    def _line(self, desk: Desk, view: RunView, names: int, width: int) -> Line:
        alive = view.liveness(desk.now)
        health = view.judge.health
        narrow = width < 60  # glyphs without their words
        step = format_step(view.run.last_step) if view.run.last_step is not None else "–"
        spans: list[Span] = [
            ("● " if view.name in desk.marked else "  ", "series0"),
            (pad(self._title(desk, view), names), "strong" if view is desk.view else "text"),
            (
                f"  {STATE_GLYPH.get(alive.state, '?')}{'' if narrow else ' ' + pad(alive.state, 7)}",
                STATE_ROLE.get(alive.state, "dim"),
            ),
            (
                f"  {HEALTH_GLYPH.get(health, '?')}{'' if narrow else ' ' + pad(health, 8)}",
                HEALTH_ROLE.get(health, "text"),
            ),
            (f"  {pad(step, 9 if narrow else 11, right=True)}", "text"),
            (f"  {pad(format_age(alive.age), 7 if narrow else 8, right=True)}", "dim"),
        ]
        used = sum(cell_width(text) for text, _ in spans)
        if used + self.frames + 2 <= width:
            spans.append((f"  {pad(_framework(view), self.frames)}", "dim"))
            used += self.frames + 2
        room = min(width - used - 13, 18)
        if room >= 10:
            rows = key_rows(view, 1)
            if rows:
                spans += [
                    (f"  {pad(cut(rows[0].title, room), room)}", "dim"),
                    (pad(rows[0].value_text, 11, right=True), "text"),
                ]
        return line(*spans)

    def foot(self, desk: Desk) -> list[Span]:
        """Keys of this page."""
        words: list[Span] = []
        for key, what in (("Enter", "show"), ("x", "mark"), ("S", "sort"), ("/", "filter"), ("Esc", "back")):
            words += [(key, "accent"), (f" {what}  ", "dim")]
        return [*words[:-1], (" back", "dim")]

    def choose(self, desk: Desk, argument: str) -> None:
        """Show a run."""
        desk.close()
        desk.choose_run(argument)

    def more(self, desk: Desk, action: str, argument: str) -> bool:
        """Marking, sorting, filtering."""
        views = self._sorted(desk)
        if action == "mark" and self.at < len(views):
            name = views[self.at].name
            if name in desk.marked:
                desk.marked.remove(name)
            else:
                desk.marked.append(name)
            self.at = min(self.at + 1, len(views) - 1)
        elif action == "sort":
            self.sort = (self.sort + 1) % len(SORTS)
        elif action == "filter":
            self.typing = True
        elif action == "runs":
            desk.close()
        return True

    def type(self, desk: Desk, key: str) -> bool:
        """The filter as it is typed."""
        if key == "enter":
            self.typing = False
        elif key == "escape":
            self.typing, self.query = False, ""
        elif key == "backspace":
            self.query = self.query[:-1]
        elif len(key) == 1 and key.isprintable():
            self.query += key
            self.at = 0
        else:
            return False
        return True
