"""`rltui alert test`: sends a test alert to the configured receivers."""

from __future__ import annotations

import click

from rltui.alerts.finding_alert import Alert, ReceiverError
from rltui.alerts.receivers import receivers_of
from rltui.cli.exit_codes import FOUND
from rltui.cli.output.printing import emit, fail, leave
from rltui.cli.reading.loading import read_config
from rltui.config.user_config import AlertConfig
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
    """Try the alerts that your configuration asks for; `rltui doctor` lists them. Without one, none is sent.

    \b
    Examples:
      rltui alert test
    """


@command.command(name="test", short_help="Send one test alert to every configured receiver.")
@click.argument("sink", required=False, type=click.Choice(["terminal", "command", "webhook"]))
def test(sink: str | None) -> None:
    """Send one test alert by every configured way, or by SINK, and say how it went.

    Exit code 0: all arrived. 1: one failed. 2: none is configured.

    \b
    Examples:
      rltui alert test
      rltui alert test webhook
    """
    settings = _configured(sink)
    failed = False
    for receiver in receivers_of(settings):
        if sink not in (None, receiver.name):
            continue
        try:
            receiver.send(Alert("test", "test", TEST))
            emit(f"{receiver.name:10} sent")
        except ReceiverError as error:
            failed = True
            emit(f"{receiver.name:10} failed: {error}")
    if failed:
        leave(FOUND)


def _configured(sink: str | None) -> AlertConfig:
    settings = read_config().alerts
    if not settings.receivers:
        fail("no alerts are configured; name some in [alerts] of your own file: rltui config --path")
    if sink is not None and sink not in settings.receivers:
        fail(f"no {sink} is configured under [alerts]; there is: {', '.join(settings.receivers)}")
    return settings
