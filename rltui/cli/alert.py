"""`rltui alert test`: try the configured ways out."""

from __future__ import annotations

import sys

import click

from rltui.alerts import Alert, Alerts, settings_of
from rltui.alerts.sinks import SinkError, terminal_text
from rltui.cli.options import read_config
from rltui.cli.output import emit, fail, leave
from rltui.rules.finding import Finding

TEST = Finding(
    id="test",
    severity="warning",
    pane="overview",
    metrics=(),
    canonical=(),
    since_step=0,
    message="This is a test of rltui's alerts",
    advice="Nothing is wrong.",
    title="test",
)


@click.group(name="alert")
def command() -> None:
    """Try the alerts that your configuration asks for. They are off unless it does."""


@command.command(name="test")
def test() -> None:
    """Send one test alert by every configured way and say how it went.

    \b
    Examples:
      rltui alert test
    """
    settings = settings_of(read_config().alerts)
    if not settings.wanted:
        fail("no alerts are configured; name some in [alerts] of your own file: rltui config path")
    alert = Alert("test", "test", TEST)
    text = terminal_text(settings, alert)
    if text:
        if sys.stdout.isatty():
            sys.stdout.write(text)
            sys.stdout.flush()
        emit(f"terminal   {'sent' if sys.stdout.isatty() else 'not sent: standard output is no terminal'}")
    failed = False
    for sink in Alerts(settings).sinks:
        try:
            sink.send(alert)
            emit(f"{sink.name:10} sent")
        except SinkError as error:
            failed = True
            emit(f"{sink.name:10} failed: {error}")
    if failed:
        leave(1)
