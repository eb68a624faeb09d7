"""Secrets of the alert configuration: taken from the environment when needed, and kept out of messages."""

from __future__ import annotations

import os
import re

from rltui.common.regex import regex
from rltui.config.model import AlertConfig

_VARIABLE = regex(r"\$\{(\w+)\}|\$(\w+)")


class MissingVariableError(ValueError):
    """A variable of the environment that the configuration names is not set."""


def expand(text: str) -> str:
    """The text with `$NAME` and `${NAME}` taken from the environment. Raises MissingVariableError."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        if not os.environ.get(name):
            raise MissingVariableError(f"${name} is not set in the environment")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def _variables(text: str) -> list[str]:
    """The variables of the environment that a text names."""
    return [match.group(1) or match.group(2) for match in _VARIABLE.finditer(text)]


def without_secrets(text: str, config: AlertConfig) -> str:
    """The text without the webhook's address and without all values that come from the environment."""
    sources = [config.webhook, *config.headers.values()]
    secrets = {os.environ.get(name, "") for source in sources for name in _variables(source)}
    secrets |= {source for source in sources if not _variables(source)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "…")
    return text


def shown_address(address: str) -> str:
    """The scheme and host of an address: what follows is often the secret itself."""
    if names := _variables(address):
        missing = any(not os.environ.get(name) for name in names)
        return f"${names[0]}" + (" (not set in the environment)" if missing else "")
    found = re.match(r"(https?://)(?:[^/@]*@)?([^/?#]+)", address)
    return f"{found.group(1)}{found.group(2)}/…" if found else "…"
