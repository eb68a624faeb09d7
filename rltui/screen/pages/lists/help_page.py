"""Help: every key, made from the table of bindings."""

from __future__ import annotations

from functools import lru_cache

from rltui.draw.cells import BLANK, Line, line, side_by_side, wrap
from rltui.screen.input.bindings import IN_PLACE, Bind, Keys, shown
from rltui.screen.pages.lists.list_page import ListContent
from rltui.text import cell_width, pad

# What is drawn how, for those who see it for the first time.
SIGNS = (
    ("✓ ▲ ✖ ·", "healthy, warning, critical, a remark that calls for nothing"),
    ("● ◌ ■", "live, stalled, ended; ended?: silent for so long that it is taken as over"),
    ("‖ ◂", "paused; an earlier moment of the run"),
    ("━ ◆ ■", "the run shown, and marked runs over its curves"),
    ("▁▃▇ ⣀⡠", "a curve keeps the extreme of each column: a spike of one step is seen"),
    ("▲193 ┊", "the step since which something is wrong, and a line there"),
    ("log  ▲ to 40", "a logarithmic axis; a curve that is cut off, and how far it goes"),
    ("─ always 0", "what never changed"),
    ("▏", "healthy values, where a source states them; in one line what lies outside has another colour"),
    ("0.31!", "beyond what is healthy; behind a difference: beyond the baseline's own spread"),
    ("⡐⡐ 4…15", "spread round a mean: lowest to highest, or a deviation to both sides"),
    ("×  ↻ │", "NaN or infinite; the run was started again"),
    ("=", "no change since the value before"),
)


PLACES = {
    "chart": "In this chart", "runs": "In this list of runs", "samples": "In these samples",
    "console": "In this console", "findings": "In the findings",
}  # fmt: skip


@lru_cache(maxsize=8)
def help_content(keys: Keys, width: int, place: str = "") -> ListContent:
    """The keys of a place, then all others in groups, in one or two columns, then the signs."""
    groups = by_group(keys, place)
    if width < 100:
        lines = [*help_lines(groups, width), BLANK, *sign_lines(width)]
    else:
        half = (width - 4) // 2
        names = list(groups)
        sizes = [len(groups[name]) + 2 for name in names]
        cut = next(i for i in range(len(names) + 1) if sum(sizes[:i]) >= (sum(sizes) + len(SIGNS) + 4) / 2)
        left = help_lines({name: groups[name] for name in names[:cut]}, half)
        right = help_lines({name: groups[name] for name in names[cut:]}, half)
        right += [BLANK, *sign_lines(half)]
        cells = max((one.width for one in left), default=0)
        lines = side_by_side(left, right, cells, 4)
    return ListContent(lines, title="Keys and signs")


def by_group(keys: Keys, place: str = "") -> dict[str, list[Bind]]:
    """The bindings in force by the group that help shows them in, those of a place in the first group."""
    groups: dict[str, list[Bind]] = {PLACES[place]: []} if place in PLACES else {}
    over = IN_PLACE.get(place, {})
    for bind in keys.binds:
        if not bind.keys or bind.action == "interrupt":
            continue
        if place in PLACES and (bind.where == place or bind.action in over):
            groups[PLACES[place]].append(bind._replace(words=over.get(bind.action, bind.words)))
        else:
            groups.setdefault(bind.group, []).append(bind)
    return groups


def help_lines(groups: dict[str, list[Bind]], width: int) -> list[Line]:
    """One column of help."""
    lines: list[Line] = []
    every = [bind for binds in groups.values() for bind in binds]
    most = 3 if width >= 90 else 2  # keys of one action
    written = {bind.action: "  " + " ".join(shown(key) for key in bind.keys[:most]) for bind in every}
    cells = max((cell_width(keys) for keys in written.values()), default=4) + 2
    for group, binds in groups.items():
        if lines:
            lines.append(BLANK)
        lines.append(line((group, "strong")))
        for bind in binds:
            parts = wrap(bind.words, max(width - cells, 8))
            for at, part in enumerate(parts):
                lines.append(line((pad("" if at else written[bind.action], cells), "accent"), (part, "text")))
    return lines


def sign_lines(width: int) -> list[Line]:
    """What the signs on the screen mean."""
    cells = max(cell_width(sign) for sign, _ in SIGNS) + 4
    lines = [line(("Signs", "strong"))]
    for sign, words in SIGNS:
        for at, part in enumerate(wrap(words, max(width - cells, 8))):
            lines.append(line((pad("" if at else f"  {sign}", cells), "mark"), (part, "text")))
    return lines
