"""What the user's configuration asks for, with secrets taken from the environment when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rltui.rules.finding import RANK

TERMINAL = "terminal"  # bell and notification
COMMAND = "command"
WEBHOOK = "webhook"

_NAME = re.compile(r"\$\{(\w+)\}|\$(\w+)")


@dataclass(frozen=True, slots=True)
class AlertConfig:
    """The `[alerts]` table. Everything is off unless said. Times are in seconds."""

    bell: bool = False
    notify: str = "off"  # osc9, osc777
    command: tuple[str, ...] = ()
    webhook: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    severity: str = "critical"
    severities: Mapping[str, str] = field(default_factory=dict)  # way out -> least severity, over `severity`
    runs: tuple[str, ...] = ()
    dwell: float = 60.0  # that a finding must last
    dwell_steps: int = 0  # steps that it must last as well
    clear: float = 120.0  # that it must be gone to count as resolved
    cooldown: float = 3600.0  # between alerts of one cause in one run
    timeout: float = 5.0  # for one delivery
    resolved: bool = False  # tell also that something is over
    ended: bool = False  # runs that were over when rltui started alert too

    @property
    def ways(self) -> tuple[str, ...]:
        """The configured ways out."""
        wanted = {
            TERMINAL: self.bell or self.notify != "off",
            COMMAND: bool(self.command),
            WEBHOOK: bool(self.webhook),
        }
        return tuple(way for way, on in wanted.items() if on)

    @property
    def wanted(self) -> bool:
        """Whether anything is to be done at all."""
        return bool(self.ways)

    def least(self, way: str) -> int:
        """The rank from which on a way out is taken."""
        return RANK[self.severities.get(way, self.severity)]

    @property
    def least_of_all(self) -> int:
        """The rank from which on any way out is taken."""
        return min((self.least(way) for way in self.ways), default=RANK["critical"])

    def concerns(self, run: str) -> bool:
        """Whether a run alerts."""
        return not self.runs or any(fnmatchcase(run, glob) for glob in self.runs)


def settings_of(table: Mapping[str, Any]) -> AlertConfig:
    """The settings of a checked `[alerts]` table."""
    known = {key: value for key, value in table.items() if key in AlertConfig.__dataclass_fields__}
    for key in ("command", "runs"):
        if key in known:
            value = known[key]
            known[key] = (value,) if isinstance(value, str) else tuple(value)
    return AlertConfig(**known)


class MissingVariableError(ValueError):
    """A variable of the environment that the configuration names is not set."""


def expand(text: str) -> str:
    """The text with `$NAME` and `${NAME}` taken from the environment. Raises MissingVariableError."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        if not os.environ.get(name):
            raise MissingVariableError(f"${name} is not set in the environment")
        return os.environ[name]

    return _NAME.sub(value, text)


def named(text: str) -> list[str]:
    """The variables of the environment that a text names."""
    return [match.group(1) or match.group(2) for match in _NAME.finditer(text)]


def secrets(settings: AlertConfig) -> list[str]:
    """What no message may show: the address, and all values that come from the environment."""
    texts = [settings.webhook, *settings.headers.values()]
    found = [os.environ.get(name, "") for text in texts for name in named(text)]
    found += [text for text in texts if not named(text)]
    return sorted({text for text in found if len(text) >= 4}, key=len, reverse=True)


def without_secrets(text: str, settings: AlertConfig) -> str:
    """The text with secrets left out."""
    for secret in secrets(settings):
        text = text.replace(secret, "…")
    return text


def summary(settings: AlertConfig) -> list[tuple[str, str]]:
    """Each configured way out and what can be told of it without telling a secret."""
    told = []
    for way in settings.ways:
        severity = settings.severities.get(way, settings.severity)
        what = {
            TERMINAL: " and ".join(
                [
                    *(["bell"] if settings.bell else []),
                    *([settings.notify] if settings.notify != "off" else []),
                ]
            ),
            COMMAND: " ".join(settings.command[:1]),
            WEBHOOK: _host(settings.webhook),
        }[way]
        told.append((way, f"{what}, from {severity} on"))
    return told


def _host(address: str) -> str:
    """The scheme and host of an address: what follows is often the secret itself."""
    if named(address):
        missing = [name for name in named(address) if not os.environ.get(name)]
        return f"${named(address)[0]}" + (" (not set in the environment)" if missing else "")
    found = re.match(r"(https?://)(?:[^/@]*@)?([^/?#]+)", address)
    return f"{found.group(1)}{found.group(2)}/…" if found else "…"
