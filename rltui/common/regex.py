"""Regular expressions that are compiled when they are first used.

The modules and tables of `check` hold 160, of which a log of JSON lines needs 30; the others took a tenth of
all instructions.
"""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast


class _Regex(Generic[AnyStr]):
    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """A method or attribute of the compiled expression, which is found here from then on."""
        found: object = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return _Regex, (self.pattern, self._flags)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """An expression with the methods and attributes of `re.compile(pattern, flags)`.

    Functions of `re` do not take it. Nothing is raised for a wrong pattern before it is used: what stands in
    modules is checked by a test.
    """
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
