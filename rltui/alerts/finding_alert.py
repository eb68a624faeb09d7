"""Alerts as text and as JSON, and the interface of receivers."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from rltui.common.digest import digest
from rltui.common.display_text import clean
from rltui.common.json_value import json_value
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_step
from rltui.rules.finding import Finding, as_json

Event = Literal["firing", "resolved", "test"]


class Alert(NamedTuple):
    """A finding to send to receivers.

    sent_rank: the severity rank with which the same period was sent before, -1 for a new period. A receiver
    gets one alert per period, when it first reaches the receiver's severity.
    """

    event: Event
    run: str
    finding: Finding
    explains: tuple[Finding, ...] = ()  # findings that a symptom explains
    sent_rank: int = -1

    @property
    def id(self) -> str:
        """The same for all alerts of a period and event, so that receivers can drop duplicates."""
        finding = self.finding
        text = "\0".join((self.run, *map(str, finding.key), self.event, finding.severity))
        return digest(text, 24)

    def concerns(self, least_rank: int) -> bool:
        """Whether to send it to a receiver with this minimum severity rank."""
        if self.event == "test":
            return True
        if self.event == "resolved":
            return self.sent_rank >= least_rank
        return self.finding.rank >= least_rank > self.sent_rank

    @property
    def text(self) -> str:
        """The alert in one line."""
        finding = self.finding
        word = {"firing": finding.severity, "resolved": "resolved", "test": "test"}[self.event]
        since = (
            f" (since step {format_step(finding.since_step)})"
            if self.event == "firing" and finding.metrics
            else ""
        )
        return f"[{word}] {clean(self.run)}: {clean(finding.message)}{since}"

    def as_json(self) -> dict[str, Any]:
        """The payload of commands and webhooks: the finding, those that it explains, and a text for chats."""
        return {
            "schema": 1,
            "id": self.id,
            "event": self.event,
            "run": clean(self.run),
            "text": self.text,
            "findings": [json_value(as_json(finding)) for finding in (self.finding, *self.explains)],
        }


class ReceiverError(Exception):
    """A delivery failed. The message contains no secrets."""

    def __init__(self, message: str, *, retry: bool = False) -> None:
        super().__init__(clean(message, 200))
        self.retry = retry  # whether a retry may succeed


class Receiver(Protocol):
    """Delivers alerts to a terminal, a command or a webhook."""

    name: str

    def send(self, alert: Alert) -> None:
        """Deliver, within the timeout. Raises ReceiverError."""
        ...
