"""Reading TOML files, shipped ones and users', as a field of `rltui.schema.fields` describes them.

What is wrong with a file becomes problems that name the file, the line, the key and what is permitted; the
rest of the file holds. Nothing here raises for what a file holds, except `read_table` for a shipped table.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rltui.common.data_class import dataclass
from rltui.common.problem import Level, Problem
from rltui.common.text import clean
from rltui.schema.fields import Field, Invalid, KeyPath, spell
from rltui.schema.value_cache import kept_value

DATA = Path(__file__).parents[1] / "data"
MAX_BYTES = 1 << 20  # of one file
_MAX_DOTS = 400  # in one line: the parser's time grows with the square of the parts of a dotted key
_MAX_FAULTS = 40  # of one file that are told one by one

T = TypeVar("T")


@dataclass(slots=True)
class FileReport:
    """Collects what is wrong with one file; `code` and `level` are those of the problems made of it."""

    path: str  # as shown in problems
    problems: list[Problem]
    code: str = "data"
    level: Level = "error"
    source: Path | None = None  # where the text stands: it is read again for the line of a fault
    faults: int = 0
    _statements: tuple[Mapping[str, object], Mapping[KeyPath, tuple[int, int]]] | None = None

    def add(self, message: str, *, code: str = "", offset: int | None = None) -> None:
        """A problem of the file."""
        shown = clean(message, 300)
        self.problems.append(Problem(self.level, code or self.code, self.path, shown, offset))

    def fault(self, path: KeyPath, message: str) -> None:
        """A fault of one key, told with its line."""
        self.faults += 1
        if self.faults > _MAX_FAULTS:
            return
        if self._statements is None:
            self._statements = {}, {}
            if self.source is not None:
                with contextlib.suppress(OSError, ValueError, RecursionError):  # it has changed since
                    text = _read_text(self.source)
                    self._statements = loads(text), statements(text)
        table, lines = self._statements
        known = (lines[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in lines)
        line, offset = next(known, (0, None))
        self.add(f"line {line}: " * bool(line) + f"{spell(path, table)} {message}".lstrip(), offset=offset)

    def check(self, table: Mapping[str, object], field: Field[T]) -> T | None:
        """The table of the file as `field` describes it; None where nothing is left of it."""
        taken = field.check(table, (), self.fault)
        if self.faults > _MAX_FAULTS:
            self.add(f"has {self.faults - _MAX_FAULTS} more faults")
        return None if isinstance(taken, Invalid) else taken


def read_file(path: Path, field: Field[T], problems: list[Problem]) -> T | None:
    """A TOML file as `field` describes it, or None, and why in `problems`. A missing file is a problem.

    Codes are `data` for what the file says, `data-unreadable` and `data-not-toml` for what it is.
    """
    report = FileReport(clean(path.name), problems, source=path)
    table = parse(path, report)
    return None if table is None else report.check(table, field)


def parse(path: Path, report: FileReport) -> dict[str, Any] | None:
    """The table of one TOML file; None, and why in the report, where it cannot be read or is none."""
    try:
        text = _read_text(path)
    except UnicodeDecodeError as error:
        report.add(f"is not UTF-8 at byte {error.start}", code="data-not-toml")
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.add(f"cannot be read: {reason}", code="data-unreadable")
        return None
    try:
        if any(len(line) > _MAX_DOTS and line.count(".") > _MAX_DOTS for line in text.split("\n")):
            raise RecursionError
        return loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        report.add(f"is not TOML: {reason}", code="data-not-toml")
    return None


def loads(text: str) -> dict[str, Any]:
    """The table of a text. Raises ValueError where it is no TOML, RecursionError where it nests too deeply.

    The parser is imported when it is first needed: 7 ms that a start without a configuration saves.
    """
    try:  # compiled: all data files take 54 ms instead of 182
        import tomli as tomllib
    except ImportError:
        import tomllib  # type: ignore[no-redef, unused-ignore]
    return tomllib.loads(text)


def _read_text(path: Path) -> str:
    """The text of a regular file. A pipe of that name must not hang us, nor a huge file fill memory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        return file.read(MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n")


def read_folder(
    folder: Path, problems: list[Problem], code: str = "data"
) -> Iterator[tuple[str, dict[str, Any], FileReport]]:
    """The TOML files of a folder in the order of their names: stem, table, and what checks it."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError as error:
        message = f"cannot be listed: {error.strerror}"
        problems.append(Problem("error", "data-unreadable", clean(str(folder)), message))
        return
    for path in paths:
        report = FileReport(clean(path.name, 80), problems, code, source=path)
        table = parse(path, report)
        if table is not None:
            yield path.stem, table, report


def read_table(name: str, field: Callable[[], Field[T]]) -> T:
    """The shipped file `rltui/data/NAME.toml`, checked once after a change: call it in a cached function.

    field: what describes it; of the module of the classes that the table becomes.
    Raises ValueError for a file with any fault: a shipped table is part of the program.
    """
    path, module = DATA / f"{name}.toml", Path(sys.modules[field.__module__].__file__ or "")

    def checked() -> T:
        problems: list[Problem] = []
        table = read_file(path, field(), problems)
        if table is None or problems:
            raise ValueError("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        return table

    return kept_value(path, (path, module), checked)


def statements(text: str) -> dict[KeyPath, tuple[int, int]]:
    """Paths of keys -> line, from 1, and offset in characters of the statement that writes each first.

    The text is valid TOML. Stops where statements go on for so many lines that reading them would be slow.
    """
    found: dict[KeyPath, tuple[int, int]] = {}
    counts: dict[KeyPath, int] = {}  # of the tables in each list of tables
    head: KeyPath = ()
    chunk, line, offset, budget = "", 1, 0, 4 * len(text) + 100_000
    for number, each in enumerate(text.split("\n"), 1):
        chunk += f"{each}\n"
        budget -= len(chunk)
        try:
            table = loads(chunk)
        except ValueError:
            if budget < 0:
                break
            continue  # a value that goes on in the next line
        keys = _paths(table)
        if chunk.lstrip().startswith("["):
            head = _head(max(keys, key=len), counts)
            keys = [head]
        else:
            keys = [head + key for key in keys]
        for key in keys:
            found.setdefault(key, (line, offset))
        chunk, line, offset = "", number + 1, offset + len(chunk)
    return found


def _paths(value: object) -> list[KeyPath]:
    """The paths of all keys and items within a value."""
    if isinstance(value, dict):
        items: list[tuple[str | int, object]] = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    return [path for key, each in items for path in ((key,), *((key, *rest) for rest in _paths(each)))]


def _head(path: KeyPath, counts: dict[KeyPath, int]) -> KeyPath:
    """The path of a table from its head alone, with the number of each table in a list of tables, counted."""
    numbered: KeyPath = ()
    for at, key in enumerate(path):
        if isinstance(key, int):  # [[...]]: one more
            counts[numbered] = counts.get(numbered, -1) + 1
            return (*numbered, counts[numbered])
        numbered = (*numbered, key)
        if numbered in counts and at < len(path) - 1 and not isinstance(path[at + 1], int):
            numbered = (*numbered, counts[numbered])
    return numbered
