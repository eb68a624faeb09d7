"""Tables of panes and rules name metrics that exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import pytest

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.panes import unknown_metrics as module
from rltui.panes.unknown_metrics import unknown_metrics
from rltui.schema.metric import MetricReference, metric_references


def test_every_metric_that_a_table_names_is_in_the_glossary() -> None:
    """A metric that no log can have would be an answer, a card or a comparison that is never shown."""
    assert unknown_metrics() == ()


def test_a_metric_that_was_renamed_is_a_problem_of_each_table_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The problem names the file and the id."""
    known = glossary()
    metrics = {id_: each for id_, each in known.metrics.items() if id_ != "policy.entropy"}
    monkeypatch.setattr(module, "glossary", lambda: known._replace(metrics=metrics))
    found = unknown_metrics()
    assert {problem.path for problem in found} == {
        "answer_metrics.toml",
        "overview.toml",
        "run_findings.toml",
    }
    assert all("'policy.entropy'" in problem.text for problem in found)


class Line(NamedTuple):
    first: MetricReference
    title: str
    plain: Annotated[str, "no field"] = "policy.loss"
    second: MetricReference = ""
    nested: Mapping[MetricReference, tuple[MetricReference, ...]] = {}


def test_references_are_found_in_tables_lists_and_keys() -> None:
    """Only what is declared as one is a reference, and an empty one is none."""
    line = Line("a.b", "c.d", nested={"e.f": ("g.h", "i.j")})
    assert [*metric_references(tuple[Line, ...], (line,))] == ["a.b", "e.f", "g.h", "i.j"]
