"""Forms of values in TOML files: each checks a value, says what is permitted, and gives its JSON schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rltui.text import clean

Path = tuple[str | int, ...]  # keys from the top of the file; numbers count the tables of a list
Tell = Callable[[Path, str], None]

DROP = object()  # what `take` gives for a value that is wrong


class Field(Protocol):
    """One kind of value."""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """The value without its faulty parts; DROP where nothing is left. `tell` hears each fault."""
        ...

    def schema(self) -> dict[str, Any]:
        """The kind as JSON schema."""
        ...


def _got(value: Any) -> str:
    words = {
        bool: "a flag",
        str: "a text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a table",
    }
    word = next((word for kind, word in words.items() if type(value) is kind), "a date or time")
    return f"{word} ({clean(repr(value), 40)})" if not isinstance(value, list | dict) else word


@dataclass(frozen=True)
class BoolField:
    """True or false."""

    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if isinstance(value, bool):
            return value
        tell(path, f"must be true or false, not {_got(value)}")
        return DROP

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        return _described({"type": "boolean"}, self.about)


@dataclass(frozen=True)
class NumberField:
    """A finite number, ends allowed."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        good = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        if good and math.isfinite(value) and self.low <= value <= self.high:
            return value if self.whole else float(value)
        tell(path, f"must be {self._permitted()}, not {_got(value)}")
        return DROP

    def _permitted(self) -> str:
        word = "a whole number" if self.whole else "a finite number"
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"{word} from {self.low:g} to {self.high:g}"
        return f"{word} of at least {self.low:g}" if math.isfinite(self.low) else word

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        made: dict[str, Any] = {"type": "integer" if self.whole else "number"}
        if math.isfinite(self.low):
            made["minimum"] = self.low
        if math.isfinite(self.high):
            made["maximum"] = self.high
        return _described(made, self.about)


@dataclass(frozen=True)
class TextField:
    """A text, one of `choices` if there are any, of the form of `pattern` if there is one."""

    choices: Sequence[str] = ()
    pattern: str = ""
    permitted: str = ""  # the pattern in words
    secret: bool = False  # never quoted
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if isinstance(value, str) and value and self._fits(value):
            return clean(value)
        words = f"one of: {', '.join(self.choices)}" if self.choices else self.permitted or "a text"
        tell(path, f"must be {words}" + ("" if self.secret else f", not {_got(value)}"))
        return DROP

    def _fits(self, value: str) -> bool:
        if self.choices:
            return value in self.choices
        return not self.pattern or re.fullmatch(self.pattern, value) is not None

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        made: dict[str, Any] = {"type": "string", "minLength": 1}
        if self.choices:
            made = {"enum": list(self.choices)}
        elif self.pattern:
            made["pattern"] = f"^(?:{self.pattern})$"
        return _described(made, self.about)


@dataclass(frozen=True)
class IntervalField:
    """`[low, high]`, both finite, low below high."""

    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if isinstance(value, list) and len(value) == 2:
            ends = [each for each in value if isinstance(each, int | float) and not isinstance(each, bool)]
            if len(ends) == 2 and all(map(math.isfinite, ends)) and ends[0] < ends[1]:
                return (float(ends[0]), float(ends[1]))
        tell(path, f"must be [low, high] with low below high, both finite, not {clean(repr(value), 40)}")
        return DROP

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        made = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return _described(made, self.about)


@dataclass(frozen=True)
class ListField:
    """A list of one kind; a single value alone is taken for a list of one where `single` says so."""

    item: Field
    single: bool = False
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if self.single and not isinstance(value, list):
            value = [value]
        if not isinstance(value, list):
            tell(path, f"must be a list, not {_got(value)}")
            return DROP
        taken = [self.item.take(each, (*path, index), tell) for index, each in enumerate(value)]
        return [each for each in taken if each is not DROP]

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        made: dict[str, Any] = {"type": "array", "items": self.item.schema()}
        return _described({"anyOf": [self.item.schema(), made]} if self.single else made, self.about)


@dataclass(frozen=True)
class MapField:
    """A table with any keys and values of one kind."""

    item: Field
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if not isinstance(value, dict):
            tell(path, f"must be a table, not {_got(value)}")
            return DROP
        taken = {key: self.item.take(each, (*path, key), tell) for key, each in value.items()}
        return {clean(key): each for key, each in taken.items() if each is not DROP}

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        return _described({"type": "object", "additionalProperties": self.item.schema()}, self.about)


@dataclass(frozen=True)
class TableField:
    """A table with known keys. A needed key that is missing or wrong drops the table."""

    fields: Mapping[str, Field]
    needed: Sequence[str] = ()
    one_of: Sequence[str] = field(default=())  # at least one of these is there
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        if not isinstance(value, dict):
            tell(path, f"must be a table, not {_got(value)}")
            return DROP
        taken = {}
        for key, each in value.items():
            if key not in self.fields:
                tell((*path, key), f"is unknown; permitted: {', '.join(sorted(self.fields))}")
                continue
            got = self.fields[key].take(each, (*path, key), tell)
            if got is not DROP:
                taken[key] = got
        for key in self.needed:
            if key not in value:
                tell(path, f"needs '{key}'")
        if self.one_of and not any(key in value for key in self.one_of):
            tell(path, f"needs at least one of: {', '.join(self.one_of)}")
        if any(key not in taken for key in self.needed):
            return DROP
        if self.one_of and not any(key in taken for key in self.one_of):
            return DROP
        return taken

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        made: dict[str, Any] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: kind.schema() for key, kind in self.fields.items()},
        }
        if self.needed:
            made["required"] = list(self.needed)
        if self.one_of:
            made["anyOf"] = [{"required": [key]} for key in self.one_of]
        return _described(made, self.about)


@dataclass(frozen=True)
class EitherField:
    """A text or a table."""

    text: Field
    table: Field
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        return (self.table if isinstance(value, dict) else self.text).take(value, path, tell)

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        return _described({"anyOf": [self.text.schema(), self.table.schema()]}, self.about)


@dataclass(frozen=True)
class AnyOfField:
    """A value that suits one of several forms."""

    forms: Sequence[Field]
    permitted: str
    about: str = ""

    def take(self, value: Any, path: Path, tell: Tell) -> Any:
        """See Kind."""
        for form in self.forms:
            taken = form.take(value, path, lambda _path, _message: None)
            if taken is not DROP:
                return taken
        tell(path, f"must be {self.permitted}, not {_got(value)}")
        return DROP

    def schema(self) -> dict[str, Any]:
        """See Kind."""
        return _described({"anyOf": [form.schema() for form in self.forms]}, self.about)


def _described(schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {**schema, "description": about} if about else schema
