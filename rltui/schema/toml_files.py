"""Reading TOML files, shipped or of the user, as described by fields of `rltui.schema.fields`.

Errors become problems that name the file, line, key and permitted values; the rest of the file is used. Only
`read_table`, for shipped tables, raises for the content of a file.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from rltui.common.display_text import clean
from rltui.common.problem import Problem, ProblemLevel
from rltui.schema.fields import Field, Invalid, KeyPath, dotted_key, field_of
from rltui.schema.value_cache import cached_value

DATA = Path(__file__).parents[1] / "data"
MAX_BYTES = 1 << 20  # of one file
_MAX_DOTS = 400  # in a line: the parser takes quadratic time for the parts of a dotted key
_MAX_FAULTS = 40  # of one file that are reported individually

T = TypeVar("T")


@dataclass(slots=True)
class FileReport:
    """Collects the problems of one file, with the given code and level."""

    path: str  # as shown in problems
    problems: list[Problem]
    code: str = "data"
    level: ProblemLevel = "error"
    source: Path | None = None  # the file, which is read again to find the line of a fault
    faults: int = 0
    _statements: tuple[Mapping[str, object], Mapping[KeyPath, tuple[int, int]]] | None = None

    def add(self, message: str, *, code: str = "", offset: int | None = None) -> None:
        """Add a problem of the file."""
        line = clean(message, 300)
        self.problems.append(Problem(self.level, code or self.code, self.path, line, offset))

    def fault(self, path: KeyPath, message: str) -> None:
        """Add a problem of one key, with its line."""
        self.faults += 1
        if self.faults > _MAX_FAULTS:
            return
        if self._statements is None:
            self._statements = {}, {}
            if self.source is not None:
                with contextlib.suppress(OSError, ValueError, RecursionError):  # the file has changed
                    text = _read_text(self.source)
                    self._statements = loads(text), statements(text)
        table, lines = self._statements
        known = (lines[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in lines)
        line, offset = next(known, (0, None))
        self.add(
            f"line {line}: " * bool(line) + f"{dotted_key(path, table)} {message}".lstrip(),
            offset=offset,
        )

    def check(self, table: Mapping[str, object], field: Field[T]) -> T | None:
        """The table of the file converted by `field`; None if it is invalid."""
        converted = field.check(table, (), self.fault)
        if self.faults > _MAX_FAULTS:
            self.add(f"has {self.faults - _MAX_FAULTS} more faults")
        return None if isinstance(converted, Invalid) else converted


def read_file(path: Path, field: Field[T], problems: list[Problem]) -> T | None:
    """The table of a TOML file converted by `field`; None if it is invalid. A missing file is a problem.

    Adds problems with the codes `data` (content), `data-unreadable` and `data-not-toml`.
    """
    report = FileReport(clean(path.name), problems, source=path)
    table = parse(path, report)
    return None if table is None else report.check(table, field)


def parse(path: Path, report: FileReport) -> dict[str, Any] | None:
    """The table of a TOML file; None, with a problem in the report, if the file cannot be read or parsed."""
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
    """Parse TOML. Raises ValueError, or RecursionError for too deep nesting."""
    import tomli  # compiled: 54 instead of 182 ms for all data files; the import takes 7 ms

    return tomli.loads(text)


def _read_text(path: Path) -> str:
    """The text of a regular file of limited size: opening a pipe must not block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        if status.st_size > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        return file.read(MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n")


def read_folder(
    folder: Path, problems: list[Problem], code: str = "data"
) -> Iterator[tuple[str, dict[str, Any], FileReport]]:
    """The TOML files of a folder, sorted by name: stem, table, and the report to check it with."""
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


def read_table(name: str, kind: type[T]) -> T:
    """The shipped file `rltui/data/NAME.toml` as a class, or a dictionary. Call it from a cached function.

    Raises ValueError if anything in the file is invalid.
    """
    path = DATA / f"{name}.toml"

    def read() -> T:
        problems: list[Problem] = []
        table: T | None = read_file(path, field_of(kind), problems)
        if table is None or problems:
            raise ValueError("; ".join(problem.text for problem in problems))
        return table

    return cached_value(path, (path, *sorted(modules_of(kind))), read)


def modules_of(kind: object) -> set[Path]:
    """The files of the modules that define a class, or the classes in a type such as `dict[str, Class]`."""
    file = getattr(sys.modules[getattr(kind, "__module__", "builtins")], "__file__", None)
    own = set() if file is None else {Path(file)}
    return own.union(*map(modules_of, get_args(kind)))


def statements(text: str) -> dict[KeyPath, tuple[int, int]]:
    """By path of keys, the line (from 1) and offset in characters of the first statement that sets it.

    text: valid TOML. Stops at statements of so many lines that parsing them repeatedly would be slow. (Items
    of tomlkit 0.15 have no positions, and it parses 88 kB in 230 ms, which takes 32 here.)
    """
    found: dict[KeyPath, tuple[int, int]] = {}
    counts: dict[KeyPath, int] = {}  # tables in each list of tables
    head: KeyPath = ()
    chunk, line, offset, budget = "", 1, 0, 4 * len(text) + 100_000
    for number, text_line in enumerate(text.split("\n"), 1):
        chunk += f"{text_line}\n"
        budget -= len(chunk)
        try:
            table = loads(chunk)
        except ValueError:
            if budget < 0:
                break
            continue  # the value continues on the next line
        keys = _key_paths(table)
        if chunk.lstrip().startswith("["):
            head = _header_path(max(keys, key=len), counts)
            keys = [head]
        else:
            keys = [head + key for key in keys]
        for key in keys:
            found.setdefault(key, (line, offset))
        chunk, line, offset = "", number + 1, offset + len(chunk)
    return found


def _key_paths(value: object) -> list[KeyPath]:
    """The paths of all keys and items in a value."""
    if isinstance(value, dict):
        items: list[tuple[str | int, object]] = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    return [path for key, item in items for path in ((key,), *((key, *rest) for rest in _key_paths(item)))]


def _header_path(path: KeyPath, counts: dict[KeyPath, int]) -> KeyPath:
    """The path of a table from its header; in lists of tables, `counts` gives the index, and is updated."""
    numbered: KeyPath = ()
    for at, key in enumerate(path):
        if isinstance(key, int):  # `[[...]]` begins another table
            counts[numbered] = counts.get(numbered, -1) + 1
            return (*numbered, counts[numbered])
        numbered = (*numbered, key)
        if numbered in counts and at < len(path) - 1 and not isinstance(path[at + 1], int):
            numbered = (*numbered, counts[numbered])
    return numbered
