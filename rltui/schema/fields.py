"""Fields of TOML files: each checks a value, reports what is wrong with it, and gives its JSON schema.

A file is described by a `TableField`. What `check` returns is ready for use: tuples for lists, and of a
table whatever its `make` makes of the checked keys, a dataclass for example. Faulty parts are reported and
left out, the rest is kept. Fields are not changed after they are made; that they are not frozen saves 2 ms of
every start.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Final, Generic, Protocol, TypeVar

from rltui.common.data_class import dataclass
from rltui.common.text import clean

KeyPath = tuple[str | int, ...]  # keys from the top of the file; numbers count the items of a list from 0
Report = Callable[[KeyPath, str], None]  # hears the place of each fault and what is wrong there
JsonSchema = dict[str, Any]

S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Invalid(Enum):
    """What `check` returns where nothing is left of a value."""

    INVALID = "invalid"


INVALID: Final = Invalid.INVALID


class Field(Protocol[T_co]):
    """What may stand in one place of a file."""

    def check(self, value: object, path: KeyPath, report: Report) -> T_co | Invalid:
        """The value without its faulty parts, or INVALID."""
        ...

    def json_schema(self) -> JsonSchema:
        """The field as JSON schema."""
        ...


def _found(value: object) -> str:
    words = {bool: "a flag", str: "a text", int: "a number", float: "a number"}
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    word = next((word for kind, word in words.items() if type(value) is kind), "a date or time")
    return f"{word} ({clean(repr(value), 40)})"


@dataclass(eq=False)
class PlainField:
    """Anything, as it stands there: of shipped files alone, whose texts need no cleaning."""

    def check(self, value: object, path: KeyPath, report: Report) -> object:
        """See Field."""
        return value

    def json_schema(self) -> JsonSchema:
        """See Field."""
        return {}


@dataclass(eq=False)
class BoolField:
    """True or false."""

    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> bool | Invalid:
        """See Field."""
        if isinstance(value, bool):
            return value
        report(path, f"must be true or false, not {_found(value)}")
        return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        return _described({"type": "boolean"}, self.description)


@dataclass(eq=False)
class NumberField:
    """A finite number, ends allowed; with `integer` a whole one."""

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
        report(path, f"must be {self._permitted()}, not {_found(value)}")
        return INVALID

    def _permitted(self) -> str:
        word = "a whole number" if self.integer else "a finite number"
        if math.isfinite(self.minimum) and math.isfinite(self.maximum):
            return f"{word} from {self.minimum:g} to {self.maximum:g}"
        return f"{word} of at least {self.minimum:g}" if math.isfinite(self.minimum) else word

    def json_schema(self) -> JsonSchema:
        """See Field."""
        made: JsonSchema = {"type": "integer" if self.integer else "number"}
        if math.isfinite(self.minimum):
            made["minimum"] = self.minimum
        if math.isfinite(self.maximum):
            made["maximum"] = self.maximum
        return _described(made, self.description)


@dataclass(eq=False)
class TextField:
    """A text: one of `choices` if there are any, of the form of `pattern` if there is one."""

    choices: Sequence[str] = ()
    pattern: str = ""
    permitted: str = ""  # the pattern in words
    empty: bool = False  # whether it may be empty
    secret: bool = False  # never quoted
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
        report(path, f"must be {words}" + ("" if self.secret else f", not {_found(value)}"))
        return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        made: JsonSchema = {"type": "string"} if self.empty else {"type": "string", "minLength": 1}
        if self.choices:
            made = {"enum": list(self.choices)}
        elif self.pattern:
            made["pattern"] = f"^(?:{self.pattern})$"
        return _described(made, self.description)


@dataclass(eq=False)
class IntervalField:
    """`[low, high]`, low below high; both finite unless `infinite` permits -inf and inf."""

    infinite: bool = False
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> tuple[float, float] | Invalid:
        """See Field."""
        if isinstance(value, list) and len(value) == 2:
            ends = [each for each in value if isinstance(each, int | float) and not isinstance(each, bool)]
            fine = self.infinite or all(map(math.isfinite, ends))
            if len(ends) == 2 and fine and ends[0] < ends[1]:
                return (float(ends[0]), float(ends[1]))
        ends_are = "an end may be -inf or inf" if self.infinite else "both finite"
        report(path, f"must be [low, high] with low below high, {ends_are}, not {clean(repr(value), 40)}")
        return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        made = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return _described(made, self.description)


@dataclass(eq=False)
class ListField(Generic[T]):
    """A list of one kind; a single value alone is taken for a list of one where `single` says so."""

    item: Field[T]
    single: bool = False
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> tuple[T, ...] | Invalid:
        """See Field."""
        if self.single and not isinstance(value, list):
            value = [value]
        if not isinstance(value, list):
            report(path, f"must be a list, not {_found(value)}")
            return INVALID
        check = self.item.check
        checked = [check(each, (*path, index), report) for index, each in enumerate(value)]
        return tuple([each for each in checked if each is not INVALID])

    def json_schema(self) -> JsonSchema:
        """See Field."""
        item = self.item.json_schema()
        made: JsonSchema = {"type": "array", "items": item}
        return _described({"anyOf": [item, made]} if self.single else made, self.description)


@dataclass(eq=False)
class MapField(Generic[T]):
    """A table with any keys and values of one kind."""

    item: Field[T]
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> dict[str, T] | Invalid:
        """See Field."""
        if not isinstance(value, dict):
            report(path, f"must be a table, not {_found(value)}")
            return INVALID
        check = self.item.check
        checked = {key: check(each, (*path, key), report) for key, each in value.items()}
        return {clean(key): each for key, each in checked.items() if each is not INVALID}

    def json_schema(self) -> JsonSchema:
        """See Field."""
        made = {"type": "object", "additionalProperties": self.item.json_schema()}
        return _described(made, self.description)


@dataclass(eq=False)
class ConvertedField(Generic[S, T]):
    """A field whose value is made into something else; a ValueError or re.error of `make` is its fault."""

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
            word = "is no regular expression: " if isinstance(error, re.error) else ""
            report(path, f"{word}{error}")
            return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        return self.field.json_schema()


def as_dict(**values: object) -> dict[str, Any]:
    """The `make` of a table that stays a table."""
    return values


@dataclass(eq=False)
class TableField(Generic[T]):
    """A table with known keys, given to `make` as keyword arguments (a Python keyword with `_` behind it).

    A ValueError of `make` is a fault of the table. A required key that is missing or wrong makes the table
    INVALID; with `strict` any fault within does. `aliases` are old names of keys, still understood.
    """

    fields: Mapping[str, Field[object]]
    make: Callable[..., T]
    required: Sequence[str] = ()
    one_of: Sequence[str] = ()  # at least one of these is there
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
        """What checks the value of each key, old names among them, and the parameter of `make` for it."""
        names = {key: key for key in self.fields} | dict(self.aliases)
        return {key: (self.fields[name].check, self._parameters[name]) for key, name in names.items()}

    def check(self, value: object, path: KeyPath, report: Report) -> T | Invalid:
        """See Field."""
        if not isinstance(value, dict):
            report(path, f"must be a table, not {_found(value)}")
            return INVALID
        faults = 0

        def count(place: KeyPath, message: str) -> None:
            nonlocal faults
            faults += 1
            report(place, message)

        checked: dict[str, object] = {}
        checks = self._checks
        for key, each in value.items():
            known = checks.get(key)
            if known is None:
                count((*path, key), f"is unknown; permitted: {', '.join(sorted(self.fields))}")
            elif key in self.aliases and self.aliases[key] in value:
                count((*path, key), f"is the old name of '{self.aliases[key]}', which is given as well")
            elif (taken := known[0](each, (*path, key), count)) is not INVALID:
                checked[known[1]] = taken
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
        if self.strict and faults:
            return INVALID
        try:
            return self.make(**checked)
        except ValueError as error:
            report(path, str(error))
            return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        made: JsonSchema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: each.json_schema() for key, each in self.fields.items()},
        }
        for old, key in self.aliases.items():
            made["properties"][old] = {**self.fields[key].json_schema(), "deprecated": True}
        if self.required:
            made["required"] = list(self.required)
        if self.one_of:
            made["anyOf"] = [{"required": [key]} for key in self.one_of]
        return _described(made, self.description)


_TEXTS = ListField(TextField())
# What may stand in a table where the attribute that it becomes is of a type.
_BY_TYPE: Mapping[str, Field[object]] = {
    "str": TextField(),
    "bool": BoolField(),
    "float": NumberField(),
    "tuple[str, ...]": _TEXTS,
    "frozenset[str]": ConvertedField(_TEXTS, frozenset),
    "re.Pattern[str]": ConvertedField(TextField(), re.compile),
    "Mapping[str, str]": MapField(TextField()),
    "Mapping[str, float]": MapField(NumberField()),
    "Mapping[str, tuple[str, ...]]": MapField(_TEXTS),
}


def table_of(make: Callable[..., T], **special: Field[object]) -> TableField[T]:
    """The table that becomes a dataclass or a named tuple: its keys are the attributes.

    Those without a default are required.
    special: the fields of attributes that say more than their type, or are of another type than those above.
    """
    known = signature(make).parameters.values()
    needed = [each.name for each in known if each.default is Parameter.empty]
    made = {each.name: special.get(each.name) or _BY_TYPE[str(each.annotation)] for each in known}
    return TableField(made, make, required=needed)


@dataclass(eq=False)
class AnyOfField(Generic[T]):
    """A value that suits one of several fields, the first that fits."""

    fields: Sequence[Field[T]]
    permitted: str
    description: str = ""

    def check(self, value: object, path: KeyPath, report: Report) -> T | Invalid:
        """See Field. A table is checked by the field for tables alone, so that its own faults are told."""
        if isinstance(value, dict):
            for each in self.fields:
                if isinstance(each, TableField | MapField):
                    return each.check(value, path, report)
        for each in self.fields:
            taken = each.check(value, path, lambda _path, _message: None)
            if not isinstance(taken, Invalid):
                return taken
        report(path, f"must be {self.permitted}, not {_found(value)}")
        return INVALID

    def json_schema(self) -> JsonSchema:
        """See Field."""
        return _described({"anyOf": [each.json_schema() for each in self.fields]}, self.description)


def spell(path: KeyPath, document: object = None) -> str:
    """A path of keys as TOML writes it: `thresholds[2].for`, items counted from 1.

    In a given document an item that has an `id` is called by it: `metric[policy.kl].unit`.
    """
    text = ""
    for key in path:
        within = isinstance(document, dict | list) and (
            key in document if isinstance(document, dict) else True
        )
        document = document[key] if within else None  # type: ignore[index]
        if isinstance(key, int):
            name = document.get("id") if isinstance(document, dict) else None
            text += f"[{clean(name, 60) if isinstance(name, str) and name else key + 1}]"
        else:
            word = key if re.fullmatch(r"[\w-]+", key) else f'"{clean(key, 60)}"'
            text += f".{word}" if text else word
    return text


def _described(schema: JsonSchema, description: str) -> JsonSchema:
    return {**schema, "description": description} if description else schema
