"""Printing: results to standard output, everything else to standard error, JSON that any parser takes.

Colours are the sixteen of the terminal, switched as usual: NO_COLOR (https://no-color.org) switches them off,
FORCE_COLOR and CLICOLOR_FORCE on, CLICOLOR=0 off (https://bixense.com/clicolors); else a terminal gets them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

import click

from rltui.cli.exit_codes import WRONG
from rltui.common.text import clean, in_markdown, markdown_table, pad

LEAST_WIDTH = 40  # cells of a line that is made for a terminal
_LOOKED_AT = 10_000  # files and folders of a LOGDIR without logs: its walk took as long

EXTRAS = {
    "parquet": "pyarrow",
    "mcp": "mcp",
    "ray": "ray",
    "dask": "distributed",
    "slurm": "submitit",
    "png": "cairosvg",
    "remote": "fsspec",
}  # the package that an option needs, by the extra of `pyproject.toml` that brings it


class CommandError(click.ClickException):
    """An error for people: what, where, what to do, in one line."""

    def __init__(self, message: str, exit_code: int = WRONG) -> None:
        super().__init__(clean(message))
        self.code = exit_code


class NothingReadError(CommandError):
    """Nothing below the LOGDIRs can be read. `diagnostics` say why, with the fields that JSON promises."""

    def __init__(self, message: str, diagnostics: Sequence[Mapping[str, str]]) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)


def nothing_read(message: str, code: str, path: str, what: str) -> NoReturn:
    """Stop the command with 2. code, path and what are those of the diagnostic."""
    diagnostic = {"level": "error", "code": code, "path": clean(path), "message": clean(what)}
    raise NothingReadError(message, [diagnostic])


def fail(message: str, exit_code: int = WRONG) -> NoReturn:
    """Stop the command with one line on standard error."""
    raise CommandError(message, exit_code)


def leave(exit_code: int) -> NoReturn:
    """Stop the command with a code and no further word."""
    raise click.exceptions.Exit(exit_code)


def emit(text: str = "") -> None:
    """One line (or block) of a result. A closed pipe ends the program quietly, at the edge in `rltui.cli`."""
    sys.stdout.write(text + "\n")


def need_reader() -> None:
    """Raise BrokenPipeError where nobody reads standard output any more, without a line to print."""
    import select  # of commands that follow alone

    poll = select.poll()
    with contextlib.suppress(OSError, ValueError):  # tests have no descriptor
        poll.register(sys.stdout.fileno(), 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError


def note(text: str) -> None:
    """One line on standard error: progress, hints, where a file went."""
    sys.stderr.write(f"rltui: {clean(text)}\n")


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str], object] | None]:
    """What writes a line on standard error over the one before; None where that is no terminal.

    The last line is wiped at the end of the block.
    """
    if not sys.stderr.isatty():
        yield None
        return

    def write(line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield lambda text: write(f"rltui: {text}")
    finally:
        write("")


def require_extra(extra: str, purpose: str) -> None:
    """End the command with 2 and the line that installs an optional dependency where it is missing."""
    package = EXTRAS[extra]
    if importlib.util.find_spec(package) is None:
        fail(f"{purpose} needs {package}, which is not installed: pip install 'rltui[{extra}]'")


def emit_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int],
    limits: Mapping[int, int],
    roles: Mapping[str, str] = {},
    markdown: bool = False,
    least: Mapping[int, int] = {},
    gives_way: Sequence[int] = (),
    fits: Mapping[int, Callable[[str, int], str]] = {},
) -> None:
    """Columns as wide as their content, or a table of Markdown. right: columns with numbers.

    limits: most cells of some columns. roles: by the whole text of a cell, the role in whose colour it is
    shown where colour is wanted; both as text only. On a terminal that is narrower than that, columns are cut
    down to their `least` cells, and those that give way are left out, in their order. fits: how a column is
    cut, where not in the middle.
    """
    if markdown:
        escaped = ([in_markdown(clean(cell)) for cell in row] for row in rows)
        for line in markdown_table([in_markdown(head) for head in heads], escaped, right):
            emit(line)
        return
    table = [heads, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    widths = [min(width, limits.get(i, width)) for i, width in enumerate(widths)]
    shown = roles if wants_color() else {}
    room = text_width(sum(widths) + 2 * len(widths))
    kept = fitted_columns(widths, room, least, gives_way)
    for row in table:
        fitted = {i: fits[i](row[i], width) if i in fits else row[i] for i, width in kept.items()}
        cells = {i: pad(fitted[i], width, right=i in right) for i, width in kept.items()}
        cells[max(kept)] = cells[max(kept)].rstrip()
        if shown:
            cells = {i: colored(text, shown.get(row[i], "")) for i, text in cells.items()}
        emit("  ".join(cells.values()).rstrip())
    if len(kept) < len(widths):
        note(f"no room for {', '.join(heads[i] for i in range(len(heads)) if i not in kept)}")


def text_width(most: int) -> int:
    """Cells of a line of text: so many, and on a terminal no more than it has."""
    if not sys.stdout.isatty():
        return most
    import shutil  # brings what compresses, which `--version` need not wait for

    return min(most, max(shutil.get_terminal_size().columns, LEAST_WIDTH))


def fitted_columns(
    widths: Sequence[int], room: int, least: Mapping[int, int], gives_way: Sequence[int]
) -> dict[int, int]:
    """The columns of a table that fit in `room` cells with two blanks between them, and their widths.

    least: cells that some columns can be cut down to. gives_way: those that are left out before, in order.
    """
    kept = {i: min(width, least.get(i, width)) for i, width in enumerate(widths)}
    for i in gives_way:
        if sum(kept.values()) + 2 * (len(kept) - 1) <= room:
            break
        del kept[i]
    spare = room - sum(kept.values()) - 2 * (len(kept) - 1)
    for i in kept:  # from left to right: names before reasons
        more = min(widths[i] - kept[i], max(spare, 0))
        kept[i] += more
        spare -= more
    return kept


def about(logdirs: Sequence[str]) -> dict[str, object]:
    """The fields that documents of several LOGDIRs begin with."""
    return {"schema": 1, "logdir": clean(logdirs[0]), "logdirs": [clean(each) for each in logdirs]}


def emit_json(value: object, *, indent: int | None = None) -> None:
    """A JSON document on one line (or indented), in ASCII, with non-finite numbers as strings.

    Lists of a table on one line are written item by item and may be iterators: of ten thousand runs neither
    the document nor its text is held at once.
    """
    if indent is not None or not isinstance(value, Mapping):
        emit(to_json(value, indent=indent))
        return
    write = sys.stdout.write
    for at, (key, item) in enumerate(value.items()):
        write(f"{', ' if at else '{'}{to_json(str(key))}: ")
        if isinstance(item, list | tuple | Iterator):
            write("[")
            for place, each in enumerate(item):
                write(f", {to_json(each)}" if place else to_json(each))
            write("]")
        else:
            write(to_json(item))
    emit("}" if value else "{}")


def no_logs(logdirs: Sequence[str], run_glob: str | None) -> NoReturn:
    """End the command with 2: there is nothing to read."""
    where = ", ".join(clean(logdir) for logdir in logdirs)
    if run_glob is None and (empty := _empty_log(logdirs)):
        code, what = "empty-log", f"{clean(empty)} is empty: nothing was written to it yet"
    elif run_glob is None:
        code, what = "no-logs", "no logs found; rltui reads event files, JSONL, CSV and console logs"
    else:
        code, what = "no-matching-run", f"no run matches {clean(run_glob)!r}; `rltui runs` lists their names"
    nothing_read(f"{where}: {what}", code, where, what)


def _empty_log(logdirs: Sequence[str]) -> str:
    """The name of an empty file that could be a log, where nothing was read; empty where there is none."""
    from rltui.common.paths import local
    from rltui.logs.formats.registry import REGISTRY

    for logdir in logdirs:
        place = Path(local(logdir))
        try:
            files = [place] if place.is_file() else islice(place.rglob("*"), _LOOKED_AT)
            for file in files:
                if file.is_file() and not file.stat().st_size and REGISTRY.could_be_log(file.name):
                    return file.name if file == place else file.relative_to(place).as_posix()
        except OSError:
            continue
    return ""


def to_json(value: object, *, indent: int | None = None) -> str:
    """JSON text in ASCII, so that no terminal and no locale can be harmed by it."""
    from rltui.draw.numbers import json_value

    return json.dumps(json_value(value), ensure_ascii=True, allow_nan=False, indent=indent)


_CODES = {"good": "32", "warn": "33", "bad": "31", "info": "36", "dim": "2", "strong": "1"}  # SGR, by role


def wants_color() -> bool:
    """Whether standard output is to be coloured."""
    value = os.environ.get
    if value("NO_COLOR"):
        return False
    if value("FORCE_COLOR", "0") not in ("", "0") or value("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if value("CLICOLOR") == "0" or value("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def colored(text: str, role: str) -> str:
    """Text in the colour of a role (good, warn, bad, info, dim, strong) where colour is wanted."""
    code = _CODES.get(role)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() and wants_color() else text
