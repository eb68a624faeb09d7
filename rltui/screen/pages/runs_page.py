"""The list of runs: framework, state, step, age, a key metric, health; sorted, filtered, marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import Line, Span, line
from rltui.draw.numbers import format_age
from rltui.draw.symbols import HEALTH_GLYPH, HEALTH_ROLE, STATE_GLYPH, STATE_ROLE
from rltui.panes.overview import key_rows
from rltui.panes.render.pane_lines import short_title
from rltui.screen.input.text_filter import matcher
from rltui.screen.pages.chart.overlaid_runs import sign_of
from rltui.screen.pages.list_page import ListPage
from rltui.screen.pages.page import Page, Spot
from rltui.screen.pages.run_sorting import COLUMNS
from rltui.text import cell_width, pad

if TYPE_CHECKING:
    from rltui.screen.state import AppState
    from rltui.session.run_view import RunView


def _framework(view: RunView) -> str:
    return "" if view.framework == "unknown" else view.framework


def _words(view: RunView, now: float, health: str) -> str:
    """What a filter looks at."""
    return f"{view.name} {view.framework} {view.liveness(now).state} {health}"


_FOOT = (("open", "show"), ("mark", "mark"), ("sort", "sort"), ("reverse", "reverse"), ("filter", "filter"),
         ("back", "back"))  # fmt: skip


class RunsPage(ListPage):
    """A line per run. Typing after `/` filters; `x` marks for comparison."""

    where = "runs"

    def __init__(self, desk: AppState) -> None:
        super().__init__()
        self.query = ""
        self.title = ""
        self.whole = True
        self.frames = 12
        self.picked = desk.view.name if desk.view is not None else ""  # the selection, wherever it moves
        self.heads: list[tuple[int, int, str]] = []  # first cell, cells, column of the words above

    def _sorted(self, desk: AppState) -> list[RunView]:
        now = desk.now
        match = matcher(self.query)
        found = desk.session.ordered()
        if self.query.strip():
            found = [one for one in found if match(one.name) or match(_words(one, now, desk.health(one)))]
        return desk.order.sorted(found, now, desk.health)

    def page(self, desk: AppState, under: Page, width: int, height: int) -> Page:
        """The list; a click on a word over a column sorts by it."""
        self.title = f"Runs by {desk.order.column} {desk.order.arrow}"
        if self.typing:
            self.title += f" · /{self.query}▏"
        elif self.query:
            self.title += f" · {self.query}"
        made = super().page(desk, under, width, height)
        if self.fixed:
            frame = next(spot for spot in reversed(made.spots) if spot.action == "nothing")
            made.spots += [
                Spot(frame.x + 2 + x, frame.y + 1, cells, 1, "sort-by", column)
                for x, cells, column in self.heads
            ]
        return made

    def content(self, desk: AppState, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """Columns that do not fit are left out from the right. Only lines in sight ask for metrics."""
        views = self._sorted(desk)
        whole = max((cell_width(view.name) for view in views), default=8)
        self.whole = whole <= max(width - 97, 24)  # with all columns beside it
        longest = max((cell_width(self._title(desk, view)) for view in views), default=8)
        names = min(longest, max(width - (26 if width < 56 else 48), 9))
        self.frames = min(max((cell_width(_framework(view)) for view in views), default=0), 17)
        self.frames = max(self.frames, len("framework"))
        words = height >= 12 and width >= 56 and bool(views)
        self.fixed = int(words)
        lines: list[Line] = [self._heads(desk, names, width)] if words else []
        known = [view.name for view in views]
        self.at = known.index(self.picked) if self.picked in known else min(self.at, max(len(known) - 1, 0))
        items: list[tuple[int, str]] = []
        room = max(height - 4, 1)
        for index, view in enumerate(views):
            if abs(index - self.at) <= room:
                lines.append(self._line(desk, view, names, width))
            else:
                lines.append(line((view.name, "text")))
            items.append((index + words, view.name))
        return lines or [line(("no run matches", "dim"))], items

    def _title(self, desk: AppState, view: RunView) -> str:
        return desk.title(view.name) if self.whole else desk.brief(view.name)

    def _heads(self, desk: AppState, names: int, width: int) -> Line:
        """The faint words over the columns, the one that sorts with an arrow; those that do not fit go."""
        order = desk.order
        room = width - (names + 51 + self.frames) - 2
        cells = {"name": names, "state": 9, "health": 9, "step": 12, "age": 8, "framework": self.frames}
        spans: list[Span] = [("  ", "faint")]
        self.heads = []
        x = 2
        for column in COLUMNS:
            wide = cells.get(column.id, max(min(room - 11, 18), 0) if room >= 21 else 0)
            if x + wide > width or not wide:
                continue
            here = column.id == order.column
            word = f"{column.word} {order.arrow}" if here else column.word
            text = pad(word, wide, right=column.id in ("step", "age"))
            self.heads.append((x, wide, column.id))
            spans += [(text, "strong" if here else "faint"), ("  ", "faint")]
            x += wide + 2
        return line(*spans[:-1])

    def _line(self, desk: AppState, view: RunView, names: int, width: int) -> Line:
        alive = view.liveness(desk.now)
        health = desk.health(view)
        narrow = width < 56  # glyphs without their words
        age = format_age(alive.age)
        step = desk.step_text(view, 9 if narrow else 11)
        spans: list[Span] = [
            sign_of(desk, view),
            (pad(self._title(desk, view), names), "strong" if view is desk.view else "text"),
            (
                f"  {STATE_GLYPH.get(alive.state, '?')}{'' if narrow else ' ' + pad(alive.word, 7)}",
                STATE_ROLE.get(alive.state, "dim"),
            ),
            (
                f"  {HEALTH_GLYPH.get(health, '?')}{'' if narrow else ' ' + pad(health, 8)}",
                HEALTH_ROLE.get(health, "text"),
            ),
            (f"  {pad(step, 9 if narrow else 11, right=True)}", "text"),
            (f"  {pad(age.removesuffix(' ago') if narrow else age, 5 if narrow else 8, right=True)}", "dim"),
        ]
        used = sum(cell_width(text) for text, _ in spans)
        if used + self.frames + 2 <= width:
            spans.append((f"  {pad(_framework(view), self.frames)}", "dim"))
            used += self.frames + 2
        room = min(width - used - 13, 18)
        if room >= 10:
            rows = key_rows(view, 1, at_step=desk.at_step, findings=())
            if rows:
                spans += [
                    (f"  {pad(short_title(rows[0].title, room), room)}", "dim"),
                    (pad(rows[0].value_text, 11, right=True), "text"),
                ]
        return line(*spans)

    def foot(self, desk: AppState) -> list[Span]:
        """Keys of this page."""
        words: list[Span] = []
        for action, what in _FOOT:
            words += [(desk.keys.hint_of(action), "accent"), (f" {what}  ", "dim")]
        return [*words[:-1], (" back", "dim")]

    def act(self, desk: AppState, action: str, argument: str) -> bool:
        """The selection stays with its run, wherever that goes."""
        done = super().act(desk, action, argument)
        if done and self._items and action != "reverse" and not action.startswith("sort"):
            self.picked = self._items[min(self.at, len(self._items) - 1)][1]
        return done

    def choose(self, desk: AppState, argument: str) -> None:
        """Show a run."""
        desk.close()
        desk.choose_run(argument)

    def more(self, desk: AppState, action: str, argument: str) -> bool:
        """Marking, sorting, filtering."""
        views = self._sorted(desk)
        if action == "mark" and self.at < len(views):
            name = views[self.at].name
            if name in desk.marked:
                desk.marked.remove(name)
            else:
                desk.marked.append(name)
            self.at = min(self.at + 1, len(views) - 1)
        elif action in ("sort", "sort-back"):
            desk.order = desk.order.by(1 if action == "sort" else -1)
        elif action in ("reverse", "sort-by"):
            desk.order = desk.order.to(argument or desk.order.column)
        elif action == "filter":
            self.typing = True
        elif action == "runs":
            desk.close()
        return True

    def type(self, desk: AppState, key: str) -> bool:
        """The filter as it is typed."""
        if key == "enter":
            self.typing = False
        elif key == "escape":
            self.typing, self.query = False, ""
        elif key == "backspace":
            self.query = self.query[:-1]
        elif len(key) == 1 and key.isprintable():
            self.query += key
            self.at, self.picked = 0, ""
        else:
            return False
        return True
