"""Themes: data files that turn the roles of drawn cells into colours, checked when they are loaded.

A theme is one TOML file with `title`, `about`, `dark`, and the tables `colors`, `backgrounds` and, where
weight or underline should help, `styles`. A colour is `#rrggbb`, `default`, or one of the terminal's sixteen
by name; a background may also be `reverse`. A faulty theme is left out and told, with every fault at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from rltui.common.data_class import dataclass
from rltui.common.paths import config_file
from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.draw.cells import BACKS, ROLES, SERIES
from rltui.schema.fields import BoolField, ListField, TableField, TextField, as_dict
from rltui.schema.toml_files import read_folder
from rltui.schema.value_cache import cached_value

DEFAULT = "night"
SIXTEEN = "terminal"  # the theme for terminals without more colours

COLORS = ("background", *ROLES)
STYLES = frozenset({"bold", "dim", "italic", "underline", "reverse"})
ANSI = tuple(
    prefix + name
    for prefix in ("", "bright_")
    for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
)
# The sixteen colours of xterm, for themes that leave the choice to the terminal.
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


def color_of(role: str, theme: Theme) -> str:
    """The colour of a role as `#rrggbb`, whatever the theme leaves to the terminal."""
    color = theme.colors.get(role, "default")
    if color.startswith("#"):
        return color
    if color in ANSI:
        return XTERM[ANSI.index(color)]
    if role == "background":
        return "#101216" if theme.dark else "#ffffff"
    return "#d8dee9" if theme.dark else "#20242c"


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
        if not folder.is_dir():
            continue
        if folder == shipped_folder():
            found, faults = cached_value(folder, (folder, Path(__file__)), partial(_of_folder, folder))
        else:
            found, faults = _of_folder(folder)
        themes |= found
        problems += faults
    themes.setdefault("plain", PLAIN)
    return themes, problems


def _of_folder(folder: Path) -> tuple[dict[str, Theme], list[Problem]]:
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
    words = {role: frozenset(each.split()) for role, each in styles.items()}
    return Theme(id_, clean(title or id_, 40), clean(about, 120), dark, colors, backgrounds, words)


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
