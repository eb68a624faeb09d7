"""Values that a run logs for each rank, worker or device under keys that differ in a number alone."""

from __future__ import annotations

import re

from rltui.common.regex import regex
from rltui.draw.numbers import SHARE, format_range
from rltui.panes.answers.answer import Strip
from rltui.panes.answers.recent_values import RunValues

_RANK = regex(r"(?<![a-z])(rank|worker|dp|gpu|device)[_\-./: ]?(\d+)(?!\d)", re.IGNORECASE)
_LAST_WORD = regex(r"[^A-Za-z]+")
MOST_STRIPS = 3


def per_rank(run: RunValues, pane: str) -> tuple[Strip, ...]:
    """The medians of the last points by rank; a family of keys needs at least two ranks."""
    families: dict[str, list[tuple[int, str]]] = {}
    for tag in run.view.tag_index.panes.get(pane, ()):
        found = _RANK.search(tag)
        if found is not None and not run.name(tag).held_out:
            family = f"{tag[: found.start(2)]}*{tag[found.end(2) :]}"
            families.setdefault(family, []).append((int(found[2]), tag))
    strips = []
    for family, members in families.items():
        values = {rank: run.of(tag) for rank, tag in sorted(members)}
        known = {rank: one.now for rank, one in values.items() if len(one.value)}
        if len(known) < 2:
            continue
        name, kind = run.name(members[0][1]), family.partition("*")[0].rstrip("_-./: ")
        unit = name.metric.unit if name.metric is not None and name.comparable else name.unit
        unit = SHARE if unit == "fraction" else unit
        low, high = format_range(min(known.values()), max(known.values()), unit)
        what = name.metric.title if name.metric is not None else name.title
        title = f"{what} by {_LAST_WORD.split(kind)[-1].lower()}"
        text = f"{low} … {high}, {len(known)} of {family}"
        strips.append(Strip(title, tuple(known), tuple(known.values()), text))
    return tuple(strips[:MOST_STRIPS])
