"""Secrets in the alert configuration: expanding environment variables, and removing values from messages."""

from __future__ import annotations

import os
import re

from rltui.common.regex import regex
from rltui.config.user_config import AlertConfig

_VARIABLE = regex(r"\$\{(\w+)\}|\$(\w+)")


class MissingVariableError(ValueError):
    """An environment variable in the configuration is not set."""


def expand(text: str) -> str:
    """Expand `$NAME` and `${NAME}` from the environment. Raises MissingVariableError."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        if not os.environ.get(name):
            raise MissingVariableError(f"${name} is not set in the environment")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def _variables(text: str) -> list[str]:
    return [match.group(1) or match.group(2) for match in _VARIABLE.finditer(text)]


def without_secrets(text: str, config: AlertConfig) -> str:
    """The text without the webhook's address, the headers, and values from the environment."""
    sources = [config.webhook, *config.headers.values()]
    secrets = {os.environ.get(name, "") for source in sources for name in _variables(source)}
    secrets |= {source for source in sources if not _variables(source)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "…")
    return text


def shown_address(address: str) -> str:
    """The scheme and host of an address, since the rest is often secret."""
    if names := _variables(address):
        missing = any(not os.environ.get(name) for name in names)
        return f"${names[0]}" + (" (not set in the environment)" if missing else "")
    match = re.match(r"(https?://)(?:[^/@]*@)?([^/?#]+)", address)
    return f"{match[1]}{match[2]}/…" if match else "…"
