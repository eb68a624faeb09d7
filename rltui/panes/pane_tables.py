"""What the header and the overview show of any run, as `rltui/data/panes.toml` lists it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rltui.data.fields import ListField, TableField, TextField
from rltui.data.toml_files import read_table

Alternatives = tuple[str, ...]  # canonical ids, of which the first that a run has is shown


@dataclass(frozen=True, slots=True)
class RunCounter:
    """What a run may count besides its steps: a canonical id, and what is counted."""

    metric: str
    unit: str


@dataclass(frozen=True, slots=True)
class PaneTables:
    """What is shown of any run, in order."""

    core: tuple[Alternatives, ...]
    key_metrics: tuple[Alternatives, ...]
    counter: tuple[RunCounter, ...]


_LINES = ListField(ListField(TextField()))
_COUNTER = TableField(
    {"metric": TextField(), "unit": TextField()}, RunCounter, required=("metric", "unit"), strict=True
)
_FIELD = TableField(
    {"core": _LINES, "key_metrics": _LINES, "counter": ListField(_COUNTER)},
    PaneTables,
    required=("core", "key_metrics", "counter"),
)


@cache
def pane_tables() -> PaneTables:
    """The tables of the file, read at the first call."""
    return read_table("panes", _FIELD)
