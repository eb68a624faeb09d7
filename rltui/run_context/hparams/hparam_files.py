"""Hyperparameters in files near the logs, read on demand and not at startup."""

from __future__ import annotations

import ast
import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rltui.common.display_text import quote
from rltui.common.problem import Problem
from rltui.draw.numbers import format_bytes
from rltui.logs.local_file import LocalFile
from rltui.logs.log_file_names import TRAINER_STATE
from rltui.run_context.hparams.hparams import (
    NO_HPARAMS,
    HParams,
    hparams_of,
    merge,
    parse_json,
    parse_value,
    parse_yaml,
)
from rltui.run_context.hparams.known_hparams import known_hparams
from rltui.run_context.nearby_folders import folders_near

MAX_FILE_BYTES = 1 << 20  # bytes
STATE_END = 1 << 16  # bytes at each end of a trainer's state, between which is the log

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTSUP, errno.EISDIR)


def hparams_near(paths: Iterable[str], logdirs: Sequence[str | os.PathLike[str]]) -> HParams:
    """The hyperparameters in files near logs with these paths (as `Source.path`), nearest folders first.

    Reads the folders of the logs and up to three above them, never outside of a LOGDIR. Blocks as long as the
    file system does.
    """
    return merge(
        read(folder.place / name, folder.shown_name(name))
        for folder in folders_near(paths, logdirs)
        for name in known_hparams().files
    )


def files_in(folder: Path) -> list[str]:
    """The names in a folder that are files of hyperparameters, in the order in which they are believed."""
    there = f"{folder}/"  # most names are of no file: to open each took 1 ms a run
    return [name for name in known_hparams().files if os.path.lexists(there + name)]


class HParamFiles:
    """Which files `hparams_near` would read. A folder is looked into once."""

    def __init__(self, logdirs: Sequence[str | os.PathLike[str]]) -> None:
        self._logdirs = logdirs
        self._folders: dict[Path, list[str]] = {}

    def near(self, paths: Iterable[str]) -> list[str]:
        """Absolute paths of the files near logs with these paths, nearest folders first."""
        found = []
        for folder in folders_near(paths, self._logdirs):
            if folder.place not in self._folders:
                self._folders[folder.place] = [f"{folder.place}/{name}" for name in files_in(folder.place)]
            found += self._folders[folder.place]
        return found


def read(place: Path, shown: str, wanted: Callable[[bytes], bool] | None = None) -> HParams:
    """The hyperparameters in one file; none if it does not exist, a problem if it cannot be read.

    wanted: a file for whose bytes this is false is not parsed, which takes 10 ms for a large one.
    """
    try:
        with LocalFile(str(place), shown) as file:
            size = file.size()
            if place.name == TRAINER_STATE and size > MAX_FILE_BYTES:
                data = _without_history(file.read_at(0, STATE_END), file.read_at(size - STATE_END, STATE_END))
            elif size > MAX_FILE_BYTES:
                return _unreadable(shown, f"{format_bytes(size)} is too large for settings; it is not read")
            else:
                data = file.read_at(0, MAX_FILE_BYTES)
    except OSError as error:
        return (
            NO_HPARAMS if error.errno in _ABSENT else _unreadable(shown, error.strerror or "cannot be read")
        )
    if wanted is not None and not wanted(data):
        return NO_HPARAMS
    return _PARSERS[place.suffix](data.decode("utf-8-sig", "replace"), place.name, shown)


def _unreadable(shown: str, message: str) -> HParams:
    return HParams(problems=(Problem("warning", "settings-unreadable", shown, quote(message)),))


def _json(text: str, name: str, shown: str) -> HParams:
    record = parse_json(text)
    if record is None:
        message = "not a JSON object; the settings in it are not shown"
        return _unreadable(shown, message) if text.strip() else NO_HPARAMS
    if name == TRAINER_STATE:
        keys = known_hparams().trainer_state_keys
        record = {key: record[key] for key in keys if record.get(key) is not None}
    if name == "task.json":
        return _of_clearml(record, shown)
    # The configuration of a Hugging Face model that was saved near the logs, not of the training.
    model = "model_type" in record or "architectures" in record
    return hparams_of(record, shown, "model_config" if model and name == "config.json" else "")


def _of_clearml(record: Mapping[str, object], shown: str) -> HParams:
    """The task of ClearML's offline mode: parameters by section, each with a `value`, and its name."""
    sections = record.get("hyperparams")
    if not isinstance(sections, dict) or "project_name" not in record:
        return NO_HPARAMS
    found: dict[str, object] = {}
    for section, entries in sections.items():
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            value = entry.get("value") if isinstance(entry, dict) else None
            if value is not None:
                name = key if section in _PLAIN_SECTIONS else f"{section}/{key}"
                found[name] = parse_value(value) if isinstance(value, str) else value
    about = {key: record[key] for key in ("name", "project_name", "id") if record.get(key)}
    return hparams_of({**found, "clearml": about}, shown)


_PLAIN_SECTIONS = ("General", "Args")  # of `task.connect` and of the command line


def _yaml(text: str, name: str, shown: str) -> HParams:
    try:
        found = parse_yaml(text)
    except ValueError as error:
        return _unreadable(shown, str(error))
    if isinstance(found, dict):
        return hparams_of(found, shown)
    if isinstance(found, list) and name == "overrides.yaml":
        return hparams_of(dict(_override(str(item)) for item in found), shown)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]  # the only argument of a constructor
    # An ordered dict, as SB3 zoo writes it.
    if isinstance(found, list) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in found):
        return hparams_of({str(key): value for key, value in found}, shown)
    return NO_HPARAMS if found is None else _unreadable(shown, "no mapping; the settings in it are not shown")


def _override(word: str) -> tuple[str, object]:
    """`+trainer.lr=1e-6` -> (`trainer/lr`, 1e-06)."""
    key, _, value = word.lstrip("+~").partition("=")
    return (key.replace(".", "/").replace("@", "/"), parse_value(value))


def _without_history(head: bytes, tail: bytes) -> bytes:
    """The state of a trainer from its two ends, without the log between them; empty in an unknown layout."""
    begin, mark, _ = head.partition(b'"log_history": [')
    _, end, rest = tail.rpartition(b"\n  ],\n")
    return begin + rest if mark and end else b""


def _python(text: str, name: str, shown: str) -> HParams:
    """The dictionaries that a Python file assigns to names, as DI-engine's does; it is never run."""
    try:
        module = ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return _unreadable(shown, "no Python; the settings in it are not shown")
    found: dict[str, object] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            found.update(_literals(statement.value))
    return hparams_of(found, shown)


def _literals(node: ast.Dict) -> Iterator[tuple[str, object]]:
    """Key and value of the entries of a dictionary whose values are literals, or dictionaries of these."""
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            continue
        if isinstance(value, ast.Dict):
            yield key.value, dict(_literals(value))
        else:
            with contextlib.suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                yield key.value, ast.literal_eval(value)


_PARSERS: dict[str, Callable[[str, str, str], HParams]] = {
    ".json": _json, ".yaml": _yaml, ".yml": _yaml, ".py": _python
}  # fmt: skip
