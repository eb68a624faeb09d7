"""Ways out against hostile surroundings: hanging servers, stubborn commands, missing secrets, open files."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.finding_alert import Alert, ReceiverError
from rltui.alerts.receivers import (
    CommandReceiver,
    TerminalReceiver,
    WebhookReceiver,
    summary,
    terminal_text,
    write_to_terminal,
)
from rltui.alerts.secrets import without_secrets
from rltui.config import load_config
from rltui.config.user_config import AlertConfig
from rltui.rules.finding import Finding

ALERT = Alert("firing", "exp1", Finding("kl", "critical", "policy", ("kl",), (), 640, message="KL is high"))


@pytest.fixture(params=["silent", "drip"])
def bad_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that takes a connection and answers never, or a byte at a time."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while not stop.wait(0.02):
                if request.param == "drip":
                    try:
                        connection.sendall(b"H")
                    except OSError:
                        return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/s3cret"
    stop.set()
    thread.join(5)
    listener.close()


def test_a_server_that_hangs_or_drips_is_left_in_time(bad_server: str) -> None:
    """The timeout bounds the whole call, not each read; the message tells no address."""
    began = time.monotonic()
    with pytest.raises(ReceiverError, match="timed out") as caught:
        WebhookReceiver(AlertConfig(webhook=bad_server, timeout=0.3)).send(ALERT)
    assert time.monotonic() - began < 20
    assert caught.value.retry and "s3cret" not in str(caught.value)


def test_a_command_that_leaves_children_does_not_hold_us(tmp_path: Path) -> None:
    """A child that keeps standard error open, and a command that reads nothing of a large input."""
    left, began = tmp_path / "pid", time.monotonic()
    command = ("/bin/sh", "-c", f"sleep 600 & echo $! > {left}")
    CommandReceiver(AlertConfig(command=command, timeout=60)).send(ALERT)
    os.kill(int(left.read_text()), signal.SIGKILL)
    assert time.monotonic() - began < 50


def test_a_command_that_quotes_a_secret_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a failing command prints is shown without the values of the environment that we know."""
    monkeypatch.setenv("HOOK", "https://example.org/s3cret")
    code = "import os, sys; sys.exit('cannot reach ' + os.environ['HOOK'])"
    settings = AlertConfig(command=(sys.executable, "-c", code), webhook="$HOOK", timeout=10)
    with pytest.raises(ReceiverError, match="cannot reach …"):
        CommandReceiver(settings).send(ALERT)
    assert without_secrets("x https://example.org/s3cret y", settings) == "x … y"


def test_listing_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """`doctor` shows the host at most, and which variable is missing."""
    monkeypatch.delenv("NO_HOOK", raising=False)
    shown = str(summary(AlertConfig(webhook="https://user:pw@chat.example.org/s3cret?token=x")))
    assert "chat.example.org" in shown and not any(word in shown for word in ("pw", "s3cret", "token"))
    assert "not set" in str(summary(AlertConfig(webhook="$NO_HOOK")))


def test_tmux_gets_a_wrapped_notification_and_a_bare_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside tmux a notification goes through its passthrough; the bell is tmux's own."""
    settings = AlertConfig(bell=True, notify="osc9")
    monkeypatch.delenv("TMUX", raising=False)
    assert terminal_text(settings, ALERT).startswith("\x1b]9;rltui [critical] exp1")
    monkeypatch.setenv("TMUX", "/tmp/tmux-1/default,1,0")
    wrapped = terminal_text(settings, ALERT)
    assert wrapped.startswith("\x1bPtmux;\x1b\x1b]9;") and wrapped.endswith("\x1b\\\x07")


@pytest.mark.parametrize(
    "name",
    ["a\x1b]52;c;QQ==\x07", "b\x9d0;t\x9c", "c\r\x08", "d\u202e", "e;f", "[@click=app.quit]x", "{0}%s"],
)
def test_hostile_names_stay_text(name: str) -> None:
    """A run's name cannot add a control character, nor another field of a notification."""
    alert = Alert("firing", name, ALERT.finding)
    for notify, separators in (("osc9", 1), ("osc777", 3)):
        inner = terminal_text(AlertConfig(notify=notify), alert)[2:-1]
        assert inner.isprintable() and inner.count(";") == separators
    assert alert.text.isprintable()


def test_a_terminal_that_is_gone_is_a_problem_not_an_error() -> None:
    """Nothing is raised; the way out is told to fail."""
    dispatcher = Dispatcher(AlertConfig(bell=True, for_=0), write=lambda text: "there is no terminal to ring")
    dispatcher.update("a", [ALERT.finding])
    assert [problem.message for problem in dispatcher.problems()] == ["there is no terminal to ring"]
    assert isinstance(write_to_terminal(""), str)
    with pytest.raises(ReceiverError, match="no terminal"):
        TerminalReceiver(AlertConfig(bell=True), lambda text: "no terminal").send(ALERT)


def test_an_internal_error_of_a_way_out_ends_nothing() -> None:
    """An unforeseen exception becomes a problem, and the next alert is sent."""
    sent: list[str] = []

    class Odd:
        name = "command"

        def send(self, alert: Alert) -> None:
            sent.append(alert.run)
            if len(sent) == 1:
                raise KeyError("x")

    dispatcher = Dispatcher(AlertConfig(command=("x",), for_=0), receivers=[Odd()])
    dispatcher.update("a", [ALERT.finding])
    dispatcher.update("b", [ALERT.finding])
    dispatcher.close(wait=10)
    assert sent == ["a", "b"] and dispatcher.problems() == []


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ('webhook = "https://example.org/s3cret"', 0o644, True),
        ('webhook = "https://example.org/s3cret"', 0o600, False),
        ('webhook = "$HOOK"', 0o644, False),
        ('webhook = "$HOOK"\nheaders = {Authorization = "Bearer abcdef"}', 0o640, True),
        ("bell = true", 0o644, False),
    ],
)
def test_a_secret_in_an_open_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mode: int, told: bool
) -> None:
    """A configuration with a secret that others can read is a problem; a name of a variable is no secret."""
    own = tmp_path / "config.toml"
    own.write_text(f"[alerts]\n{text}\n")
    own.chmod(mode)
    monkeypatch.setenv("RLTUI_CONFIG", str(own))
    config = load_config()
    assert any(problem.code == "config-readable-by-others" for problem in config.problems) is told
    assert "s3cret" not in str(config.problems) and "abcdef" not in str(config.problems)


def test_alerts_beside_the_logs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of logs, perhaps somebody else's, can make us run or send nothing."""
    monkeypatch.setenv("RLTUI_CONFIG", str(tmp_path / "none.toml"))
    (tmp_path / "rltui.toml").write_text('[alerts]\ncommand = ["/bin/false"]\n')
    config = load_config([tmp_path])
    assert not config.alerts.receivers and any("own file" in problem.message for problem in config.problems)
