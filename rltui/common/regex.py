"""Regular expressions that are compiled on first use.

The modules and tables of `check` define 160; a log of JSON lines needs 30 of them. Compiling the others took
a tenth of all instructions.
"""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast


class _Regex(Generic[AnyStr]):
    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """An attribute of the compiled expression; stored here, so that later accesses are direct."""
        value: object = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[object, ...]:
        return _Regex, (self.pattern, self._flags)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """An expression with the methods and attributes of `re.compile(pattern, flags)`.

    The functions of `re` do not accept it. An invalid pattern raises on first use; a test checks those at
    module level.
    """
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
