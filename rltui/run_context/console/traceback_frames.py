"""The frames of a traceback: where in the program's own code an exception was raised."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PureWindowsPath

from rltui.common.display_text import fit
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.run_context.console.failures import console_facts
from rltui.run_context.console.lines import body_of

_FRAME = regex(r'\s*File "(?P<path>[^"]+)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?')
_MODULE = "<module>"  # Python's name for the code of a module outside of functions
_NAME = 40  # characters of the name of a file, or of a function


class Frame(NamedTuple):
    """One frame. path: as written, cleaned; function: empty in the code of a module."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        """`update (train.py line 88)`, or `train.py line 88`."""
        path = PureWindowsPath(self.path)  # which knows both kinds of slashes
        # Many files have the name of a package's own file.
        name = f"{path.parent.name}/{path.name}".lstrip("/") if path.name.startswith("__") else path.name
        place = f"{fit(name, _NAME)} line {self.line}"
        return f"{fit(self.function, _NAME)} ({place})" if self.function else place


def innermost_frame(lines: Iterable[str]) -> Frame | None:
    """The last frame of a traceback that is in no installed package, else its last one; None without any.

    lines: cleaned, with the prefixes of their writers.
    """
    own = last = None
    for line in lines:
        match = _FRAME.fullmatch(body_of(line))
        if match is None:
            continue
        function = match["function"] or ""
        last = Frame(match["path"], int(match["line"]), "" if function == _MODULE else function)
        if console_facts().installed_code.search(last.path) is None:
            own = last
    return own or last
