"""The table of a TOML text (`loads`) or of a shipped file (`shipped_table`), which is parsed once per change.

Shipped files are compiled as Python compiles its modules, by Python's own loader: the table is kept in
`__pycache__` beside the file and used only while time and size of the file are those that it was made of. It
is not written where modules are not (`-B`, a folder without the right to write), and may be deleted at will.
Reading all 82 files takes 6 instead of 54 ms of processor time, a tenth of what `check` needs to start.
"""

from __future__ import annotations

import marshal
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any


def loads(text: str) -> dict[str, Any]:
    """The table of a text. Raises ValueError where it is no TOML, RecursionError where it nests too deeply.

    The parser is imported when it is first needed: 7 ms that a start without a configuration saves.
    """
    try:  # compiled: all data files take 54 ms instead of 182
        import tomli as tomllib
    except ImportError:
        import tomllib  # type: ignore[no-redef, unused-ignore]
    return tomllib.loads(text)


class _TomlLoader(SourceFileLoader):
    """Makes code of a file that evaluates to its marshalled table."""

    def source_to_code(self, data: bytes, path: str, **_: int) -> CodeType:  # type: ignore[override]
        return compile(repr(marshal.dumps(loads(bytes(data).decode()))), path, "eval")


def shipped_table(path: Path) -> dict[str, Any] | None:
    """The table of a file that is trusted as modules are; None where there is none, for whatever reason.

    Parsing the text tells the reason. Never for a user's file: the table is written beside it.
    """
    module = "rltui.data"
    try:
        code = _TomlLoader(module, str(path)).get_code(module)
        table: dict[str, Any] | None = None if code is None else marshal.loads(eval(code))
    except (OSError, ValueError, TypeError, EOFError, ImportError):
        return None
    return table
