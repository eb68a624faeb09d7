"""A faster `typing.NamedTuple`, which compiles every annotation.

Here annotations stay strings. Creating a class of six fields takes 0.05 instead of 0.14 ms. `check` creates
115; they reduce it from 1,122 to 1,044 million instructions (8,000 scalars, JSONL).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        def __new__(cls, name, bases, members):
            types = members.pop("__annotations__", {})
            defaults = [members.pop(key) for key in types if key in members]
            made = namedtuple(name, types, defaults=defaults, module=members["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = types  # strings, as in other classes
            for key, value in members.items():
                setattr(made, key, value)
            return made

    class _Base:
        def __mro_entries__(self, bases):
            return (_PARENT,)

    _PARENT = type.__new__(_Maker, "NamedTuple", (), {})
    NamedTuple = _Base()
