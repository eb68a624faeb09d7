"""Rows of a pane as a tree: phases below the phase that they are parts of, keys below their folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.panes.answers.answer import Answer, StepPhase

MIN_ROWS = 2  # of a folder that becomes a branch
MAX_BRANCH_SHARE = 0.5  # share of the rows; a folder with more is that of the whole pane, not a branch
SIGNS = {True: "▾ ", False: "▸ "}  # of open and closed branches


def as_tree(rows: Sequence[Row], inside: Mapping[str, str]) -> list[Row]:
    """Rows in the order of a tree, each with the tags of its branches, outermost first.

    `inside` maps tags to the tag that they are part of. Other rows are below the row whose key is their
    folder; rows that share a subfolder get a row for it.
    """
    nodes = {row.tag: row for row in rows}
    tags = {tag: row.tag for row in rows for tag in (row.tag, *row.tags)}
    above: dict[str, str] = {}
    for row in rows:
        folders = [tags[one] for one in reversed(_folders(row.tag)) if one in tags]
        for outer in (tags.get(inside.get(row.tag, ""), ""), *folders):
            if outer and row.tag not in above and row.tag not in (outer, *_chain(outer, above)):
                above[row.tag] = outer
    made = _branches([row.tag for row in rows if row.tag not in above], len(rows))
    nodes.update({folder: Row("folder", folder.rpartition("/")[2], folder) for folder in made})
    for tag in nodes:
        outer = next((folder for folder in reversed(_folders(tag)) if folder in made), "")
        if tag not in above and outer:
            above[tag] = outer
    below: dict[str, list[Row]] = {}
    for row in rows:
        for outer, tag in pairwise(("", *_chain(row.tag, above), row.tag)):
            if nodes[tag] not in below.setdefault(outer, []):
                below[outer].append(nodes[tag])
    heads = [_head(row.title) for row in below.get("", ())]
    out: list[Row] = []

    def add(row: Row, branch: tuple[str, ...], title: str) -> None:
        parts = below.get(row.tag, [])
        out.append(replace(row, title=title, branch=branch, inside=len(parts)))
        for one in parts:
            inner = one.title.partition(" · ")[2] if _head(one.title) == _head(row.title) else ""
            add(one, (*branch, row.tag), inner or one.title)

    for row in below.get("", ()):
        # Above its parts, a phase needs no distinction from them.
        alone = row.tag in below and heads.count(_head(row.title)) == 1
        add(row, (), _head(row.title) if alone else row.title)
    return out


def folded(rows: Sequence[Row], chosen: Mapping[str, bool], selected: str) -> tuple[Row, ...]:
    """The visible rows: those in open branches.

    `chosen`: by tag, whether the user opened or closed it; others are open if they contain the selected row
    or one with a warning.
    """
    wanted = {
        tag
        for row in rows
        if row.branch and (selected in (row.tag, *row.tags) or row.severity in ("warning", "critical"))
        for tag in row.branch
    }
    is_open = {row.tag: chosen.get(row.tag, row.tag in wanted) for row in rows if row.inside}
    return tuple(
        replace(row, is_open=is_open[row.tag]) if row.inside else row
        for row in rows
        if all(is_open.get(tag, True) for tag in row.branch)
    )


def folded_answer(answer: Answer, rows: Sequence[Row]) -> Answer:
    """The answer with the phases of its table open as their rows are."""
    closed = {row.tag for row in rows if row.inside and row.is_open is False}
    parts: list[StepPhase] = []
    hidden: int | None = None  # the depth of the closed phase that hides what is inside it
    for at, part in enumerate(answer.parts):
        if hidden is not None and part.depth > hidden:
            continue
        holds = at + 1 < len(answer.parts) and answer.parts[at + 1].depth > part.depth
        hidden = part.depth if holds and part.tag in closed else None
        parts.append(part._replace(title=f"{SIGNS[hidden is None]}{part.title}") if holds else part)
    return answer._replace(parts=tuple(parts))


def _folders(tag: str) -> list[str]:
    """The folders of a key, outermost first."""
    parts = tag.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _branches(tags: Sequence[str], rows: int) -> list[str]:
    """Subfolders of folders of other rows that have several of these keys, but not most of all rows."""
    count: dict[str, int] = {}
    for tag in tags:
        for folder in _folders(tag):
            count[folder] = count.get(folder, 0) + 1
    branches: list[str] = []
    for folder in sorted(count, key=lambda folder: folder.count("/")):
        outer = folder.rpartition("/")[0]
        same = outer in count and count[outer] == count[folder]
        if outer and not same and MIN_ROWS <= count[folder] <= max(MAX_BRANCH_SHARE * rows, MIN_ROWS):
            branches.append(folder)
    return branches


def _chain(tag: str, above: Mapping[str, str]) -> tuple[str, ...]:
    """The branches of a row, outermost first."""
    chain: list[str] = []
    while tag in above:
        tag = above[tag]
        chain.insert(0, tag)
    return tuple(chain)


def _head(title: str) -> str:
    return title.partition(" · ")[0]
