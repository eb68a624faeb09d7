"""Findings about a run as a whole that no rule on a metric makes: `rltui/data/run_findings.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Severity
from rltui.rules.finding import Finding
from rltui.schema.fields import NumberField
from rltui.schema.metric import MetricReference, PaneId
from rltui.schema.toml_files import read_table

Limit = Annotated[float, NumberField(minimum=0)]
Count = Annotated[int, NumberField(minimum=1, integer=True)]


class RunFinding(NamedTuple):
    """The texts of a finding, with names in braces for what is filled in. id: its key by default."""

    title: str
    message: str
    advice: str
    pane: PaneId
    source: str
    id: str = ""
    severity: Severity = "info"
    check_next: tuple[MetricReference, ...] = ()

    def made(self, since_step: int, **words: object) -> Finding:
        """The finding since a step, with words for the names in braces; KeyError for one that is missing."""
        return Finding(
            id=self.id,
            severity=self.severity,
            pane=self.pane,
            metrics=(),
            canonical=(),
            since_step=since_step,
            message=self.message.format_map(words),
            advice=self.advice,
            check_next=self.check_next,
            title=self.title.format_map(words),
            source=self.source,
        )


class JobLimits(NamedTuple):
    """When the time limit of a job is reported; the file gives the reasons."""

    ratio: Limit
    steps: Count
    missing_seconds: Limit


class SisterLimits(NamedTuple):
    """When a run is below its sisters; the file gives the reasons."""

    sisters: Count
    spreads_below: Limit
    failed_spreads_below: Limit
    share_below: Limit
    share_of_gain: Limit
    gain_in_spreads: Limit
    spread_share: Limit


class RunFindings(NamedTuple):
    """The tables of the file."""

    finding: Mapping[str, RunFinding]
    job: JobLimits
    sisters: SisterLimits


@cache
def run_findings() -> RunFindings:
    """The tables, read at the first call."""
    tables = read_table("run_findings", RunFindings)
    named = {key: entry._replace(id=entry.id or key) for key, entry in tables.finding.items()}
    return tables._replace(finding=named)


def run_finding(key: str, since_step: int, **words: object) -> Finding:
    """A finding of the file since a step."""
    return run_findings().finding[key].made(since_step, **words)
