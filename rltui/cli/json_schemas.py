"""JSON schemas (draft 2020-12) of the output of `check`, `runs` and `explain` with `--json`.

The schemas permit unknown fields, since fields may be added to documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from rltui.schema.fields import AnyOfField, ListField, TextField
from rltui.schema.toml_files import read_table

Schema = dict[str, Any]
Kind = Annotated[  # of a field: an expression of kinds, or the permitted words
    str | tuple[str, ...],
    AnyOfField[str | tuple[str, ...]](
        (TextField(), ListField(TextField())), "a kind of field or a list of words"
    ),
]
Fields = Mapping[str, Kind]  # of an object; optional fields end with `?`

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


@cache
def schema_of(command: str) -> Schema:
    """The schema of the output of a command."""
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
    """The schema of an object with these fields, or with those of a table in `json_schemas.toml`."""
    fields = _fields(fields) if isinstance(fields, str) else fields
    properties = {name.removesuffix("?"): _schema(each) for name, each in fields.items()}
    required = [name for name in fields if not name.endswith("?")]
    return {"type": "object", "properties": properties, "required": required}


def _fields(table: str) -> dict[str, Kind]:
    fields = dict(read_table("json_schemas", dict[str, Fields])[table])
    others = (_fields(other) for other in fields.pop("with", ()))
    return {name: kind for table in (*others, fields) for name, kind in table.items()}
