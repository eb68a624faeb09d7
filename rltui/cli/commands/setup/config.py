"""`rltui config`: locate and check the configuration, and print its schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from rltui.cli.exit_codes import WRONG
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import emit, emit_json, fail, leave
from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.writable_paths import config_file
from rltui.config import Config, load_config, read_file
from rltui.config.config_files import LOGDIR_CONFIG
from rltui.config.config_schema import json_schema


@click.command(name="config")
@click.option("--check", is_flag=True, help="Say everything that is wrong; exit 2 if anything is.")
@click.option("--schema", is_flag=True, help="Print the JSON schema, for editors.")
@click.option("--path", "show_path", is_flag=True, help="Print where your own file is, or would be.")
@click.argument("file", required=False, type=click.Path())
def command(check: bool, schema: bool, show_path: bool, file: str | None) -> None:
    """Check or locate the configuration; FILE instead of your own with --check.

    A FILE named rltui.toml is checked as one beside logs, where only names, panes, ranges and thresholds
    count.

    \b
    Examples:
      rltui config --path
      rltui config --check
      rltui config --check runs/rltui.toml
      rltui config --schema > rltui-config.json
    """
    if schema + show_path + check > 1:
        fail("--check, --schema and --path do not go together")
    if schema:
        emit_json(json_schema(), indent=2)
    elif show_path:
        path = config_file()
        if path is None:
            fail("no home folder is known; set RLTUI_CONFIG to a file")
        emit(clean(str(path)))
    elif check or file is not None:
        _check(file)
    else:
        _print_state()


def _check(file: str | None) -> None:
    path = None if file is None else Path(file)
    problems = _problems_of(path)
    note_problems(problems)
    if problems:
        leave(WRONG)
    place = path or config_file()
    there = place is not None and place.exists()
    emit(f"{clean(str(place))}: {'nothing is wrong' if there else 'not there; the defaults hold'}")


def _problems_of(path: Path | None) -> tuple[Problem, ...]:
    """The problems of a configuration file, by default the user's own, including unknown names in it."""
    from rltui.config.config_files import merged_config
    from rltui.metrics.resolve import MetricNames
    from rltui.screen.input.key_table import Keys

    problems: list[Problem] = []
    if path is None:
        config: Config = load_config()
        problems += config.problems
    else:
        values = read_file(path, problems, own=path.name != LOGDIR_CONFIG)
        if values is None and not problems:
            problems.append(Problem("error", "config-unreadable", clean(str(path)), "there is no such file"))
        config = merged_config([(path, values)])
    shown_path = config.files[0] if config.files else ""
    unknown = [Problem("error", "config", shown_path, message) for message in _unknown_names(config)]
    return (*problems, *unknown, *Keys(config.keys).problems, *MetricNames(config=config).problems)


def _unknown_names(config: Config) -> Iterator[str]:
    """Messages about unknown frameworks, themes and panes."""
    from rltui.draw.themes import load_themes
    from rltui.metrics.catalogue import catalogue
    from rltui.metrics.glossary_files import GENERAL
    from rltui.panes.pane_tabs import FIXED

    frameworks = catalogue().frameworks
    for run, name in config.frameworks.items():
        if frameworks.get(name) is None:
            yield f"frameworks.{run}: no framework '{name}'; permitted: {', '.join(frameworks.labels)}"
    themes, problems = load_themes()
    if config.theme is not None and config.theme not in themes:
        yield f"theme: no theme is called '{config.theme}'; permitted: {', '.join(sorted(themes))}"
    for problem in problems:
        yield f"themes/{problem.text}"
    panes = {*FIXED, GENERAL, *config.panes}
    panes |= {pane.id for pane in catalogue().glossary.panes}
    panes |= {user_metric.metric.pane for user_metric in config.metrics}
    if config.pane is not None and config.pane not in panes:
        yield f"pane: no pane is called '{config.pane}'; permitted: {', '.join(sorted(panes))}"


def _print_state() -> None:
    path = config_file()
    there = path is not None and os.path.isfile(path)  # noqa: PTH113 (never raises)
    emit(f"{clean(str(path))}: {'read' if there else 'not there; the defaults hold'}")
    emit("rltui config --check says what is wrong in it, --schema what may stand in it")
