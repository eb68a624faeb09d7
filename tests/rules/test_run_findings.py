"""Findings about a run as a whole are entries of a table."""

from __future__ import annotations

import re
import tomllib

import pytest

from rltui.metrics.glossary_files import general_panes, glossary
from rltui.rules.run_status.run_findings import RunFindings, run_finding, run_findings
from rltui.schema.fields import field_of
from rltui.schema.toml_files import DATA

NAMES = re.compile(r"\{(\w+)\}")


def test_entries_are_of_panes_that_exist_and_not_of_rules() -> None:
    """A pane that is not there would open nothing, and an id names one thing."""
    from rltui.rules.rulebook import rulebook

    panes = {pane.id for pane in glossary().panes} | set(general_panes())
    book = rulebook()
    ids = {*book.rules, *book.joint_conditions, *(symptom.id for symptom in book.symptoms)}
    for key, entry in run_findings().finding.items():
        assert entry.pane in panes, key
        assert key.startswith(entry.id) and entry.id not in ids, key


@pytest.mark.parametrize("key", run_findings().finding)
def test_names_in_braces_are_filled_in(key: str) -> None:
    """What a program or a user named is inserted as it is, even with braces; what is missing is a mistake."""
    entry = run_findings().finding[key]
    names = NAMES.findall(entry.title + entry.message)
    made = run_finding(key, 7, **dict.fromkeys(names, "{x}"))
    assert (made.id, made.since_step, made.pane) == (entry.id, 7, entry.pane)
    assert made.message == NAMES.sub("{x}", entry.message)
    if names:
        with pytest.raises(KeyError):
            run_finding(key, 7)


@pytest.mark.parametrize(
    ("before", "after"),
    [("ratio = 1.1", "ratio = -1"), ('pane = "reward"', ""), ("steps = 20", "stepps = 20")],
)
def test_a_mistake_in_the_table_is_told(before: str, after: str) -> None:
    """The schema refuses negative limits, missing texts and unknown keys."""
    text = (DATA / "run_findings.toml").read_text()
    assert before in text
    told: list[str] = []
    field_of(RunFindings).check(
        tomllib.loads(text.replace(before, after)), (), lambda _, message: told.append(message)
    )
    assert told
