"""Findings: their evidence, their order, and the health of a run that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from rltui.common.display_text import quote
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import SEVERITIES, Severity
from rltui.draw.numbers import SHARE, format_share, format_step, format_value

State = Literal["firing", "resolved"]
Health = Literal["ok", "warning", "critical"]
RunHealth = Literal["ok", "unjudged", "warning", "critical"]
RANK: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}
HEALTHS: tuple[Health, ...] = ("ok", "warning", "critical")  # best first
NO_POINTS = "no scalars yet"  # why a run is not judged
NOTHING_READ = "nothing could be read"  # the same of a damaged one; the reason follows
RUN_HEALTHS: tuple[RunHealth, ...] = ("ok", "unjudged", "warning", "critical")  # best first


class Evidence(NamedTuple):
    """The change of one metric: its level before, its level now, and the step since which it changed.

    `worst` is its worst level since then, given if the present level is back within the limit. Of a ratio,
    `tag` is its numerator and `per` its denominator.
    """

    tag: str
    before: float | None
    now: float | None
    since_step: int
    canonical: str | None = None
    worst: float | None = None
    per: str = ""

    @property
    def name(self) -> str:
        """The tag; of a ratio both."""
        return f"{self.tag} / {self.per}" if self.per else self.tag

    def course(self, unit: str = "") -> str:
        """The levels as text: before, worst and now."""
        now = "NaN" if self.now is None else format_value(self.now, unit)
        if self.worst is not None:
            now = f"{format_value(self.worst, unit)}, now {now}"
        before = "" if self.before is None else format_value(self.before, unit)
        return now if before in ("", now) else f"{before} → {now}"


class EvidenceName(NamedTuple):
    """What a key of a finding means, for texts that are made without its run. unit: as shown."""

    tag: str
    title: str
    unit: str

    @property
    def telling(self) -> str:
        """The key; with its title before it where it is a letter, as in the log of Gym's Monitor."""
        bare = len(self.tag.rpartition("/")[2]) < 2 and self.title != self.tag
        return f"{self.title} ({self.tag})" if bare else self.tag


PRINTED = 80  # characters in which a message and the line that it begins with agree


SO_FAR = " so far"  # of titles and messages on runs that go on


class ConsoleEvidence(NamedTuple):
    """The line of a console that reports a failure."""

    path: str  # of the console, relative to LOGDIR, cleaned
    offset: int  # bytes from its start
    text: str  # cleaned
    line: int | None = None  # from 1; None if unknown
    wall_time: float | None = None  # seconds since 1970, as printed in the console


class Finding(NamedTuple):
    """A condition that is wrong with the training, while it holds.

    `since_step` is the step at which the condition began to hold, not the one at which it was reported.
    `metrics` are the tags as written, `canonical` their ids. `title` fits a row, `message` is one sentence.
    Findings that a symptom explains have its id in `explained_by`.
    """

    id: str
    severity: Severity
    pane: str
    metrics: tuple[str, ...]
    canonical: tuple[str, ...]
    since_step: int
    message: str
    advice: str = ""
    check_next: tuple[str, ...] = ()
    title: str = ""
    value: float | None = None
    limit: float | None = None
    state: State = "firing"
    resolved_step: int | None = None
    evidence: tuple[Evidence, ...] = ()
    explained_by: str | None = None
    symptom: bool = False
    source: str = ""
    console: ConsoleEvidence | None = None  # of a failure reported in a console
    look_next: tuple[str, ...] = ()  # tags of the run for `check_next`, if they have been looked up

    @property
    def rank(self) -> int:
        """0 info, 1 warning, 2 critical."""
        return RANK[self.severity]

    @property
    def printed(self) -> str:
        """The line of a console that reports it, shortened; empty where the message begins with it."""
        if self.console is None:
            return ""
        text = self.console.text
        return "" if self.message.startswith(text[:PRINTED]) else quote(text)

    @property
    def since(self) -> str:
        """`since step 1.2k`; of a program that failed earlier `before the first step`."""
        if self.console is not None and not self.since_step:
            return "before the first step"
        return f"since step {format_step(self.since_step)}"

    @property
    def dated_message(self) -> str:
        """The message and since when: `The policy moves by 3 nats per update (since step 40)`."""
        return (
            f"{self.message}, {self.since}"
            if self.message.endswith(")")
            else f"{self.message} ({self.since})"
        )

    def of_whole_run(self) -> Finding:
        """The same of a run that is over: nothing more can follow what was so "so far"."""
        if SO_FAR not in self.title and SO_FAR not in self.message:
            return self
        return self._replace(title=self.title.replace(SO_FAR, ""), message=self.message.replace(SO_FAR, ""))

    @property
    def key(self) -> tuple[str, int]:
        """Identifies the episode: constant from its onset to its end."""
        return (self.id, self.since_step)


def order(finding: Finding) -> tuple[int, int, int, str]:
    """Sort key: the most severe first; of equals failures in a console, symptoms, others; older first."""
    kind = 0 if finding.console is not None else 1 if finding.symptom else 2
    return (-finding.rank, kind, finding.since_step, finding.id)


def unexplained(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that no symptom among them explains."""
    found = list(findings)
    ids = {finding.id for finding in found}
    return [finding for finding in found if finding.explained_by not in ids]


def explained(findings: Iterable[Finding], symptom: Finding) -> list[Finding]:
    """The findings that a symptom explains."""
    return [finding for finding in findings if finding.explained_by == symptom.id]


def health_of(findings: Iterable[Finding]) -> Health:
    """The worst severity that is at least a warning; `ok` otherwise."""
    return HEALTHS[max((finding.rank for finding in findings if finding.state == "firing"), default=0)]


def worst(healths: Iterable[RunHealth]) -> RunHealth:
    """The worst of the judged ones; `unjudged` if there are none."""
    evaluated = [health for health in healths if health != "unjudged"]
    return max(evaluated, key=RUN_HEALTHS.index, default="unjudged")


def unit_of_change(finding: Finding, evidence: Evidence, unit: str) -> str:
    """The unit of a change, for that of its key as shown.

    A ratio has the unit of neither metric: it is a share if the finding's sentence gives it as one.
    """
    if not evidence.per:
        return unit
    share = evidence.now is not None and format_share(evidence.now) in finding.message
    return SHARE if share else ""


def as_json(finding: Finding) -> dict[str, Any]:
    """The fields documented for `check --json`, and more. The writer spells out non-finite numbers."""
    fields = finding._asdict()
    fields["evidence"] = [
        {
            "metric": item.tag,
            "canonical": item.canonical,
            "from": item.before,
            "to": item.now,
            "since_step": item.since_step,
            **({} if item.worst is None else {"worst": item.worst}),
            **({"per": item.per} if item.per else {}),
        }
        for item in finding.evidence
    ]
    console = fields.pop("console")
    return fields if console is None else {**fields, "console": console._asdict()}


def from_json(data: Mapping[str, Any]) -> Finding:
    """The inverse of `as_json`; non-finite numbers may be spelled out."""
    evidence = [
        Evidence(
            item["metric"],
            number_of(item["from"]),
            number_of(item["to"]),
            item["since_step"],
            item["canonical"],
            worst=number_of(item.get("worst")),
            per=item.get("per", ""),
        )
        for item in data["evidence"]
    ]
    fields = {
        **data,
        **{name: tuple(data[name]) for name in ("metrics", "canonical", "check_next", "look_next")},
        "value": number_of(data["value"]),
        "limit": number_of(data["limit"]),
        "evidence": tuple(evidence),
        "console": ConsoleEvidence(**data["console"]) if "console" in data else None,
    }
    return Finding(**fields)


def number_of(value: float | str | None) -> float | None:
    """The number for a JSON value, in which non-finite numbers are strings."""
    return float(value) if isinstance(value, str) else value
