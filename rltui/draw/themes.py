"""Themes: data files that map the roles of cells to colours, checked when they are loaded.

A theme is one TOML file with `title`, `about`, `dark`, the tables `colors` and `backgrounds`, and optionally
`styles`. A colour is `#rrggbb`, `default`, or one of the terminal's sixteen by name; a background may also be
`reverse`. An invalid theme is left out; all of its errors are reported at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.writable_paths import config_file
from rltui.draw.cells import BACKS, ROLES, SERIES
from rltui.schema.fields import BoolField, ListField, TableField, TextField, as_dict
from rltui.schema.toml_files import read_folder
from rltui.schema.value_cache import cached_value

DEFAULT = "night"
SIXTEEN = "terminal"  # the theme for terminals with sixteen colours

COLORS = ("background", *ROLES)
STYLES = frozenset({"bold", "dim", "italic", "underline", "reverse"})
ANSI = tuple(
    prefix + name
    for prefix in ("", "bright_")
    for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
)
# The sixteen colours of xterm, for pictures in a theme that uses the terminal's colours.
XTERM = (
    "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
    "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
)  # fmt: skip


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
        """Whether it uses the terminal's sixteen colours."""
        return not self.colors["background"].startswith("#")


# Without colours: for NO_COLOR, and if no theme file can be read.
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


def color_of(role: str, theme: Theme) -> str:
    """The colour of a role as `#rrggbb`, also if the theme leaves it to the terminal."""
    color = theme.colors.get(role, "default")
    if color.startswith("#"):
        return color
    if color in ANSI:
        return XTERM[ANSI.index(color)]
    if role == "background":
        return "#101216" if theme.dark else "#ffffff"
    return "#d8dee9" if theme.dark else "#20242c"


def shipped_folder() -> Path:
    """The folder of the shipped themes: in the package of an installed wheel, beside it in a checkout."""
    here = Path(__file__).parents[1]
    inside = here / "themes_data"
    return inside if inside.is_dir() else here.parent / "themes"


def theme_folders() -> list[Path]:
    """The folders of themes: the shipped ones, then the user's own, beside the configuration."""
    own = config_file()
    return [shipped_folder(), *([] if own is None else [own.parent / "themes"])]


def load_themes(folders: Iterable[Path] | None = None) -> tuple[dict[str, Theme], list[Problem]]:
    """Themes by id, later folders over earlier ones, and the problems of invalid ones. Never raises.

    folders: `theme_folders()` unless given.
    """
    themes: dict[str, Theme] = {}
    problems: list[Problem] = []
    for folder in theme_folders() if folders is None else folders:
        if not os.path.isdir(folder):  # noqa: PTH112 (`Path.is_dir` raises without permission)
            continue
        if folder == shipped_folder():
            loaded, faults = cached_value(folder, (folder, Path(__file__)), partial(_load_folder, folder))
        else:
            loaded, faults = _load_folder(folder)
        themes |= loaded
        problems += faults
    themes.setdefault("plain", PLAIN)
    return themes, problems


def _load_folder(folder: Path) -> tuple[dict[str, Theme], list[Problem]]:
    problems: list[Problem] = []
    files = read_folder(folder, problems, "bad-theme")
    checked = {stem: report.check(table, _THEME) for stem, table, report in files}
    return {stem: _theme(stem, **values) for stem, values in checked.items() if values is not None}, problems


def _theme(
    id_: str,
    *,
    colors: Mapping[str, str],
    backgrounds: Mapping[str, str],
    title: str = "",
    about: str = "",
    dark: bool = True,
    styles: Mapping[str, str] = MappingProxyType({}),
) -> Theme:
    by_role = {role: frozenset(names.split()) for role, names in styles.items()}
    return Theme(id_, clean(title or id_, 40), clean(about, 120), dark, colors, backgrounds, by_role)


def _colors(*, series: tuple[str, ...], **roles: str) -> dict[str, str]:
    if len(series) != SERIES:
        raise ValueError(f"must have {SERIES} colours in 'series'")
    return {**roles, **{f"series{index}": color for index, color in enumerate(series)}}


_NAMES = ("#[0-9a-fA-F]{6}", "default", *ANSI)
_PERMITTED = "#rrggbb, default, or one of the terminal's sixteen colours by name"
_COLOR = TextField(pattern="|".join(_NAMES), permitted=_PERMITTED)
_BACKGROUND = TextField(pattern="|".join((*_NAMES, "reverse")), permitted=f"{_PERMITTED}, or reverse")
_STYLE = f"({'|'.join(sorted(STYLES))})"
_STYLES = TextField(
    pattern=f"{_STYLE}( {_STYLE})*", permitted=f"some of: {', '.join(sorted(STYLES))}, with blanks between"
)
_THEME = TableField(
    {
        "title": TextField(),
        "about": TextField(empty=True),
        "dark": BoolField(),
        "colors": TableField(
            {**dict.fromkeys(COLORS, _COLOR), "series": ListField(_COLOR)},
            _colors,
            required=(*COLORS, "series"),
            strict=True,
        ),
        "backgrounds": TableField(dict.fromkeys(BACKS, _BACKGROUND), as_dict, required=BACKS, strict=True),
        "styles": TableField(dict.fromkeys(COLORS, _STYLES), as_dict, strict=True),
    },
    as_dict,
    required=("colors", "backgrounds"),
    strict=True,
)
