"""JSON schemas (draft 2020-12) of what `check`, `runs` and `explain` print with `--json`.

Fields may be added to documents, so that no schema forbids those that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from rltui.schema.fields import AnyOfField, Field, ListField, MapField, TextField
from rltui.schema.toml_files import read_table

Schema = dict[str, Any]
Kind = str | tuple[str, ...]  # of a field, as the file says
Fields = Mapping[str, Kind]  # of an object

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TITLES = {name: f"rltui {name} --json" for name in ("check", "runs")} | {
    "explain": "one line of rltui explain --json"
}
_KINDS: Mapping[str, Schema] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "true-or-false": {"type": "boolean"},
    "count": {"type": "integer", "minimum": 0},
    "value": {"anyOf": [{"type": ["number", "null"]}, {"enum": ["NaN", "Infinity", "-Infinity"]}]},
    "1": {"const": 1},
    "object": {"type": "object"},
    "self": {"$ref": "#"},
}


def field_kinds() -> MapField[Kind]:
    """The fields of an object, each with its kind."""
    kinds: tuple[Field[Kind], ...] = (TextField(), ListField(TextField()))
    return MapField(AnyOfField(kinds, "a kind of field or a list of words"))


def _tables_field() -> MapField[dict[str, Kind]]:
    return MapField(field_kinds())


@cache
def schema_of(command: str) -> Schema:
    """The schema of what a command prints."""
    return {"$schema": _DRAFT, "title": _TITLES[command], **_schema(command)}


def _schema(kind: Kind) -> Schema:
    if isinstance(kind, tuple):
        return {"enum": list(kind)}
    if kind.endswith(" by text"):
        return {"type": "object", "additionalProperties": _schema(kind.removesuffix(" by text"))}
    if kind.endswith("[]"):
        return {"type": "array", "items": _schema(kind[:-2])}
    if kind.endswith("?"):
        return {"type": [_schema(kind[:-1])["type"], "null"]}
    return _KINDS[kind] if kind in _KINDS else schema_of_fields(kind)


def schema_of_fields(fields: Fields | str) -> Schema:
    """The schema of an object by its fields, or by the name of their table in the file."""
    fields = _fields(fields) if isinstance(fields, str) else fields
    properties = {name.removesuffix("?"): _schema(each) for name, each in fields.items()}
    required = [name for name in fields if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


def _fields(table: str) -> dict[str, Kind]:
    fields = dict(read_table("json_schemas", _tables_field)[table])
    others = (_fields(other) for other in fields.pop("with", ()))
    return {name: kind for each in (*others, fields) for name, kind in each.items()}
