"""The tools of `rltui/data/mcp_tools.toml`: descriptions, and schemas of arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from rltui.cli.json_schemas import Fields, Schema, schema_of_fields
from rltui.common.named_tuple import NamedTuple
from rltui.schema.fields import AnyOfField, MapField, PlainField, TextField, field_of
from rltui.schema.toml_files import read_table

_SCHEMA = MapField(PlainField())
JsonSchema = Annotated[Schema, _SCHEMA]
Argument = Annotated[
    Schema | str, AnyOfField[Schema | str]((_SCHEMA, TextField()), "JSON schema or the name of an argument")
]
Result = Annotated[
    Fields | str,
    AnyOfField[Fields | str]((field_of(Fields), TextField()), "fields or the name of a table of them"),
]


class Tool(NamedTuple):
    """A tool. required: names of required arguments."""

    name: str
    description: str
    answer: Result
    arguments: Mapping[str, Argument]
    required: tuple[str, ...] = ()

    @property
    def input_schema(self) -> Schema:
        """The schema of its arguments."""
        shared = tools().arguments
        return {
            "type": "object",
            "properties": {
                name: shared[each] if isinstance(each, str) else each for name, each in self.arguments.items()
            },
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> Schema:
        """The schema of its result."""
        return schema_of_fields(self.answer)

    @property
    def defaults(self) -> dict[str, Any]:
        """The defaults of optional arguments."""
        properties = self.input_schema["properties"]
        return {name: each["default"] for name, each in properties.items() if "default" in each}


class Tools(NamedTuple):
    """The content of the file. arguments: schemas of arguments that several tools have."""

    instructions: str
    arguments: Mapping[str, JsonSchema]
    tool: tuple[Tool, ...]


@cache
def tools() -> Tools:
    """The shipped tools."""
    return read_table("mcp_tools", Tools)
