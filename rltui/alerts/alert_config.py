"""What the user's configuration asks for, with secrets taken from the environment when they are needed."""

from __future__ import annotations

import os
import re

from rltui.config.model import COMMAND, TERMINAL, WEBHOOK, AlertConfig

_NAME = re.compile(r"\$\{(\w+)\}|\$(\w+)")


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
    for way in settings.receivers:
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
