"""Values of single ranks, workers or devices, whose keys differ only in a number."""

from __future__ import annotations

import re
from functools import cache

from rltui.common.regex import regex
from rltui.draw.numbers import SHARE, format_range
from rltui.panes.answers.answer import Strip
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.recent_values import RunValues

_LAST_WORD = regex(r"[^A-Za-z]+")
MAX_STRIPS = 3


@cache
def _rank() -> re.Pattern[str]:
    words = "|".join(answer_metrics().rank_words)
    return re.compile(rf"(?<![a-z])({words})[_\-./: ]?(\d+)(?!\d)", re.IGNORECASE)


def per_rank(run: RunValues, pane: str) -> tuple[Strip, ...]:
    """The medians of the last points by rank, for groups of keys with at least two ranks."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for tag in run.view.tag_index.panes.get(pane, ()):
        match = _rank().search(tag)
        if match is not None and not run.name(tag).held_out:
            pattern = f"{tag[: match.start(2)]}*{tag[match.end(2) :]}"
            groups.setdefault(pattern, []).append((int(match[2]), tag))
    strips = []
    for pattern, members in groups.items():
        values = {rank: run.of(tag) for rank, tag in sorted(members)}
        known = {rank: one.now for rank, one in values.items() if len(one.value)}
        if len(known) < 2:
            continue
        name, kind = run.name(members[0][1]), pattern.partition("*")[0].rstrip("_-./: ")
        unit = name.metric.unit if name.metric is not None and name.comparable else name.unit
        unit = SHARE if unit == "fraction" else unit
        low, high = format_range(min(known.values()), max(known.values()), unit)
        metric = name.metric.title if name.metric is not None else name.title
        title = f"{metric} by {_LAST_WORD.split(kind)[-1].lower()}"
        text = f"{low} … {high}, {len(known)} of {pattern}"
        strips.append(Strip(title, tuple(known), tuple(known.values()), text))
    return tuple(strips[:MAX_STRIPS])
