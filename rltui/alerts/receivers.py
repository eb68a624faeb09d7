"""Ways out: terminal bell and notification, a command. Each sends one alert and says what went wrong."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import tempfile
from typing import Any, Protocol

from rltui.alerts.alert_config import without_secrets
from rltui.alerts.throttle import Alert
from rltui.config.model import COMMAND, TERMINAL, AlertConfig
from rltui.rules.finding import Finding, as_json
from rltui.text import clean

NOTICE = 200  # characters of a notification


class ReceiverError(Exception):
    """A delivery failed. The message is for people and holds no secret."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(clean(message, 200))
        self.again = again  # whether trying again may help


class Receiver(Protocol):
    """One way out."""

    name: str

    def send(self, alert: Alert) -> None:
        """Deliver, within the timeout. Raises SinkError."""
        ...


def payload(alert: Alert) -> dict[str, Any]:
    """What commands and webhooks get: the finding, then those that it explains, and a text for chats."""
    return {
        "schema": 1,
        "id": alert.id,
        "event": alert.event,
        "run": clean(alert.run),
        "text": sentence(alert),
        "findings": [_plain(as_json(finding)) for finding in (alert.finding, *alert.explains)],
    }


def sentence(alert: Alert) -> str:
    """An alert in one line."""
    finding = alert.finding
    word = {"firing": finding.severity, "resolved": "resolved", "test": "test"}[alert.event]
    since = f" (since step {finding.since_step:,})" if alert.event == "firing" and _has_step(finding) else ""
    return f"[{word}] {clean(alert.run)}: {clean(finding.message)}{since}"


def _has_step(finding: Finding) -> bool:
    return bool(finding.metrics)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def terminal_text(settings: AlertConfig, alert: Alert) -> str:
    """What to write to the terminal for an alert: a notification, a bell, or nothing.

    Safe by construction: what comes from logs is cleaned of control characters. Inside tmux a notification
    is wrapped so that tmux hands it on where its user allows that; the bell needs no wrapping.
    """
    out = ""
    text = clean(sentence(alert), NOTICE).replace(";", ",")
    if settings.notify == "osc9":
        out = f"\x1b]9;rltui {text}\x07"
    elif settings.notify == "osc777":
        out = f"\x1b]777;notify;rltui;{text}\x07"
    if out and os.environ.get("TMUX"):
        out = "\x1bPtmux;" + out.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if settings.bell and alert.event != "resolved":
        out += "\x07"
    return out


def own_terminal(text: str) -> str:
    """Write to the terminal that this command was started from. Returns what went wrong, or nothing."""
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
    """Bell and notification of the terminal; `write` puts text there and says what went wrong."""

    name = TERMINAL

    def __init__(self, settings: AlertConfig, write: Any = own_terminal) -> None:
        self.settings = settings
        self.write = write

    def send(self, alert: Alert) -> None:
        """See Sink."""
        text = terminal_text(self.settings, alert)
        trouble = self.write(text) if text else ""
        if trouble:
            raise ReceiverError(trouble)


class CommandReceiver:
    """Runs the user's command with the alert as JSON on standard input. No shell, no terminal."""

    name = COMMAND

    def __init__(self, settings: AlertConfig) -> None:
        self.settings = settings

    def send(self, alert: Alert) -> None:
        """See Sink. A command that takes too long is killed with all that it has started."""
        argv, timeout = self.settings.command, self.settings.timeout
        program = clean(argv[0], 80)
        try:
            # Files, not pipes: a command that does not read, or leaves children behind, must not hold us.
            with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
                given.write(json.dumps(payload(alert)).encode() + b"\n")
                given.seek(0)
                process = subprocess.Popen(
                    argv, stdin=given, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
                )
                try:
                    code = process.wait(timeout)
                except subprocess.TimeoutExpired:
                    with contextlib.suppress(OSError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    raise ReceiverError(f"{program} took longer than {timeout:g} s") from None
                said.seek(0, os.SEEK_END)
                said.seek(max(said.tell() - 2000, 0))
                words = said.read().decode(errors="replace").strip().splitlines()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ReceiverError(f"{program} cannot be run: {reason}") from error
        if code:
            more = f": {without_secrets(words[-1], self.settings)}" if words else ""
            raise ReceiverError(f"{program} ended with {code}{more}")


def receivers_of(settings: AlertConfig, write: Any = own_terminal) -> list[Receiver]:
    """The configured ways out. Bell and notification go through `write`."""
    from rltui.alerts.webhook import WebhookReceiver

    made: dict[str, Any] = {COMMAND: CommandReceiver, "webhook": WebhookReceiver}
    return [
        TerminalReceiver(settings, write) if way == TERMINAL else made[way](settings)
        for way in settings.receivers
    ]
