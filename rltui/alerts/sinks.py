"""Ways out: terminal bell and notification, a command, a webhook. Each sends one alert or says why not."""

from __future__ import annotations

import http.client
import json
import math
import os
import ssl
import subprocess
import urllib.parse
from collections.abc import Mapping
from typing import Any, Protocol

from rltui import __version__
from rltui.alerts.gate import Alert
from rltui.alerts.settings import MissingVariableError, Settings, expand
from rltui.rules.finding import as_json
from rltui.text import clean

BODY_CAP = 64 << 10  # bytes of a webhook's body; chats refuse more anyway
_LOCAL = ("localhost", "127.0.0.1", "::1")


class SinkError(Exception):
    """A delivery failed. The message is for people and holds no secret."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(clean(message, 200))
        self.again = again  # whether trying again may help


class Sink(Protocol):
    """One way out."""

    name: str

    def send(self, alert: Alert) -> None:
        """Deliver, within the timeout. Raises SinkError."""
        ...


def payload(alert: Alert) -> dict[str, Any]:
    """What commands and webhooks get: everything `check --json` says of the finding, and a text for chats."""
    finding = alert.finding
    word = {"firing": finding.severity, "resolved": "resolved", "test": "test"}[alert.event]
    return {
        "schema": 1,
        "event": alert.event,
        "run": alert.run,
        "text": f"[{word}] {alert.run}: {finding.message} (since step {finding.since_step:,})",
        "finding": _plain(as_json(finding)),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def terminal_text(settings: Settings, alert: Alert) -> str:
    """What to write to the terminal for an alert: a bell, a notification, or nothing; always safe."""
    out = ""
    if alert.event != "resolved":
        text = clean(f"{alert.run}: {alert.finding.message}", 200).replace(";", ",")
        if settings.notify == "osc9":
            out += f"\x1b]9;rltui {text}\x07"
        elif settings.notify == "osc777":
            out += f"\x1b]777;notify;rltui;{text}\x07"
        if settings.bell:
            out += "\x07"
    return out


class CommandSink:
    """Runs the user's command with the alert as JSON on standard input. No shell."""

    name = "command"

    def __init__(self, argv: tuple[str, ...], timeout: float) -> None:
        self.argv = argv
        self.timeout = timeout

    def send(self, alert: Alert) -> None:
        """See Sink."""
        try:
            done = subprocess.run(
                self.argv,
                input=json.dumps(payload(alert)).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=self.timeout,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired as error:
            raise SinkError(f"{self.argv[0]} took longer than {self.timeout:g} s", again=False) from error
        except OSError as error:
            raise SinkError(f"{self.argv[0]}: {error.strerror}", again=False) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            more = f": {said[-1]}" if said else ""
            raise SinkError(f"{self.argv[0]} ended with {done.returncode}{more}", again=False)


class WebhookSink:
    """Posts the alert as JSON over HTTPS; plain HTTP only to this machine. Follows no redirect."""

    name = "webhook"

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self.url = url
        self.headers = headers
        self.timeout = timeout

    def send(self, alert: Alert) -> None:
        """See Sink."""
        try:
            url = urllib.parse.urlsplit(expand(self.url))
            headers = {name: expand(value) for name, value in self.headers.items()}
        except MissingVariableError as error:
            raise SinkError(str(error), again=False) from error
        connection = self._connect(url)
        path = urllib.parse.urlunsplit(("", "", url.path or "/", url.query, ""))
        try:
            connection.request("POST", path, _body(alert), {**_HEADERS, **headers})
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The error may quote the address, which may be a secret: only its kind is told.
            raise SinkError(f"cannot deliver: {_kind(error)}") from error
        finally:
            connection.close()
        if 300 <= status < 400:
            raise SinkError(
                f"the server answers with a redirect ({status}), which is not followed", again=False
            )
        if status >= 400:
            raise SinkError(f"the server answers {status}", again=status == 429 or status >= 500)

    def _connect(self, url: urllib.parse.SplitResult) -> http.client.HTTPConnection:
        try:
            host, port = url.hostname, url.port
        except ValueError as error:
            raise SinkError("the address has a wrong port", again=False) from error
        if url.scheme == "https" and host:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)
        if url.scheme == "http" and host in _LOCAL:
            return http.client.HTTPConnection(host, port, timeout=self.timeout)
        raise SinkError("the address must start with https://", again=False)


_HEADERS = {"Content-Type": "application/json", "User-Agent": f"rltui/{__version__}"}


def _body(alert: Alert) -> bytes:
    data = payload(alert)
    body = json.dumps(data).encode()
    if len(body) > BODY_CAP:
        body = json.dumps(
            {key: data[key] for key in ("schema", "event", "run")} | {"text": data["text"][:2000]}
        ).encode()
    return body


def _kind(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'failed'}"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno) if error.errno > 0 else "name not found"
    return type(error).__name__


def sinks_of(settings: Settings) -> list[Sink]:
    """The ways out that need a thread of their own; bell and notification are the terminal's."""
    sinks: list[Sink] = []
    if settings.command:
        sinks.append(CommandSink(settings.command, settings.timeout))
    if settings.webhook:
        sinks.append(WebhookSink(settings.webhook, settings.headers, settings.timeout))
    return sinks
