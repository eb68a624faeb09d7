"""What the user's configuration asks for, with secrets taken from the environment when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

_NAME = re.compile(r"\$\{(\w+)\}|\$(\w+)")


@dataclass(frozen=True, slots=True)
class Settings:
    """The `[alerts]` table. Everything is off unless said."""

    bell: bool = False
    notify: str = "off"  # osc9, osc777
    command: tuple[str, ...] = ()
    webhook: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    severity: str = "critical"
    runs: tuple[str, ...] = ()
    dwell: float = 60.0  # seconds that a finding must last
    cooldown: float = 3600.0  # seconds between alerts of one cause in one run
    timeout: float = 5.0

    @property
    def wanted(self) -> bool:
        """Whether anything is to be done at all."""
        return self.bell or self.notify != "off" or bool(self.command) or bool(self.webhook)

    def concerns(self, run: str) -> bool:
        """Whether a run alerts."""
        return not self.runs or any(fnmatchcase(run, glob) for glob in self.runs)


def settings_of(table: Mapping[str, Any]) -> Settings:
    """The settings of a checked `[alerts]` table."""
    known = {key: value for key, value in table.items() if key in Settings.__dataclass_fields__}
    for key in ("command", "runs"):
        if key in known:
            value = known[key]
            known[key] = (value,) if isinstance(value, str) else tuple(value)
    return Settings(**known)


class MissingVariableError(ValueError):
    """A variable of the environment that the configuration names is not set."""


def expand(text: str) -> str:
    """The text with `$NAME` and `${NAME}` taken from the environment. Raises MissingVariableError."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        if name not in os.environ:
            raise MissingVariableError(f"${name} is not set")
        return os.environ[name]

    return _NAME.sub(value, text)
