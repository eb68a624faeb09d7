"""Help: every key, made from the table of bindings."""

from __future__ import annotations

from functools import lru_cache

from rltui.common.display_text import cell_width, pad
from rltui.draw.cells import BLANK, Line, hanging, line, side_by_side
from rltui.screen.input.key_table import Bind, KeyContext, Keys, key_table, shown
from rltui.screen.pages.lists.list_page import ListContent


@lru_cache(maxsize=8)
def help_content(keys: Keys, width: int, context: str = "") -> ListContent:
    """The keys of a context, then all others in groups, in one or two columns, then the signs."""
    groups = by_group(keys, context)
    if width < 100:
        lines = [*help_lines(groups, width), BLANK, *sign_lines(width)]
    else:
        half = (width - 4) // 2
        names = list(groups)
        sizes = [len(groups[name]) + 2 for name in names]
        middle = (sum(sizes) + len(key_table().sign) + 4) / 2
        cut = next(i for i in range(len(names) + 1) if sum(sizes[:i]) >= middle)
        left = help_lines({name: groups[name] for name in names[:cut]}, half)
        right = help_lines({name: groups[name] for name in names[cut:]}, half)
        right += [BLANK, *sign_lines(half)]
        cells = max((one.width for one in left), default=0)
        lines = side_by_side(left, right, cells, 4)
    return ListContent(lines, title="Keys and signs")


def by_group(keys: Keys, context: str = "") -> dict[str, list[Bind]]:
    """The bindings in use by group, those of a context in the first group."""
    known = key_table().context.get(context, KeyContext())
    groups: dict[str, list[Bind]] = {known.title: []} if known.title else {}
    for bind in keys.binds:
        if not bind.keys or bind.action == "interrupt":
            continue
        if known.title and (bind.where == context or bind.action in known.words):
            groups[known.title].append(bind._replace(words=known.words.get(bind.action, bind.words)))
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
            keys = pad(written[bind.action], cells)
            lines += hanging(keys, "accent", bind.words, "text", max(width, cells + 8))
    return lines


def sign_lines(width: int) -> list[Line]:
    """The meaning of the signs on the screen."""
    cells = max(cell_width(sign) for sign, _ in key_table().sign) + 4
    lines = [line(("Signs", "strong"))]
    for sign, words in key_table().sign:
        lines += hanging(pad(f"  {sign}", cells), "mark", words, "text", max(width, cells + 8))
    return lines
