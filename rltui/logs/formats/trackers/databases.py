"""SQLite databases of trackers, recognised by their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.common.regex import regex
from rltui.logs.formats.container import Container, Parts
from rltui.logs.formats.trackers import mlflow, optuna, sqlite_file, trackio

if TYPE_CHECKING:
    import sqlite3

_NAME = regex(r"\.(db|sqlite3?)\Z")


def _parts(place: str) -> Parts | None:
    """The runs in the database of a tracker. None for any other file, and while it cannot be read."""
    if not sqlite_file.is_database(place):
        return None

    def runs(base: sqlite3.Connection) -> Parts | None:
        return (
            trackio.parts_of_database(place, base)
            or mlflow.parts_of_database(place, base)
            or optuna.parts_of_database(place, base)
        )

    return sqlite_file.read_database(place, runs)


DATABASE = Container(lambda place: bool(_NAME.search(place)), _parts)
