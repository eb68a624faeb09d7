"""Where an export goes: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from rltui import paths
from rltui.cli.output import fail
from rltui.text import clean


def refuse_inside(target: Path, logdirs: Sequence[str]) -> None:
    """Stop when `target` lies in a log folder: those are only read, and an export must not find itself."""
    logdir = paths.logdir_around(target, logdirs)
    if logdir is not None:
        fail(f"{clean(str(target))}: inside {clean(logdir)}, which is only read; name a file elsewhere")


@contextlib.contextmanager
def binary_output(target: str | None, logdirs: Sequence[str]) -> Iterator[BinaryIO]:
    """Standard output, or `target` written beside itself and renamed when all went well.

    Ends the command with one line on standard error when the target cannot be written.
    """
    if target is None or target == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    refuse_inside(path, logdirs)
    if path.is_dir():
        fail(f"{clean(target)}: is a folder; name a file")
    if path.exists() and not path.is_file():
        # A device or FIFO is written to: a rename would put a plain file in place of /dev/null.
        try:
            with path.open("wb") as file:
                yield file
        except OSError as error:
            fail(f"{clean(target)}: cannot write there: {error.strerror}")
        return
    opened = False
    try:
        with paths.atomic_file(path) as file:
            opened = True
            yield file
    except OSError as error:
        if not opened:
            fail(f"{clean(target)}: cannot write there: {error.strerror}")
        if (
            isinstance(error, FileNotFoundError)
            and error.filename is not None
            and not _is_beside(error, path)
        ):
            raise
        fail(f"{clean(target)}: not written: {error.strerror or error}; the old file, if any, is untouched")


def _is_beside(error: OSError, path: Path) -> bool:
    """Whether an error concerns the output itself, not a log that vanished meanwhile."""
    return Path(os.fsdecode(error.filename)).parent == path.parent
