"""Receivers of alerts: the terminal (bell and notification), a command, and a webhook."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from rltui import __version__
from rltui.alerts.finding_alert import Alert, Receiver, ReceiverError
from rltui.alerts.secrets import MissingVariableError, expand, shown_address, without_secrets
from rltui.common.display_text import clean
from rltui.common.worker_thread import in_thread
from rltui.config.user_config import COMMAND, TERMINAL, WEBHOOK, AlertConfig

NOTICE = 200  # characters of a notification
BODY_CAP = 64 << 10  # bytes; chats refuse more anyway
LOCAL = ("localhost", "127.0.0.1", "::1")

Write = Callable[[str], str]  # writes to the terminal; returns an error message, empty on success


def receivers_of(config: AlertConfig, write: Write | None = None) -> list[Receiver]:
    """The configured receivers. Bell and notification use `write`, by default to this terminal."""
    makers: dict[str, Callable[[], Receiver]] = {
        TERMINAL: lambda: TerminalReceiver(config, write or write_to_terminal),
        COMMAND: lambda: CommandReceiver(config),
        WEBHOOK: lambda: WebhookReceiver(config),
    }
    return [makers[name]() for name in config.receivers]


def summary(config: AlertConfig) -> list[tuple[str, str]]:
    """The name of each configured receiver, and its description without secrets."""
    signals = ["bell"] * config.bell + [config.notify] * (config.notify != "off")
    descriptions = {
        TERMINAL: " and ".join(signals),
        COMMAND: " ".join(config.command[:1]),
        WEBHOOK: shown_address(config.webhook),
    }
    return [
        (name, f"{descriptions[name]}, from {config.severities.get(name, config.severity)} on")
        for name in config.receivers
    ]


def terminal_text(config: AlertConfig, alert: Alert) -> str:
    """The escape sequences for an alert: a notification, a bell, or neither.

    Text from logs is sanitised. Within tmux, a notification is wrapped so that tmux passes it on if the user
    permits that; the bell needs no wrapping.
    """
    out = ""
    text = clean(alert.text, NOTICE).replace(";", ",")
    if config.notify == "osc9":
        out = f"\x1b]9;rltui {text}\x07"
    elif config.notify == "osc777":
        out = f"\x1b]777;notify;rltui;{text}\x07"
    if out and os.environ.get("TMUX"):
        out = "\x1bPtmux;" + out.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if config.bell and alert.event != "resolved":
        out += "\x07"
    return out


def write_to_terminal(text: str) -> str:
    """Write to the controlling terminal. Returns an error message, empty on success."""
    try:
        handle = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return "there is no terminal to ring"
    try:
        os.write(handle, text.encode("utf-8", "replace"))
    except OSError as error:
        return f"the terminal takes nothing: {error.strerror}"
    finally:
        os.close(handle)
    return ""


class TerminalReceiver:
    """Rings the bell and shows a notification of the terminal."""

    name = TERMINAL

    def __init__(self, config: AlertConfig, write: Write = write_to_terminal) -> None:
        self.config = config
        self.write = write

    def send(self, alert: Alert) -> None:
        """See Receiver."""
        text = terminal_text(self.config, alert)
        problem = self.write(text) if text else ""
        if problem:
            raise ReceiverError(problem)


class CommandReceiver:
    """Runs the user's command, without a shell, with the alert as JSON on standard input."""

    name = COMMAND

    def __init__(self, config: AlertConfig) -> None:
        self.config = config

    def send(self, alert: Alert) -> None:
        """See Receiver. After the timeout, the command and its child processes are killed."""
        argv, timeout = self.config.command, self.config.timeout
        program = clean(argv[0], 80)
        try:
            # Files, since a pipe would block if the command does not read, or leaves child processes.
            with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as errors:
                stdin.write(json.dumps(alert.as_json()).encode() + b"\n")
                stdin.seek(0)
                process = subprocess.Popen(
                    argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
                try:
                    code = process.wait(timeout)
                except subprocess.TimeoutExpired:
                    with contextlib.suppress(OSError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    raise ReceiverError(f"{program} took longer than {timeout:g} s") from None
                errors.seek(0, os.SEEK_END)
                errors.seek(max(errors.tell() - 2000, 0))
                error_lines = errors.read().decode(errors="replace").strip().splitlines()
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            raise ReceiverError(f"{program} cannot be run: {reason}") from error
        if code:
            detail = f": {without_secrets(error_lines[-1], self.config)}" if error_lines else ""
            raise ReceiverError(f"{program} ended with {code}{detail}")


class WebhookReceiver:
    """Posts the alert as JSON over HTTPS, or over HTTP to this machine. Does not follow redirects.

    The timeout applies to the whole delivery, including name resolution and slow responses. The body of the
    response is not read. Messages only state the kind of an error, since those of libraries may quote the
    address, which is often secret.
    """

    name = WEBHOOK

    def __init__(self, config: AlertConfig) -> None:
        self.config = config

    def send(self, alert: Alert) -> None:
        """See Receiver."""
        try:
            url = expand(self.config.webhook).strip()
            headers = {name: expand(value) for name, value in self.config.headers.items()}
        except MissingVariableError as error:
            raise ReceiverError(str(error)) from None
        local = _is_local(url)
        deadline = time.monotonic() + self.config.timeout
        response = in_thread("webhook", lambda: _post(url, headers, alert, local, deadline))
        try:
            status = response.result(self.config.timeout)
        except TimeoutError:
            raise ReceiverError("cannot deliver: timed out", retry=True) from None
        if 300 <= status < 400:
            raise ReceiverError(f"the server answers with a redirect ({status}), which is not followed")
        if status >= 400:
            raise ReceiverError(f"the server answers {status}", retry=status == 429 or status >= 500)


def _is_local(url: str) -> bool:
    """Whether the address is on this machine. Raises ReceiverError for an address that is not permitted."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ReceiverError("the address is not a valid one") from None
    local = host in LOCAL
    if (parts.scheme == "https" and host) or (parts.scheme == "http" and local):
        return local
    raise ReceiverError("the address must start with https:// (http:// on localhost only)")


def body_of(alert: Alert) -> bytes:
    """The JSON of an alert, limited to `BODY_CAP`: first with fewer findings, then with shorter text."""
    data = alert.as_json()
    body = json.dumps(data).encode()
    if len(body) > BODY_CAP:
        data["findings"] = data["findings"][:1]
        body = json.dumps(data).encode()
    if len(body) > BODY_CAP:
        body = json.dumps(
            {**data, "findings": [], "run": data["run"][:200], "text": data["text"][:2000]}
        ).encode()
    return body


def _post(url: str, headers: dict[str, str], alert: Alert, local: bool, deadline: float) -> int:
    """The status of the response. Raises ReceiverError."""
    import http.client  # these four take 30 ms; few users have a webhook
    import ssl
    import urllib.error
    import urllib.request

    class NoRedirects(urllib.request.HTTPRedirectHandler):
        """Treats redirects like other responses."""

        def redirect_request(self, *_: object, **__: object) -> None:
            """None, so that the redirect is not followed."""

    own = {"Content-Type": "application/json", "User-Agent": f"rltui/{__version__}", "X-Alert-Id": alert.id}
    handlers: list[Any] = [NoRedirects(), urllib.request.HTTPSHandler(context=ssl.create_default_context())]
    if local:
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        request = urllib.request.Request(url, body_of(alert), {**own, **headers}, method="POST")
        remaining = max(deadline - time.monotonic(), 0.05)
        with urllib.request.build_opener(*handlers).open(request, timeout=remaining) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ReceiverError(
            f"cannot deliver: {_kind_of_error(reason)}", retry=not isinstance(error, ValueError)
        ) from None


def _kind_of_error(error: object) -> str:
    import socket  # as in `_post`
    import ssl

    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'failed'}"
    if isinstance(error, socket.gaierror):
        return "the host's name is not known"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return type(error).__name__
