"""Printing results on standard output and messages on standard error.

Colours are the sixteen of the terminal. NO_COLOR (https://no-color.org) switches them off, FORCE_COLOR and
CLICOLOR_FORCE on, CLICOLOR=0 off (https://bixense.com/clicolors); by default they are used on terminals.
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
from rltui.common.display_text import cell_width, clean, pad
from rltui.common.extras import EXTRAS, install_hint
from rltui.common.markdown_text import in_markdown, markdown_table

MIN_WIDTH = 40  # cells of a line on a terminal
_MAX_SEARCHED = 10_000  # files and folders of a LOGDIR that are searched for an empty log


class CommandError(click.ClickException):
    """An error message for the user, in one line."""

    def __init__(self, message: str, exit_code: int = WRONG) -> None:
        super().__init__(clean(message))
        self.code = exit_code


class NothingReadError(CommandError):
    """Nothing below the LOGDIRs can be read. diagnostics: the reasons, with the documented JSON fields."""

    def __init__(self, message: str, diagnostics: Sequence[Mapping[str, str]]) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)


def nothing_read(message: str, code: str, path: str, what: str) -> NoReturn:
    """End the command with 2 and a diagnostic with the given code, path and message `what`."""
    diagnostic = {"level": "error", "code": code, "path": clean(path), "message": clean(what)}
    raise NothingReadError(message, [diagnostic])


def fail(message: str, exit_code: int = WRONG) -> NoReturn:
    """End the command with one line on standard error."""
    raise CommandError(message, exit_code)


def leave(exit_code: int) -> NoReturn:
    """End the command with an exit code and no message."""
    raise click.exceptions.Exit(exit_code)


def emit(text: str = "") -> None:
    """Print a result. A closed pipe raises BrokenPipeError, which `rltui.cli` handles."""
    sys.stdout.write(text + "\n")


def need_reader() -> None:
    """Raise BrokenPipeError if standard output is a closed pipe, without printing."""
    import select  # only needed by commands that follow

    poll = select.poll()
    with contextlib.suppress(OSError, ValueError):  # in tests, there is no descriptor
        poll.register(sys.stdout.fileno(), 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError


def note(text: str) -> None:
    """Print a message on standard error, if somebody reads it."""
    with contextlib.suppress(OSError):  # a closed pipe or a full disk
        sys.stderr.write(f"rltui: {clean(text)}\n")


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str], object] | None]:
    """A function that replaces the progress line on standard error; None if that is no terminal.

    The line is cleared at the end of the block.
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
    """End the command with 2 and an installation hint if an optional dependency is missing."""
    if importlib.util.find_spec(EXTRAS[extra]) is None:
        fail(f"{purpose} {install_hint(extra)}")


def emit_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int],
    limits: Mapping[int, int],
    roles: Mapping[str, str] = {},
    markdown: bool = False,
    min_widths: Mapping[int, int] = {},
    optional: Sequence[int] = (),
    shorten: Mapping[int, Callable[[str, int], str]] = {},
) -> list[str]:
    """Print a table as text or Markdown; returns the headings of columns that had no room.

    Arguments refer to columns by index; widths are in cells.
    right: right-aligned columns. limits: maximum widths. roles: colour by text of a cell. On a terminal that
    is too narrow, columns are shortened down to `min_widths`, and `optional` ones are omitted in this order.
    shorten: functions to shorten text, if not in the middle.
    """
    if markdown:
        escaped = ([in_markdown(clean(cell)) for cell in row] for row in rows)
        for line in markdown_table([in_markdown(head) for head in heads], escaped, right):
            emit(line)
        return []
    table = [heads, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    widths = [min(width, limits.get(i, width)) for i, width in enumerate(widths)]
    use_color = bool(roles) and wants_color()
    room = text_width(sum(widths) + 2 * len(widths))
    shown = fitted_columns(widths, room, min_widths, optional)
    for row in table:
        texts = {i: shorten[i](row[i], width) if i in shorten else row[i] for i, width in shown.items()}
        cells = {i: pad(texts[i], width, right=i in right) for i, width in shown.items()}
        cells[max(shown)] = cells[max(shown)].rstrip()
        if use_color:
            cells = {i: colored(text, roles.get(row[i], "")) for i, text in cells.items()}
        emit("  ".join(cells.values()).rstrip())
    return [heads[i] for i in range(len(heads)) if i not in shown]


def note_omitted(heads: Sequence[str]) -> None:
    """Say which columns of tables had no room."""
    if heads:
        note(f"no room for {', '.join(heads)}")


def emit_text(text: str, indent: str = "", *, cut_words: bool = True) -> None:
    """Print a sentence; a terminal that is too narrow for it gets lines broken at blanks.

    indent: before the second line and those after it; the first keeps its own. cut_words: False leaves words
    whole that are longer than a line.
    """
    width = text_width(cell_width(text))
    if width >= cell_width(text):
        emit(text)
        return
    from rltui.draw.cells import wrap  # not needed by most commands

    begin = text[: len(text) - len(text.lstrip())]
    room = width - max(cell_width(begin), cell_width(indent))
    first, *rest = wrap(text, room, cut_words=cut_words) or [""]
    emit(f"{begin}{first}")
    for part in rest:
        emit(f"{indent}{part}")


def text_width(maximum: int) -> int:
    """The width of lines of text, in cells: the maximum, or that of a narrower terminal."""
    if not sys.stdout.isatty():
        return maximum
    import shutil  # imports compression modules, which `--version` does not need

    return min(maximum, max(shutil.get_terminal_size().columns, MIN_WIDTH))


def fitted_columns(
    widths: Sequence[int], room: int, min_widths: Mapping[int, int], optional: Sequence[int]
) -> dict[int, int]:
    """The columns that fit in `room` cells, with two blanks between them, and their widths.

    min_widths: of columns that can be shortened. optional: columns that are omitted in this order.
    """
    fitted = {i: min(width, min_widths.get(i, width)) for i, width in enumerate(widths)}
    for i in optional:
        if sum(fitted.values()) + 2 * (len(fitted) - 1) <= room:
            break
        del fitted[i]
    spare = room - sum(fitted.values()) - 2 * (len(fitted) - 1)
    for i in fitted:  # columns on the left get space first
        more = min(widths[i] - fitted[i], max(spare, 0))
        fitted[i] += more
        spare -= more
    return fitted


def about(logdirs: Sequence[str]) -> dict[str, object]:
    """The first fields of documents about several LOGDIRs."""
    return {"schema": 1, "logdir": clean(logdirs[0]), "logdirs": [clean(logdir) for logdir in logdirs]}


def emit_json(value: object, *, indent: int | None = None) -> None:
    """Print JSON on one line (or indented), in ASCII, with non-finite numbers as strings.

    In a table on one line, lists are written item by item and may be iterators, so that neither the document
    nor its text has to fit in memory.
    """
    if indent is not None or not isinstance(value, Mapping):
        emit(to_json(value, indent=indent))
        return
    write = sys.stdout.write
    separator = "{"
    for key, item in value.items():
        write(f"{separator}{to_json(str(key))}: ")
        separator = ", "
        if isinstance(item, list | tuple | Iterator):
            write("[")
            for index, element in enumerate(item):
                write(f", {to_json(element)}" if index else to_json(element))
            write("]")
        else:
            write(to_json(item))
    emit("}" if value else "{}")


def no_logs(logdirs: Sequence[str], run_glob: str | None) -> NoReturn:
    """End the command with 2 since there is nothing to read."""
    where = ", ".join(clean(logdir) for logdir in logdirs)
    if run_glob is None and (empty := _empty_log(logdirs)):
        code, what = "empty-log", f"{clean(empty)} is empty: nothing was written to it yet"
    elif run_glob is None:
        code, what = "no-logs", "no logs found; rltui reads event files, JSONL, CSV and console logs"
    else:
        code, what = "no-matching-run", f"no run matches {clean(run_glob)!r}; `rltui runs` lists their names"
    nothing_read(f"{where}: {what}", code, where, what)


def _empty_log(logdirs: Sequence[str]) -> str:
    """The name of an empty file that could be a log; an empty string if there is none."""
    from rltui.common.writable_paths import local_path
    from rltui.logs.formats.registry import REGISTRY

    for logdir in logdirs:
        place = Path(local_path(logdir))
        try:
            files = [place] if place.is_file() else islice(place.rglob("*"), _MAX_SEARCHED)
            for file in files:
                if file.is_file() and not file.stat().st_size and REGISTRY.could_be_log(file.name):
                    return file.name if file == place else file.relative_to(place).as_posix()
        except OSError:
            continue
    return ""


def to_json(value: object, *, indent: int | None = None) -> str:
    """JSON text in ASCII, which is safe for all terminals and locales."""
    from rltui.common.json_value import json_value

    return json.dumps(json_value(value), ensure_ascii=True, allow_nan=False, indent=indent)


_CODES = {"good": "32", "warn": "33", "bad": "31", "info": "36", "dim": "2", "strong": "1"}  # SGR, by role


def wants_color() -> bool:
    """Whether to use colours on standard output."""
    value = os.environ.get
    if value("NO_COLOR"):
        return False
    if value("FORCE_COLOR", "0") not in ("", "0") or value("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if value("CLICOLOR") == "0" or value("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def colored(text: str, role: str) -> str:
    """Text in the colour of a role (good, warn, bad, info, dim, strong), if colours are used."""
    code = _CODES.get(role)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() and wants_color() else text
