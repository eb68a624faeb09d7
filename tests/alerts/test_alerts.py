"""Alerts out: one for each period, by the user's own ways only, with no secret shown."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.finding_alert import Alert, ReceiverError
from rltui.alerts.receivers import CommandReceiver, WebhookReceiver, body_of, terminal_text
from rltui.alerts.secrets import MissingVariableError, expand
from rltui.alerts.throttle import Throttle
from rltui.cli.commands.setup.alert import command
from rltui.config.user_config import AlertConfig
from rltui.rules.finding import Evidence, Finding, Severity


def finding(name: str = "kl-ref-high", severity: Severity = "critical", **more: Any) -> Finding:
    """A finding that fires."""
    return Finding(
        name, severity, "policy", ("kl",), ("policy.kl_ref",), 640, message="KL is high", value=4.2, **more
    )


HIGH = finding()


# ---- which findings become alerts


def test_one_alert_per_episode_after_it_has_lasted() -> None:
    """Nothing before the dwell time, one alert after it, none while it goes on, a word when it is over."""
    throttle = Throttle(AlertConfig(bell=True, for_=60, resolve_after=60, repeat_interval=600, resolved=True))
    assert throttle.update("a", [HIGH], 0) == []
    assert throttle.update("a", [HIGH], 59) == []
    assert [alert.event for alert in throttle.update("a", [HIGH], 61)] == ["firing"]
    assert throttle.update("a", [HIGH], 500) == []
    assert throttle.update("a", [], 520) == []
    assert [alert.event for alert in throttle.update("a", [], 600)] == ["resolved"]
    assert throttle.update("a", [], 700) == []


def test_a_finding_that_flickers_is_one_episode() -> None:
    """Gone for less than the dwell time is still there."""
    throttle = Throttle(AlertConfig(bell=True, for_=60, resolve_after=60))
    told = []
    for now in range(0, 600, 20):
        told += throttle.update("a", [HIGH] if now % 40 == 0 else [], now)
    assert [alert.event for alert in told] == ["firing"]


def test_a_short_flare_is_not_told() -> None:
    """What ends before the dwell time alarms nobody, and does not count towards the next."""
    throttle = Throttle(AlertConfig(bell=True, for_=60, resolve_after=60))
    assert throttle.update("a", [HIGH], 0) == []
    assert throttle.update("a", [], 10) == []
    assert throttle.update("a", [HIGH], 300) == []
    assert throttle.update("a", [HIGH], 340) == []
    assert len(throttle.update("a", [HIGH], 361)) == 1


def test_the_cooldown_holds_back_the_next_episode() -> None:
    """A cause that comes back soon is not told again until the cooldown is over."""
    throttle = Throttle(AlertConfig(bell=True, for_=0, resolve_after=0, repeat_interval=1000, resolved=True))
    assert len(throttle.update("a", [HIGH], 0)) == 1
    assert [alert.event for alert in throttle.update("a", [], 10)] == ["resolved"]
    assert throttle.update("a", [HIGH], 500) == []
    assert len(throttle.update("a", [HIGH], 1001)) == 1


def test_severity_runs_and_explained_findings_are_sieved() -> None:
    """Only what is severe enough, of the wanted runs, and not already said by a symptom."""
    throttle = Throttle(AlertConfig(bell=True, for_=0, severity="critical", runs=("exp*",)))
    assert throttle.update("exp1", [finding(severity="warning")], 0) == []
    assert throttle.update("other", [HIGH], 0) == []
    assert throttle.update("exp1", [finding(explained_by="no-stop")], 0) == []
    assert len(throttle.update("exp1", [HIGH], 0)) == 1
    assert len(throttle.update("exp2", [HIGH], 0)) == 1  # another run is another cause


# ---- ways out


class Server:
    """A web server that notes what it gets and answers as told."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((self.path, dict(self.headers), body))
                self.send_response(outer.answers.pop(0) if outer.answers else 200)
                self.send_header("Location", "http://localhost:1/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/hook?token=s3cret"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for one test."""
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()
    server.thread.join()


ALERT = Alert("firing", "exp1", HIGH)


def test_a_webhook_gets_the_finding_as_json(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """POST, JSON, the user's headers with secrets from the environment."""
    monkeypatch.setenv("HOOK_TOKEN", "abc")
    WebhookReceiver(
        AlertConfig(webhook=server.url, headers={"Authorization": "Bearer $HOOK_TOKEN"}, timeout=5)
    ).send(ALERT)
    path, headers, body = server.got[0]
    data = json.loads(body)
    assert path == "/hook?token=s3cret" and headers["Authorization"] == "Bearer abc"
    assert data["event"] == "firing" and data["findings"][0]["id"] == "kl-ref-high" and "exp1" in data["text"]


def test_redirects_are_not_followed(server: Server) -> None:
    """A redirect is an error: the answer could lead a secret elsewhere."""
    server.answers = [302]
    with pytest.raises(ReceiverError, match="redirect"):
        WebhookReceiver(AlertConfig(webhook=server.url, headers={}, timeout=5)).send(ALERT)
    assert len(server.got) == 1


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "ftp://localhost/x", "file:///etc/passwd", "https://"]
)
def test_only_https_leaves_this_machine(url: str) -> None:
    """Plain HTTP goes to this machine only, other schemes nowhere."""
    with pytest.raises(ReceiverError, match="https"):
        WebhookReceiver(AlertConfig(webhook=url, headers={}, timeout=5)).send(ALERT)


def test_failures_tell_no_secret(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the address nor a header appears in what is shown."""
    server.answers = [500]
    with pytest.raises(ReceiverError) as caught:
        WebhookReceiver(AlertConfig(webhook=server.url, headers={"X": "hush"}, timeout=5)).send(ALERT)
    assert "s3cret" not in str(caught.value) and "hush" not in str(caught.value) and caught.value.retry
    monkeypatch.delenv("NOT_THERE", raising=False)
    with pytest.raises(ReceiverError, match=r"\$NOT_THERE is not set"):
        WebhookReceiver(AlertConfig(webhook="$NOT_THERE", headers={}, timeout=5)).send(ALERT)
    with pytest.raises(ReceiverError) as refused:
        WebhookReceiver(AlertConfig(webhook="http://127.0.0.1:1/s3cret", headers={}, timeout=1)).send(ALERT)
    assert "s3cret" not in str(refused.value)


def test_a_body_is_never_large() -> None:
    """Thousands of pieces of evidence do not make a message that a chat refuses."""
    many = tuple(Evidence(f"tag{k}", 0.0, 1.0, 5) for k in range(5000))
    assert len(body_of(Alert("firing", "a", finding(evidence=many)))) <= 64 << 10


def test_it_tries_again_and_then_says_so(server: Server) -> None:
    """Two failures and a success are a delivery; only failures are a problem that is shown."""
    pauses: list[float] = []
    alerts = Dispatcher(AlertConfig(webhook=server.url), sleep=pauses.append)
    server.answers = [503, 429, 200]
    assert alerts.deliver(alerts.receivers[0], ALERT)
    assert len(server.got) == 3 and pauses == [2.0, 8.0] and alerts.problems() == []
    server.answers = [500] * 4
    assert not alerts.deliver(alerts.receivers[0], ALERT)
    (problem,) = alerts.problems()
    assert problem.code == "alert-failed" and "500" in problem.message
    server.answers = [404]
    assert not alerts.deliver(alerts.receivers[0], ALERT)  # trying again would not help
    assert len(server.got) == 8


def test_a_command_gets_json_and_no_shell(tmp_path: Path) -> None:
    """The argument vector is used as it is; the alert comes on standard input."""
    out = tmp_path / "out.json"
    code = f"import sys; open({str(out)!r}, 'w').write(sys.stdin.read() + '\\n' + sys.argv[1])"
    CommandReceiver(AlertConfig(command=(sys.executable, "-c", code, "$HOME; rm -rf x"), timeout=10)).send(
        ALERT
    )
    body, *_, argument = out.read_text().splitlines()
    assert json.loads(body)["run"] == "exp1" and argument == "$HOME; rm -rf x"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("/no/such/program",), "No such file"),
        ((sys.executable, "-c", "import sys; sys.exit('oh no')"), "oh no"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "longer than"),
    ],
)
def test_a_failing_command_is_told(argv: tuple[str, ...], said: str) -> None:
    """What went wrong is one line."""
    with pytest.raises(ReceiverError, match=said):
        CommandReceiver(AlertConfig(command=argv, timeout=0.5 if "sleep" in argv[-1] else 10)).send(ALERT)


def test_the_terminal_gets_only_safe_text() -> None:
    """A run named with escape sequences cannot end the notification and start another."""
    evil = Alert("firing", "a\x07\x1b]0;owned\x07", HIGH)
    for notify in ("osc9", "osc777"):
        text = terminal_text(AlertConfig(bell=True, notify=notify), evil)
        assert text.count("\x1b") == 1 and text.count("\x07") == 2
    assert terminal_text(AlertConfig(), ALERT) == ""
    assert terminal_text(AlertConfig(bell=True), Alert("resolved", "a", HIGH)) == ""


def test_looking_never_waits(server: Server) -> None:
    """The screen hands over and goes on; the thread sends; closing ends it."""
    written: list[str] = []
    settings = AlertConfig(webhook=server.url, bell=True, for_=0)

    def write(text: str) -> str:
        written.append(text)
        return ""

    dispatcher = Dispatcher(settings, write=write, clock=lambda: 0.0)
    assert [alert.event for alert in dispatcher.update("exp1", [HIGH])] == ["firing"]
    dispatcher.close(wait=10)
    assert written == ["\x07"] and len(server.got) == 1


def test_off_unless_asked_for() -> None:
    """Without configuration nothing is wanted and nothing happens."""
    assert not AlertConfig().receivers
    assert Dispatcher(AlertConfig()).receivers == []


def test_payload_is_json_even_for_nan() -> None:
    """Non-finite values are spelled, as in all our JSON."""
    text = json.dumps(Alert("firing", "a", finding(limit=float("nan"))).as_json(), allow_nan=False)
    assert '"limit": "NaN"' in text


def test_secrets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """$NAME and ${NAME} are looked up when needed; a missing one is named."""
    monkeypatch.setenv("A_B", "x")
    assert expand("${A_B}/$A_B") == "x/x"
    with pytest.raises(MissingVariableError, match="NOPE_1"):
        expand("$NOPE_1")


def test_alert_test_tells_how_each_way_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    """`rltui alert test`: one line per way, exit code 1 when one failed, no secret shown."""
    config = tmp_path / "rltui" / "config.toml"
    config.parent.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("RLTUI_CONFIG", str(config))
    config.write_text(f'[alerts]\nwebhook = "{server.url}"\ncommand = ["/no/such/program"]\n')
    result = CliRunner().invoke(command, ["test"])
    assert "webhook    sent" in result.output and "command    failed" in result.output
    assert result.exit_code == 1 and "s3cret" not in result.output
