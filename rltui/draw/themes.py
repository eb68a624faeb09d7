"""Themes: data files that turn the roles of drawn cells into colours, checked when they are loaded.

A theme is one TOML file with `title`, `about`, `dark`, and the tables `colors`, `backgrounds` and, where
weight or underline should help, `styles`. A colour is `#rrggbb`, `default`, or one of the terminal's sixteen
by name; a background may also be `reverse`. A faulty theme is left out and told, with every fault at once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rltui.batch import Problem
from rltui.draw.cells import BACKS, ROLES, SERIES
from rltui.paths import config_file
from rltui.text import clean

DEFAULT = "night"
SIXTEEN = "terminal"  # the theme for terminals without more colours

COLORS = ("background", *ROLES)
STYLES = frozenset({"bold", "dim", "italic", "underline", "reverse"})
ANSI = tuple(
    prefix + name
    for prefix in ("", "bright_")
    for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
)
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours by role (with `background` and `series0` onwards), line backgrounds, text styles by role."""

    id: str
    title: str
    about: str
    dark: bool
    colors: Mapping[str, str]
    backgrounds: Mapping[str, str]
    styles: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def ansi(self) -> bool:
        """Whether it uses the terminal's own colours."""
        return not self.colors["background"].startswith("#")


# Neither colours nor a background of its own: for NO_COLOR, and the last resort without any theme file.
PLAIN = Theme(
    id="plain",
    title="Plain",
    about="No colours at all.",
    dark=True,
    colors={
        **dict.fromkeys(COLORS, "default"),
        **{f"series{index}": "default" for index in range(SERIES)},
    },
    backgrounds={"select": "reverse", "bar": "default", "panel": "default"},
    styles={
        "strong": frozenset({"bold"}),
        "warn": frozenset({"bold"}),
        "bad": frozenset({"bold", "underline"}),
        "dim": frozenset({"dim"}),
        "faint": frozenset({"dim"}),
        "band": frozenset({"dim"}),
    },
)


def shipped_folder() -> Path:
    """Where the themes are: in the package of an installed wheel, beside it in a checkout."""
    here = Path(__file__).parents[1]
    inside = here / "themes_data"
    return inside if inside.is_dir() else here.parent / "themes"


def theme_folders() -> list[Path]:
    """Where themes are looked for: the shipped ones, then the user's own beside the configuration."""
    own = config_file()
    return [shipped_folder(), *([] if own is None else [own.parent / "themes"])]


def load_themes(folders: Iterable[Path] | None = None) -> tuple[dict[str, Theme], list[Problem]]:
    """Themes by id, later folders over earlier ones, and what is wrong with those left out. Never raises.

    folders: `theme_folders()` unless given.
    """
    themes: dict[str, Theme] = {}
    problems: list[Problem] = []
    for folder in theme_folders() if folders is None else folders:
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
        except OSError:
            continue
        for path in paths:
            theme = _read(path, problems)
            if theme is not None:
                themes[theme.id] = theme
    themes.setdefault("plain", PLAIN)
    return themes, problems


def _read(path: Path, problems: list[Problem]) -> Theme | None:
    shown = clean(path.name, 80)

    def fault(message: str) -> None:
        problems.append(Problem("error", "bad-theme", shown, message))

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        fault(f"cannot be read: {clean(str(error), 120)}")
        return None
    before = len(problems)
    for key in table.keys() - {"title", "about", "dark", "colors", "backgrounds", "styles"}:
        fault(f"unknown key '{clean(key, 40)}'; permitted: title, about, dark, colors, backgrounds, styles")
    colors = _colors(table.get("colors"), fault)
    backgrounds = _backgrounds(table.get("backgrounds"), fault)
    styles = _styles(table.get("styles", {}), fault)
    title = table.get("title", path.stem)
    dark = table.get("dark", True)
    if not isinstance(title, str) or not isinstance(dark, bool):
        fault("'title' must be text and 'dark' true or false")
    if len(problems) > before:
        return None
    about = str(table.get("about", ""))
    return Theme(path.stem, clean(title, 40), clean(about, 120), dark, colors, backgrounds, styles)


def _colors(table: Any, fault: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        fault("there is no table 'colors'")
        return {}
    for key in table.keys() - {*COLORS, "series"}:
        fault(f"colors: unknown role '{clean(key, 40)}'")
    out = {}
    for role in COLORS:
        out[role] = _color(table.get(role), f"colors.{role}", fault)
    series = table.get("series")
    if not isinstance(series, list) or len(series) != SERIES:
        fault(f"colors.series must be a list of {SERIES} colours")
        return out
    for index, color in enumerate(series):
        out[f"series{index}"] = _color(color, f"colors.series[{index}]", fault)
    return out


def _backgrounds(table: Any, fault: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        fault("there is no table 'backgrounds'")
        return {}
    for key in table.keys() - set(BACKS):
        fault(f"backgrounds: unknown '{clean(key, 40)}'; permitted: {', '.join(BACKS)}")
    return {
        key: "reverse" if table.get(key) == "reverse" else _color(table.get(key), f"backgrounds.{key}", fault)
        for key in BACKS
    }


def _styles(table: Any, fault: Any) -> dict[str, frozenset[str]]:
    if not isinstance(table, dict):
        fault("'styles' must be a table")
        return {}
    out = {}
    for role, words in table.items():
        styles = frozenset(words.split()) if isinstance(words, str) else frozenset({"?"})
        if role not in COLORS or styles - STYLES:
            fault(
                f"styles.{clean(role, 40)}: permitted are {', '.join(sorted(STYLES))}, for a role of 'colors'"
            )
        out[role] = styles
    return out


def _color(value: Any, where: str, fault: Any) -> str:
    if isinstance(value, str) and (_HEX.fullmatch(value) or value in ANSI or value == "default"):
        return value
    fault(
        f"{where}: {'nothing' if value is None else clean(repr(value), 40)} is no colour; "
        "permitted are #rrggbb, default, and the terminal's sixteen by name"
    )
    return "default"
