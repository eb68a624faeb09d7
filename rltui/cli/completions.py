"""What the shell offers for arguments: panes, themes, metrics, frameworks, and names of runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

BUDGET = 0.7  # seconds that a search for names of runs may take while somebody waits at the prompt


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [_item(name) for name in names if name.startswith(incomplete)]


def _item(name: str, about: str | None = None) -> CompletionItem:
    from click.shell_completion import CompletionItem  # commands load this module, and complete nothing

    return CompletionItem(name, help=about)


def complete_pane(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of panes."""
    from rltui.metrics.glossary_files import general_panes, glossary

    panes = sorted((*general_panes().values(), *glossary().panes), key=lambda pane: pane.order)
    found = {pane.id: _item(pane.id, pane.title) for pane in panes}
    return [item for name, item in found.items() if name.startswith(incomplete)]


def complete_theme(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of themes, the user's own among them."""
    from rltui.draw.themes import load_themes

    return _items(sorted(load_themes()[0]), incomplete)


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Canonical ids of metrics, with their titles."""
    from rltui.metrics.glossary_files import glossary

    return [
        _item(metric.id, metric.title)
        for metric in glossary().metrics.values()
        if metric.id.startswith(incomplete)
    ]


def complete_framework(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Labels of frameworks."""
    from rltui.metrics.frameworks.load import frameworks

    return _items(frameworks().labels, incomplete)


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the runs below the LOGDIRs that stand on the line; those that are found in time."""
    return _items(sorted(_run_names(_logdirs(ctx))), incomplete)


def _logdirs(ctx: click.Context) -> list[str]:
    """The LOGDIRs: as parsed, else the words of the line that are folders, else where one is."""
    parsed = ctx.params.get("logdirs")
    if parsed:
        return list(parsed)
    from click.shell_completion import split_arg_string

    words = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
    return [path for word in words if os.path.isdir(path := os.path.expanduser(word))] or ["."]  # noqa: PTH111, PTH112


def _run_names(logdirs: list[str]) -> set[str]:
    from rltui.logs.follow.follower import Follower
    from rltui.logs.follow.read_all import Deliveries

    names: set[str] = set()
    end = time.monotonic() + BUDGET
    source = Deliveries(Follower(logdirs), wait=0.05)
    for deliveries in source:
        names.update(each.source.run for each in deliveries if each.source.run)
        if source.at_rest or time.monotonic() > end:
            break
    return names
