"""Data classes that are made quickly: in place of `dataclasses.dataclass`, which compiles every method.

Methods that are the same for all classes, `__repr__`, `__eq__` and `__hash__`, are not compiled here.
`check` makes 45 such classes, and 999 instead of 1,043 million instructions with them (8,000 scalars, JSONL).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from operator import attrgetter
    from reprlib import recursive_repr

    @recursive_repr()
    def _repr(self):
        held = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__])
        return f"{self.__class__.__qualname__}({held})"

    def _compared_by(names):
        """`__eq__` and `__hash__` by the values of fields."""
        values = (
            attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, each) for each in names)
        )

        def equal(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return equal, lambda self: hash(values(self))

    def dataclass(cls=None, /, *, eq=True, frozen=False, slots=False):
        """`dataclasses.dataclass` with the arguments that are used here."""

        def made(cls):
            own = cls.__dict__
            made = dataclasses.dataclass(cls, init=True, repr=False, eq=False, frozen=frozen, slots=slots)
            if "__repr__" not in own:
                made.__repr__ = _repr
            if eq and "__eq__" not in own:
                made.__eq__, by_value = _compared_by(made.__dataclass_fields__)
                made.__hash__ = own.get("__hash__", by_value if frozen else None)
            return made

        return made if cls is None else made(cls)
