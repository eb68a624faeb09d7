"""Finds the files of samples below a LOGDIR."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rltui.logs.formats.lines import sample_log
from rltui.logs.log_file_names import is_entered
from rltui.logs.sample_layouts.layouts import layouts, match_layout, unread_reason
from rltui.run_context.samples.trackio_traces import may_be_database, runs_with_traces

_MAX_FOLDERS = 200_000
_DEEPEST = 12  # levels of folders
_HEAD = 64 << 10  # bytes of a file by which its records are recognised


def sample_files(logdir: str, unsure: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """Files that hold samples, and dumps that are never opened: path, path relative to `logdir` with `/`.

    unsure: a list to which the paths of files are appended that have names of samples but hold none so far,
    and of folders in which no logs are searched for.
    """
    root = Path(logdir)
    if root.is_file():
        if may_be_database(root.name):
            yield from runs_with_traces(str(root), root.name)
        else:
            yield str(root), root.name
        return
    folders = [("", 0)]
    visited = 0
    while folders and visited < _MAX_FOLDERS:
        folder, depth = folders.pop()
        visited += 1
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        deeper = []
        for entry in entries:
            shown = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST and not layouts().skipped_folder.match(entry.name):
                    deeper.append((shown, depth + 1))
                    if unsure is not None and not is_entered(entry.name):
                        unsure.append(entry.path)
            elif may_be_database(entry.name):
                yield from runs_with_traces(entry.path, shown)
            elif match_layout(shown) is not None or _is_dump(shown):
                yield str(root / shown), shown
            elif sample_log.may_be_called(entry.name):
                if _has_samples(entry.path, entry.name):
                    yield str(root / shown), shown
                elif unsure is not None:
                    unsure.append(entry.path)
        folders += reversed(deeper)


def _has_samples(path: str, name: str) -> bool:
    """Whether the first record of a file without a known layout is a sample."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (a scan of many files)
            return sample_log.FORMAT.matches(name, file.read(_HEAD))
    except OSError:
        return False


def _is_dump(shown: str) -> bool:
    return unread_reason(shown) is not None and not layouts().dump_folders.isdisjoint(shown.split("/"))
