"""Shell completion of panes, themes, metrics and run names."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SEARCH_SECONDS = 0.7  # for names of runs


def matching_items(
    names: Iterable[str], incomplete: str, titles: Mapping[str, str] = {}
) -> list[CompletionItem]:
    """The names that begin with the incomplete word."""
    from click.shell_completion import CompletionItem  # not needed to run a command

    return [CompletionItem(name, help=titles.get(name)) for name in names if name.startswith(incomplete)]


def complete_pane(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of panes, with their titles."""
    from rltui.metrics.glossary_files import general_panes, glossary

    panes = sorted((*general_panes().values(), *glossary().panes), key=lambda pane: pane.order)
    titles = {pane.id: pane.title for pane in panes}
    return matching_items(titles, incomplete, titles)


def complete_theme(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of themes, including the user's own."""
    from rltui.draw.themes import load_themes

    return matching_items(sorted(load_themes()[0]), incomplete)


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Canonical ids of metrics, with their titles."""
    from rltui.metrics.glossary_files import glossary

    titles = {id_: metric.title for id_, metric in glossary().metrics.items()}
    return matching_items(titles, incomplete, titles)


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the runs below the LOGDIRs on the command line that are found in time."""
    return matching_items(sorted(_run_names(_logdirs(ctx))), incomplete)


def _logdirs(ctx: click.Context) -> list[str]:
    """The parsed LOGDIRs, else the folders on the command line, else the current folder."""
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
    end = time.monotonic() + SEARCH_SECONDS
    source = Deliveries(Follower(logdirs), wait=0.05)
    for deliveries in source:
        names.update(delivery.source.run for delivery in deliveries if delivery.source.run)
        if source.at_rest or time.monotonic() > end:
            break
    return names
