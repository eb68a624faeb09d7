"""The document of `compare --json`: the metrics of runs compared with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from rltui.cli.exit_codes import FOUND
from rltui.cli.printing import CommandError
from rltui.common.text import clean
from rltui.panes.baseline.comparison import Axis, Comparison
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.session.sister_runs import SisterComparison

FIELDS = (
    "canonical", "title", "unit", "tag", "baseline_tag", "value", "baseline", "difference", "percent",
    "spread", "outside", "better",
)  # fmt: skip


def comparison_document(
    logdirs: Sequence[str],
    baseline: str,
    axis: Axis,
    compared: Mapping[str, Comparison | None],
    sister_comparisons: Mapping[str, SisterComparison] = MappingProxyType({}),
    findings: Mapping[str, Sequence[Finding]] = MappingProxyType({}),
) -> dict[str, Any]:
    """The document. All mappings are by the name of the run.

    compared: None for a run without a common step, time or number of tokens. findings: about speed.
    """
    runs = [_compared(run, comparison) for run, comparison in compared.items()]
    for record in runs:
        if (comparison := sister_comparisons.get(str(record["run"]))) is not None:
            record["sisters"] = comparison.as_json()
        record["findings"] = [as_json(finding) for finding in findings.get(str(record["run"]), ())]
    return {"schema": 1, "logdir": clean(logdirs[0]), "baseline": baseline, "by": axis, "runs": runs}


def baseline_run(session: Session, name: str) -> RunView:
    """The run with this name. Ends the command with 1 if there is none, or more than one."""
    found = session.named(name)
    if len(found) == 1:
        return session.runs[found[0]]
    close = found or get_close_matches(name, session.runs, n=3, cutoff=0.6)
    hint = "; nearest: " if close and not found else "; there are "
    shown = close or sorted(session.runs)
    more = ", …" if len(shown) > 5 else ""
    raise CommandError(f"no single run named {name!r}{hint}{', '.join(shown[:5])}{more}", FOUND)


def _compared(run: str, comparison: Comparison | None) -> dict[str, object]:
    if comparison is None:
        return {"run": run, "matched": None, "metrics": []}
    metrics = [{name: getattr(difference, name) for name in FIELDS} for difference in comparison.differences]
    return {"run": run, "matched": comparison.matched, "metrics": metrics}
