"""The document of `compare --json`: the metrics of runs compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from rltui.cli.exit_codes import FOUND
from rltui.cli.output.printing import CommandError
from rltui.common.display_text import clean, first_of
from rltui.panes.baseline.comparison import Axis, compare
from rltui.panes.baseline.speed_findings import speed_findings
from rltui.rules.finding import as_json
from rltui.session.run_view import RunView
from rltui.session.session import Session

FIELDS = (
    "canonical", "title", "unit", "tag", "baseline_tag", "value", "baseline", "difference", "percent",
    "spread", "outside", "better",
)  # fmt: skip


def comparison_document(
    logdirs: Sequence[str], session: Session, base: RunView, others: Iterable[RunView], axis: Axis
) -> dict[str, Any]:
    """The document: each of `others` compared with the baseline and with its sister runs."""
    sister_comparisons = session.compare_sisters()
    runs = []
    for view in others:
        found = compare(view, base, axis)
        differences = () if found is None else found.differences
        record: dict[str, object] = {
            "run": view.name,
            "matched": None if found is None else found.matched,  # None: nowhere where both have been
            "metrics": [{name: getattr(each, name) for name in FIELDS} for each in differences],
            "findings": [as_json(finding) for finding in speed_findings(view, base)],
        }
        if (comparison := sister_comparisons.get(view.name)) is not None:
            record["sisters"] = comparison.as_json()
        runs.append(record)
    return {"schema": 1, "logdir": clean(logdirs[0]), "baseline": base.name, "by": axis, "runs": runs}


def baseline_run(session: Session, name: str) -> RunView:
    """The run with this name. Ends the command with 1 if there is none, or more than one."""
    found = session.named(name)
    if len(found) == 1:
        return session.runs[found[0]]
    close = found or get_close_matches(name, session.runs, n=3, cutoff=0.6)
    hint = "; nearest: " if close and not found else "; there are "
    shown = close or sorted(session.runs)
    raise CommandError(f"no single run named {name!r}{hint}{first_of(shown, 5)}", FOUND)
