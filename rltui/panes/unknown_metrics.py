"""Whether the glossary has the metrics that tables of panes and rules name: `unknown_metrics()`."""

from __future__ import annotations

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer_metrics import AnswerMetrics, answer_metrics
from rltui.panes.answers.rollouts.rollout_losses import RolloutTable, rollout_table
from rltui.panes.baseline.speed_findings import SpeedRule, speed_rules
from rltui.panes.pane_tabs import OverviewTables, overview_tables
from rltui.rules.metric_roles import MetricRoles, metric_roles
from rltui.rules.run_status.run_findings import RunFindings, run_findings
from rltui.schema.metric import metric_references


def unknown_metrics() -> tuple[Problem, ...]:
    """A problem for each id that a table names and the glossary lacks; such an id is found in no run.

    Frameworks and rules check theirs when they are loaded. These tables are loaded by whatever needs one of
    them, and then without the glossary.
    """
    tables: dict[str, tuple[object, object]] = {
        "answer_metrics": (AnswerMetrics, answer_metrics()),
        "metric_roles": (MetricRoles, metric_roles()),
        "overview": (OverviewTables, overview_tables()),
        "rollout_losses": (RolloutTable, rollout_table()),
        "run_findings": (RunFindings, run_findings()),
        "speed_rules": (tuple[SpeedRule, ...], speed_rules()),
    }
    known = glossary().metrics
    unknown = [
        (name, id_)
        for name, (kind, table) in tables.items()
        for id_ in dict.fromkeys(metric_references(kind, table))
        if id_ not in known
    ]
    words = "names '{}', which is not a metric of the glossary"
    return tuple(
        Problem("error", "metrics-data", f"{name}.toml", words.format(clean(id_, 60)))
        for name, id_ in unknown
    )
