"""Fields of TOML files: each checks values, reports errors, and describes itself as JSON schema.

A file is described by a `TableField`. `check` returns converted values: a tuple for a list, and for a table
the result of its `make`, such as a dataclass. Invalid parts are reported and omitted. Fields are immutable by
convention; freezing and describing them would cost 3 ms at each start.
"""

from __future__ import annotations

import keyword
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from inspect import Parameter, signature
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from rltui.common.display_text import clean

KeyPath = tuple[str | int, ...]  # keys from the top of the file; integers are indices of list items, from 0
Report = Callable[[KeyPath, str], None]  # called with the path and description of each error
JsonSchema = dict[str, Any]

S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Invalid(Enum):
    """The type of INVALID, which `check` returns for an invalid value."""

    INVALID = "invalid"


INVALID: Final = Invalid.INVALID


class Field(ABC, Generic[T_co]):
    """Describes the permitted values of a key."""

    description = ""

    @abstractmethod
    def check(self, value: object, path: KeyPath, report: Report) -> T_co | Invalid:
        """The value without its invalid parts, or INVALID; reports each invalid part."""

    def json_schema(self) -> JsonSchema:
        """The field as JSON schema."""
        return {**self._schema(), "description": self.description} if self.description else self._schema()

    def described(self, description: str) -> Self:
        """The same field with another description."""
        found = copy(self)
        found.description = description
        return found

    def _schema(self) -> JsonSchema:
        return {}


_TYPE_NAMES = {bool: "a flag", str: "a text", int: "a number", float: "a number"}


def _describe(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return f"{_TYPE_NAMES.get(type(value), 'a date or time')} ({clean(repr(value), 40)})"


@dataclass(eq=False, repr=False)
class PlainField(Field[object]):
    """Any value, unchanged. Only for shipped files, whose strings need not be sanitised."""

    def check(self, value: object, path: KeyPath, report: Report) -> object:
        """See Field."""
        return value


@dataclass(eq=False, repr=False)
class BoolField(Field[bool]):
    """True or false."""

    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> bool | Invalid:
        """See Field."""
        if isinstance(value, bool):
            return value
        report(path, f"must be true or false, not {_describe(value)}")
        return INVALID

    def _schema(self) -> JsonSchema:
        return {"type": "boolean"}


@dataclass(eq=False, repr=False)
class NumberField(Field[float]):
    """A finite number from `minimum` to `maximum`."""

    minimum: float = -math.inf
    maximum: float = math.inf
    integer: bool = False
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> float | Invalid:
        """See Field."""
        if (
            isinstance(value, int if self.integer else int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and self.minimum <= value <= self.maximum
        ):
            return value if self.integer else float(value)
        report(path, f"must be {self._permitted()}, not {_describe(value)}")
        return INVALID

    def _permitted(self) -> str:
        word = "a whole number" if self.integer else "a finite number"
        if math.isfinite(self.minimum) and math.isfinite(self.maximum):
            return f"{word} from {self.minimum:g} to {self.maximum:g}"
        return f"{word} of at least {self.minimum:g}" if math.isfinite(self.minimum) else word

    def _schema(self) -> JsonSchema:
        schema: JsonSchema = {"type": "integer" if self.integer else "number"}
        if math.isfinite(self.minimum):
            schema["minimum"] = self.minimum
        if math.isfinite(self.maximum):
            schema["maximum"] = self.maximum
        return schema


@dataclass(eq=False, repr=False)
class TextField(Field[str]):
    """A string: one of `choices` if there are any, a full match of `pattern` if there is one."""

    choices: Sequence[str] = ()
    pattern: str = ""
    permitted: str = ""  # description of the pattern
    empty: bool = False  # whether it may be empty
    secret: bool = False  # never quoted in messages
    description: str = ""

    @cached_property
    def _permits(self) -> Callable[[str], object]:
        if self.choices:
            return frozenset(self.choices).__contains__
        if self.pattern:
            return re.compile(self.pattern).fullmatch
        return (lambda _: True) if self.empty else bool

    def check(self, value: object, path: KeyPath, report: Report) -> str | Invalid:
        """See Field."""
        if isinstance(value, str) and self._permits(value):
            return clean(value)
        words = f"one of: {', '.join(self.choices)}" if self.choices else self.permitted or "a text"
        report(path, f"must be {words}" + ("" if self.secret else f", not {_describe(value)}"))
        return INVALID

    def _schema(self) -> JsonSchema:
        if self.choices:
            return {"enum": list(self.choices)}
        schema: JsonSchema = {"type": "string"} if self.empty else {"type": "string", "minLength": 1}
        return {**schema, "pattern": f"^(?:{self.pattern})$"} if self.pattern else schema


@dataclass(eq=False, repr=False)
class IntervalField(Field[tuple[float, float]]):
    """`[low, high]`, low below high; both finite unless `infinite` permits -inf and inf."""

    infinite: bool = False
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> tuple[float, float] | Invalid:
        """See Field."""
        if isinstance(value, list) and len(value) == 2:
            ends = [end for end in value if isinstance(end, int | float) and not isinstance(end, bool)]
            permitted = self.infinite or all(map(math.isfinite, ends))
            if len(ends) == 2 and permitted and ends[0] < ends[1]:
                return (float(ends[0]), float(ends[1]))
        infinity = "an end may be -inf or inf" if self.infinite else "both finite"
        report(path, f"must be [low, high] with low below high, {infinity}, not {clean(repr(value), 40)}")
        return INVALID

    def _schema(self) -> JsonSchema:
        return {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


@dataclass(eq=False, repr=False)
class ListField(Field[tuple[T, ...]]):
    """A list of items of one kind. With `single`, a value that is no list stands for a list of one item."""

    item: Field[T]
    single: bool = False
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> tuple[T, ...] | Invalid:
        """See Field."""
        if self.single and not isinstance(value, list):
            value = [value]
        if not isinstance(value, list):
            report(path, f"must be a list, not {_describe(value)}")
            return INVALID
        check = self.item.check
        checked = [check(item, (*path, index), report) for index, item in enumerate(value)]
        return tuple([item for item in checked if item is not INVALID])

    def _schema(self) -> JsonSchema:
        item = self.item.json_schema()
        schema: JsonSchema = {"type": "array", "items": item}
        return {"anyOf": [item, schema]} if self.single else schema


@dataclass(eq=False, repr=False)
class MapField(Field[dict[str, T]]):
    """A table with arbitrary keys and values of one kind."""

    item: Field[T]
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> dict[str, T] | Invalid:
        """See Field."""
        if not isinstance(value, dict):
            report(path, f"must be a table, not {_describe(value)}")
            return INVALID
        check = self.item.check
        checked = {key: check(item, (*path, key), report) for key, item in value.items()}
        return {clean(key): item for key, item in checked.items() if item is not INVALID}

    def _schema(self) -> JsonSchema:
        return {"type": "object", "additionalProperties": self.item.json_schema()}


@dataclass(eq=False, repr=False)
class ConvertedField(Field[T], Generic[S, T]):
    """A field whose values are converted by `make`; a ValueError or re.error raised by it is reported."""

    field: Field[S]
    make: Callable[[S], T]

    def check(self, value: object, path: KeyPath, report: Report) -> T | Invalid:
        """See Field."""
        checked = self.field.check(value, path, report)
        if isinstance(checked, Invalid):
            return INVALID
        try:
            return self.make(checked)
        except (ValueError, re.error) as error:
            report(
                path, f"is not a regular expression: {error}" if isinstance(error, re.error) else str(error)
            )
            return INVALID

    def _schema(self) -> JsonSchema:
        return self.field.json_schema()


def as_dict(**values: object) -> dict[str, Any]:
    """The `make` of a table that becomes a dictionary."""
    return values


@dataclass(eq=False, repr=False)
class TableField(Field[T]):
    """A table with known keys, passed to `make` as keyword arguments (`for` as `for_`).

    A ValueError raised by `make` is reported. The table is INVALID if a required key is missing or invalid;
    with `strict`, if anything in it is invalid. `aliases` are old names of keys that keep working.
    """

    fields: Mapping[str, Field[object]]
    make: Callable[..., T]
    required: Sequence[str] = ()
    one_of: Sequence[str] = ()  # at least one of these is required
    aliases: Mapping[str, str] = field(default_factory=dict)  # old key -> key
    strict: bool = False
    description: str = ""

    @cached_property
    def _needed(self) -> frozenset[str]:
        return frozenset(self._parameters[key] for key in self.required)

    @cached_property
    def _parameters(self) -> Mapping[str, str]:
        """The parameter of `make` for each key."""
        keywords = keyword.iskeyword if self.make is not as_dict else lambda _: False
        return {key: key + "_" * keywords(key) for key in self.fields}

    @cached_property
    def _checks(self) -> Mapping[str, tuple[Callable[[object, KeyPath, Report], object], str]]:
        """By key, including old names: the function that checks its value, and the parameter of `make`."""
        names = {key: key for key in self.fields} | dict(self.aliases)
        return {key: (self.fields[name].check, self._parameters[name]) for key, name in names.items()}

    def check(self, value: object, path: KeyPath, report: Report) -> T | Invalid:
        """See Field."""
        if not isinstance(value, dict):
            report(path, f"must be a table, not {_describe(value)}")
            return INVALID
        errors = 0

        def count(key_path: KeyPath, message: str) -> None:
            nonlocal errors
            errors += 1
            report(key_path, message)

        checked: dict[str, object] = {}
        checks = self._checks
        for key, item in value.items():
            known = checks.get(key)
            if known is None:
                count((*path, key), f"is unknown; permitted: {', '.join(sorted(self.fields))}")
            elif key in self.aliases and self.aliases[key] in value:
                count((*path, key), f"is the old name of '{self.aliases[key]}', which is given as well")
            elif (converted := known[0](item, (*path, key), count)) is not INVALID:
                checked[known[1]] = converted
        missing = not checked.keys() >= self._needed
        if missing or (
            self.one_of and checked.keys().isdisjoint([self._parameters[key] for key in self.one_of])
        ):
            present = {self.aliases.get(key, key) for key in value}
            for key in self.required:
                if key not in present:
                    count(path, f"needs '{key}'")
            if self.one_of and present.isdisjoint(self.one_of):
                count(path, f"needs at least one of: {', '.join(self.one_of)}")
            return INVALID
        if self.strict and errors:
            return INVALID
        try:
            return self.make(**checked)
        except ValueError as error:
            report(path, str(error))
            return INVALID

    def _schema(self) -> JsonSchema:
        properties = {key: field.json_schema() for key, field in self.fields.items()}
        for old, key in self.aliases.items():
            properties[old] = {**properties[key], "deprecated": True}
        schema: JsonSchema = {"type": "object", "additionalProperties": False, "properties": properties}
        if self.required:
            schema["required"] = list(self.required)
        if self.one_of:
            schema["anyOf"] = [{"required": [key]} for key in self.one_of]
        return schema


def field_of(kind: object) -> Field[Any]:
    """The field of a type. `Annotated` types have theirs with them, other classes are tables."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return next(each for each in args if isinstance(each, Field))
    if origin in (Union, UnionType):  # with None, for which TOML has no value
        return field_of(args[0])
    if origin is Literal:
        return TextField(args)
    if origin is tuple:
        return ListField(field_of(args[0])) if args[1] is ... else IntervalField()
    if origin is frozenset:
        return ConvertedField(ListField(field_of(args[0])), frozenset)
    if origin is re.Pattern:
        return ConvertedField(TextField(), re.compile)
    if origin in (dict, Mapping):
        return MapField(field_of(args[1]))
    if kind in (int, float):
        return NumberField(integer=kind is int)
    if kind in (str, bool):
        return TextField() if kind is str else BoolField()
    assert callable(kind)
    return table_of(kind)


def table_of(
    make: Callable[..., T],
    *,
    without: Sequence[str] = (),
    descriptions: Mapping[str, str] | None = None,
    **special: Field[object],
) -> TableField[T]:
    """The table of a class: its keys are the attributes, required without a default.

    without: attributes that are no keys. descriptions: of keys. special: fields of attributes, if not those
    of their types.
    """
    types = get_type_hints(make.func if isinstance(make, partial) else make, include_extras=True)
    attributes = [each for each in signature(make).parameters.values() if each.name not in without]
    keys = {each.name: each.name.removesuffix("_") for each in attributes}
    required = [keys[each.name] for each in attributes if each.default is Parameter.empty]
    fields = {key: special.get(name) or field_of(types[name]) for name, key in keys.items()}
    for key, text in (descriptions or {}).items():
        fields[key] = fields[key].described(text)
    return TableField(fields, make, required=required)


@dataclass(eq=False, repr=False)
class AnyOfField(Field[T]):
    """A value that is valid for one of several fields; the first of them converts it."""

    fields: Sequence[Field[T]]
    permitted: str
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> T | Invalid:
        """See Field. A table is only checked by the field for tables, so that errors within are reported."""
        if isinstance(value, dict):
            for field in self.fields:
                if isinstance(field, TableField | MapField):
                    return field.check(value, path, report)
        for field in self.fields:
            converted = field.check(value, path, lambda _path, _message: None)
            if not isinstance(converted, Invalid):
                return converted
        report(path, f"must be {self.permitted}, not {_describe(value)}")
        return INVALID

    def _schema(self) -> JsonSchema:
        return {"anyOf": [field.json_schema() for field in self.fields]}


def dotted_key(path: KeyPath, document: object = None) -> str:
    """A path of keys in TOML notation: `thresholds[2].for`, with items counted from 1.

    document: the file's content; items that have an `id` are written with it: `metric[policy.kl].unit`.
    """
    text = ""
    for key in path:
        exists = isinstance(document, list) or (isinstance(document, dict) and key in document)
        document = document[key] if exists else None  # type: ignore[index]
        if isinstance(key, int):
            name = document.get("id") if isinstance(document, dict) else None
            text += f"[{clean(name, 60) if isinstance(name, str) and name else key + 1}]"
        else:
            name = key if re.fullmatch(r"[\w-]+", key) else f'"{clean(key, 60)}"'
            text += f".{name}" if text else name
    return text
