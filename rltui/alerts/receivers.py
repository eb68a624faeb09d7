"""Receivers of alerts: terminal bell and notification, a command, a webhook."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable

from rltui.alerts.finding_alert import Alert, Receiver, ReceiverError
from rltui.alerts.secrets import shown_address, without_secrets
from rltui.alerts.webhook import WebhookReceiver
from rltui.common.text import clean
from rltui.config.model import COMMAND, TERMINAL, WEBHOOK, AlertConfig

NOTICE = 200  # characters of a notification

Write = Callable[[str], str]  # puts a text on the terminal; returns what went wrong, or nothing


def receivers_of(config: AlertConfig, write: Write | None = None) -> list[Receiver]:
    """The configured receivers. Bell and notification go through `write`, by default to this terminal."""
    makers: dict[str, Callable[[], Receiver]] = {
        TERMINAL: lambda: TerminalReceiver(config, write or write_to_terminal),
        COMMAND: lambda: CommandReceiver(config),
        WEBHOOK: lambda: WebhookReceiver(config),
    }
    return [makers[name]() for name in config.receivers]


def summary(config: AlertConfig) -> list[tuple[str, str]]:
    """Each configured receiver and what can be said of it without a secret."""
    notes = ["bell"] * config.bell + [config.notify] * (config.notify != "off")
    what = {
        TERMINAL: " and ".join(notes),
        COMMAND: " ".join(config.command[:1]),
        WEBHOOK: shown_address(config.webhook),
    }
    return [
        (name, f"{what[name]}, from {config.severities.get(name, config.severity)} on")
        for name in config.receivers
    ]


def terminal_text(config: AlertConfig, alert: Alert) -> str:
    """What to write to the terminal for an alert: a notification, a bell, or nothing.

    Safe by construction: what comes from logs is cleaned of control characters. Inside tmux a notification
    is wrapped so that tmux hands it on where its user allows that; the bell needs no wrapping.
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
    """Bell and notification of the terminal."""

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
    """Runs the user's command with the alert as JSON on standard input. No shell, no terminal."""

    name = COMMAND

    def __init__(self, config: AlertConfig) -> None:
        self.config = config

    def send(self, alert: Alert) -> None:
        """See Receiver. A command that takes too long is killed with all that it has started."""
        argv, timeout = self.config.command, self.config.timeout
        program = clean(argv[0], 80)
        try:
            # Files, not pipes: a command that does not read, or leaves children behind, must not hold us.
            with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
                given.write(json.dumps(alert.as_json()).encode() + b"\n")
                given.seek(0)
                process = subprocess.Popen(
                    argv, stdin=given, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
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
                words = errors.read().decode(errors="replace").strip().splitlines()
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            raise ReceiverError(f"{program} cannot be run: {reason}") from error
        if code:
            more = f": {without_secrets(words[-1], self.config)}" if words else ""
            raise ReceiverError(f"{program} ended with {code}{more}")
