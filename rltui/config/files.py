"""Configuration files: where they are, reading them without trusting them, and joining what they say."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rltui.batch import Level, Problem
from rltui.config.model import Config, Environment, OwnPane, Threshold
from rltui.paths import config_file
from rltui.text import clean

if TYPE_CHECKING:
    from rltui.data.schema import Field, KeyPath

NAME = "rltui.toml"  # beside the logs
_CAP = 1 << 20  # bytes
_DOTS = 400  # in one line: the parser's time grows with the square of the parts of a dotted key
_FAULTS = 40  # told of one file
_WORD = r"(?:[\w-]+|\"[^\"]*\"|'[^']*')"
_KEY = re.compile(rf"\s*({_WORD}(?:\s*\.\s*{_WORD})*)\s*=")


def beside(logdir: Path) -> Path:
    """The file beside the logs of a folder, or of the folder of one log file."""
    return (logdir if logdir.is_dir() else logdir.parent) / NAME


def load_config(logdirs: Sequence[Path | str] = ()) -> Config:
    """The user's own file and those beside the logs. Never raises; what is wrong is in `problems`."""
    problems: list[Problem] = []
    layers: list[tuple[Path, dict[str, Any] | None]] = []
    own = config_file()
    if own is not None:
        named = bool(os.environ.get("RLTUI_CONFIG"))
        layers.append((own, read_file(own, problems, own=True, needed=named)))
    places = dict.fromkeys(beside(Path(logdir)) for logdir in logdirs)
    layers += [(place, read_file(place, problems, own=False)) for place in places]
    return joined(layers, problems)


def joined(layers: Sequence[tuple[Path, dict[str, Any] | None]], problems: Sequence[Problem] = ()) -> Config:
    """One configuration of what several files say, the nearest last."""
    facts: dict[str, Any] = {}
    files: list[str] = []
    for path, more in layers:
        _merge(facts, more, files, path)
    return _config(facts, files, list(problems))


def read_file(
    path: Path, problems: list[Problem], *, own: bool, needed: bool = False
) -> dict[str, Any] | None:
    """What a file says, faulty parts left out; None where there is no such file or nothing of it can be read.

    `own` tells the user's own file from one beside the logs, which may hold display facts only.
    """
    faults = _Faults(problems, clean(str(path)), "error" if own else "warning")
    found = _open(path, faults, needed=needed)
    if found is None:
        return None
    text, mode = found
    table = _parsed(text, faults)
    if table is None:
        return None
    facts = _checked(table, text, own, faults)
    if _has_secret(facts.get("alerts", {})) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        message = "holds the address or a header of a webhook; chmod 600 it, or name a variable: $NAME"
        problems.append(Problem("warning", "config-readable-by-others", faults.shown, message))
    for index, threshold in enumerate(facts.get("thresholds", ())):
        threshold["where"] = f"{faults.shown}: thresholds {index + 1}"
    return facts


class _Faults:
    """What is wrong with one file, told with its place, no more than _FAULTS times."""

    def __init__(self, problems: list[Problem], shown: str, level: Level) -> None:
        self.shown = shown
        self._problems = problems
        self._level = level
        self._told = self._untold = 0

    def add(self, message: str, code: str = "config", offset: int | None = None) -> None:
        """Tell a fault of the whole file, or of a place in it."""
        self._problems.append(Problem(self._level, code, self.shown, message, offset))

    def unreadable(self, message: str) -> None:
        """Tell why nothing of the file holds."""
        self.add(f"{message}; the defaults hold", "config-unreadable")

    def at(self, text: str, path: KeyPath, message: str) -> None:
        """Tell a fault of a key in the file's text."""
        if self._told >= _FAULTS:
            self._untold += 1
            return
        self._told += 1
        line = line_of(text, path)
        where = f"line {line}: " if line else ""
        before = sum(map(len, text.splitlines(keepends=True)[: line - 1])) if line else None
        self.add(f"{where}{spell(path)} {message}", offset=before)

    def close(self) -> None:
        """Tell how many faults were not told."""
        if self._untold:
            self.add(f"has {self._untold} more faults")


def _open(path: Path, faults: _Faults, *, needed: bool) -> tuple[str, int] | None:
    """Text and mode of the file; None, and why, where it cannot be read. Only a needed one is missed."""
    try:
        return _read(path)
    except FileNotFoundError:
        if needed:
            faults.add("named by RLTUI_CONFIG, but there is no such file", "config-unreadable")
    except UnicodeDecodeError as error:
        faults.unreadable(f"is not UTF-8 at byte {error.start}")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        faults.unreadable(f"cannot be read: {clean(reason)}")
    return None


def _parsed(text: str, faults: _Faults) -> dict[str, Any] | None:
    """The file as TOML; None, and why, where it is none."""
    import tomllib  # most people have no configuration: what reads and checks one is loaded for one

    try:
        if any(line.count(".") > _DOTS for line in text.split("\n")):
            raise RecursionError
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "nested too deeply"
        faults.unreadable(f"is not TOML: {clean(reason, 200)}")
        return None


def _checked(table: dict[str, Any], text: str, own: bool, faults: _Faults) -> dict[str, Any]:
    """What may stand in the file and is right."""
    from rltui.config.schema import DISPLAY, PRIVATE
    from rltui.data.schema import INVALID

    def tell(path: KeyPath, message: str) -> None:
        faults.at(text, path, message)

    kinds: dict[str, Field[Any]] = {**DISPLAY, **PRIVATE} if own else DISPLAY
    facts: dict[str, Any] = {}
    for key, value in table.items():
        if key not in kinds:
            private = key in PRIVATE and not own
            rest = f"is read only from your own file, {clean(str(config_file() or 'config.toml'))}"
            tell((key,), rest if private else f"is unknown; permitted: {', '.join(sorted(kinds))}")
            continue
        taken = kinds[key].check(value, (key,), tell)
        if taken is not INVALID:
            facts[key] = taken
    faults.close()
    return facts


def _has_secret(alerts: dict[str, Any]) -> bool:
    """Whether an address or a header stands there itself instead of a variable of the environment."""
    texts = [alerts.get("webhook", ""), *alerts.get("headers", {}).values()]
    return any(text and "$" not in text for text in texts)


def _read(path: Path) -> tuple[str, int]:
    """Text and mode of a regular file. A pipe of that name must not hang us, nor a huge file fill memory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > _CAP:
            raise ValueError(f"it is larger than {_CAP:,} bytes")
        return file.read(_CAP).decode("utf-8-sig").replace("\r\n", "\n"), status.st_mode


def spell(path: KeyPath) -> str:
    """A path of keys as TOML writes it: `thresholds[2].for`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key + 1}]"
        else:
            word = key if re.fullmatch(r"[\w-]+", key) else f'"{clean(key, 60)}"'
            text += f".{word}" if text else word
    return text


def line_of(text: str, path: KeyPath) -> int | None:
    """The line, from 1, where the deepest part of `path` that can be found is written."""
    best: tuple[int, int] | None = None  # depth, line
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"\s*(\[\[?)([^\[\]]+)\]", line)
        if head:
            table = tuple(_words(head.group(2)))
            if head.group(1) == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            here = table
        else:
            pair = _KEY.match(line)
            if not pair:
                continue
            here = (*table, *_words(pair.group(1)))
        depth = len(here)
        if here == path[:depth] and (best is None or depth > best[0]):
            best = (depth, number)
            if depth == len(path):
                break
    return best[1] if best else None


def _words(dotted: str) -> list[str]:
    found = re.findall(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)", dotted)
    return [next(filter(None, each), "") for each in found]


def _merge(facts: dict[str, Any], more: dict[str, Any] | None, files: list[str], path: Path) -> None:
    """Lay a nearer file over what is known: tables key by key, lists one after the other."""
    if more is None:
        return
    files.append(clean(str(path)))
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(facts.get(key), dict):
            facts[key] = {**value, **{k: v for k, v in facts[key].items() if k not in value}}
        elif isinstance(value, tuple) and isinstance(facts.get(key), tuple):
            facts[key] = (*value, *facts[key])
        else:
            facts[key] = value


def _config(facts: dict[str, Any], files: list[str], problems: list[Problem]) -> Config:
    plain = {
        key: facts[key]
        for key in ("aliases", "metrics_ranges", "frameworks", "total_steps", "keys", "alerts")
        if key in facts
    }
    liked = {
        key: facts[key]
        for key in ("theme", "smoothing", "poll", "pane", "ascii", "color", "mouse")
        if key in facts
    }
    return Config(
        metrics=tuple(facts.get("metrics", ())),
        panes={
            name: OwnPane(name, pane.get("title", ""), tuple(pane.get("metrics", ())))
            for name, pane in facts.get("panes", {}).items()
        },
        thresholds=tuple(
            Threshold(
                metric=each["metric"],
                above=each.get("above"),
                below=each.get("below"),
                hold=each.get("for", 1),
                severity=each.get("severity", "warning"),
                message=each.get("message", ""),
                title=each.get("title", ""),
                where=each.get("where", ""),
            )
            for each in facts.get("thresholds", ())
        ),
        environments={
            name: Environment(
                (each.get("reward_min"), each.get("reward_max")), each.get("metrics_ranges", {})
            )
            for name, each in facts.get("environments", {}).items()
        },
        files=tuple(files),
        problems=tuple(problems),
        **plain,
        **liked,
    )
