"""Writing documents and exports to standard output, or atomically to a file."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from rltui.cli.output.printing import emit, fail, note
from rltui.common import writable_paths
from rltui.common.display_text import clean

F = TypeVar("F")


def refuse_inside(target: Path, logdirs: Sequence[str]) -> None:
    """End the command with 2 if `target` is in a LOGDIR, which rltui never writes to."""
    logdir = writable_paths.enclosing_logdir(target, logdirs)
    if logdir is not None:
        fail(f"{clean(str(target))}: inside {clean(logdir)}, which is only read; name a file elsewhere")


def require_place(target: str | None, logdirs: Sequence[str]) -> None:
    """End the command with 2 if a file cannot be written: before the logs are read, which may take minutes.

    Missing folders are not made, since a mistyped or unmounted path would get them.
    """
    if target is None or target == "-":
        return
    path = Path(target)
    refuse_inside(path, logdirs)
    if path.is_dir():
        fail(f"{clean(target)}: is a folder; name a file")
    if not path.parent.exists():
        fail(f"{clean(str(path.parent))}: no such folder; create it first, or name another file")


def form_by_ending(target: str | None, endings: Mapping[str, F], default: F) -> F:
    """The format for the suffix of a file name (`.csv`)."""
    return endings.get(Path(target or "").suffix.lower(), default)


def write_document(document: str | bytes, target: str | None, logdirs: Sequence[str]) -> None:
    """Print a document, or write it to a file. Ends the command as `binary_output` does."""
    if target is None and isinstance(document, str):
        emit(document.rstrip("\n"))
        return
    with binary_output(target, logdirs) as file:
        file.write(document if isinstance(document, bytes) else document.encode(errors="backslashreplace"))
    if target is not None:
        note(f"wrote {target}")


@contextlib.contextmanager
def binary_output(target: str | None, logdirs: Sequence[str]) -> Iterator[BinaryIO]:
    """Standard output, or the file `target`, which is written atomically.

    Ends the command with 2 if the target cannot be written.
    """
    if target is None or target == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    require_place(target, logdirs)
    path = Path(target)
    if path.exists() and not path.is_file():
        # A device or FIFO; a rename would replace /dev/null with a regular file.
        try:
            with path.open("wb") as file:
                yield file
        except OSError as error:
            fail(f"{clean(target)}: cannot write there: {error.strerror}")
        return
    opened = False
    try:
        with writable_paths.atomic_file(path) as file:
            opened = True
            yield file
    except OSError as error:
        if not opened:
            fail(f"{clean(target)}: cannot write there: {error.strerror}")
        missing = error.filename if isinstance(error, FileNotFoundError) else None
        if missing is not None and Path(os.fsdecode(missing)).parent != path.parent:
            raise  # a log was deleted
        fail(f"{clean(target)}: not written: {error.strerror or error}; the old file, if any, is untouched")
