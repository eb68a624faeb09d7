"""One alert: what it says to people and to programs, and what delivers it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from rltui.common.named_tuple import NamedTuple
from rltui.common.paths import digest
from rltui.common.text import clean
from rltui.draw.numbers import json_value
from rltui.rules.finding import Finding, as_json

Event = Literal["firing", "resolved", "test"]


class Alert(NamedTuple):
    """A finding that receivers are told of.

    `sent_rank` is the severity rank at which the same episode was sent before, -1 when it is new: each
    receiver hears of an episode once, when it first reaches the severity that this receiver asks for.
    """

    event: Event
    run: str
    finding: Finding
    explains: tuple[Finding, ...] = ()  # findings that a symptom gathers
    sent_rank: int = -1

    @property
    def id(self) -> str:
        """The same for the same episode and event: receivers can leave out what they already have."""
        finding = self.finding
        text = "\0".join((self.run, *map(str, finding.key), self.event, finding.severity))
        return digest(text, 24)

    def concerns(self, least_rank: int) -> bool:
        """Whether a receiver that asks for at least this severity rank hears of it."""
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
        since = f" (since step {finding.since_step:,})" if self.event == "firing" and finding.metrics else ""
        return f"[{word}] {clean(self.run)}: {clean(finding.message)}{since}"

    def as_json(self) -> dict[str, Any]:
        """What commands and webhooks get: the finding, then those that it explains, and a text for chats."""
        return {
            "schema": 1,
            "id": self.id,
            "event": self.event,
            "run": clean(self.run),
            "text": self.text,
            "findings": [json_value(as_json(finding)) for finding in (self.finding, *self.explains)],
        }


class ReceiverError(Exception):
    """A delivery failed. The message is for people and holds no secret."""

    def __init__(self, message: str, *, retry: bool = False) -> None:
        super().__init__(clean(message, 200))
        self.retry = retry  # whether trying again may help


class Receiver(Protocol):
    """What delivers alerts: terminal, command, webhook."""

    name: str

    def send(self, alert: Alert) -> None:
        """Deliver, within the timeout. Raises ReceiverError."""
        ...
