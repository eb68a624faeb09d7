"""`rltui alert`: list and test the configured receivers of alerts."""

from __future__ import annotations

import click

from rltui.alerts.finding_alert import Alert, ReceiverError
from rltui.alerts.receivers import receivers_of, summary
from rltui.cli.exit_codes import FOUND
from rltui.cli.loading import read_config
from rltui.cli.printing import emit, fail, leave
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
    """Try the alerts that your configuration asks for. Without one, no alert is sent.

    \b
    Examples:
      rltui alert list
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


@command.command(name="list", short_help="List the configured receivers.")
def list_receivers() -> None:
    """List the configured ways out, from which severity on, and when an alert is sent. Secrets are not shown.

    \b
    Examples:
      rltui alert list
    """
    settings = _configured(None)
    for name, description in summary(settings):
        emit(f"{name:10} {description}")
    steps = f" and {settings.for_steps} steps" if settings.for_steps else ""
    emit()
    emit(f"An alert is sent when a finding has lasted {settings.for_:g} s{steps}, once per episode.")
    emit(f"The episode is over when the finding has been gone for {settings.resolve_after:g} s.")
    emit(f"The same cause alerts again after {settings.repeat_interval:g} s at the earliest.")
    emit(f"Runs: {', '.join(settings.runs) or 'all'}" + ("" if settings.ended else ", while they are live"))


def _configured(sink: str | None) -> AlertConfig:
    settings = read_config().alerts
    if not settings.receivers:
        fail("no alerts are configured; name some in [alerts] of your own file: rltui config --path")
    if sink is not None and sink not in settings.receivers:
        fail(f"no {sink} is configured under [alerts]; there is: {', '.join(settings.receivers)}")
    return settings
