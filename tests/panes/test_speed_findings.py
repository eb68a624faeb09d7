"""What of a run's speed is worse than the baseline's: dated findings that join the others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.metrics.glossary_files import glossary
from rltui.panes.baseline.speed_findings import SpeedRule, speed_findings, speed_rules
from rltui.rules.rulebook import rulebook
from rltui.session.run_view import RunView
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.runs.deliveries import delivery
from tests.support.runs.pane_answers import NOW, VERL, run
from tests.support.runs.window_language import values
from tests.support.screen.screens import Screen

TAGS = {"perf.throughput": "perf/throughput", "timing.step": "timing_s/step"}
CASES = [
    pytest.param(rule, example, expected, id=f"{rule.id}-{'fires' if expected else 'quiet'}-{number}")
    for rule in speed_rules()
    for expected, examples in ((True, rule.fires), (False, rule.quiet))
    for number, example in enumerate(examples)
]


def logged(tag: str, text: str, **others: object) -> RunView:
    """A run of one quantity of speed."""
    numbers = values(text).tolist()
    return run({tag: numbers, **others}, steps=len(numbers))


def ids(view: RunView, baseline: RunView) -> list[str]:
    """The rules that fire."""
    return [one.id for one in speed_findings(view, baseline)]


@pytest.mark.parametrize(("rule", "example", "expected"), CASES)
def test_a_rule_keeps_its_examples(rule: SpeedRule, example: str, expected: bool) -> None:
    """What the data file says is true: these pairs of runs fire, those stay quiet."""
    mine, _, theirs = example.partition("/")
    tag = TAGS[rule.metric[0]]
    assert ids(logged(tag, mine), logged(tag, theirs)) == ([rule.id] if expected else [])


def test_the_table_speaks_of_known_metrics_and_own_rules() -> None:
    """Ids are those of no other rule, metrics are in the glossary, limits have a reason."""
    for rule in speed_rules():
        assert rule.id not in rulebook().rules
        assert {*rule.metric, *rule.check_next, *rule.explained_by} <= set(glossary().metrics)
        assert rule.source and rule.times < rule.warning_times


def test_the_finding_says_since_when_and_how_much() -> None:
    """It dates from the stretch in which the run became slower, and half of the speed is a warning."""
    base = logged("perf/throughput", "1000~10*120")
    (found,) = speed_findings(logged("perf/throughput", "1000~10*60 480~10*60"), base)
    assert 55 <= found.since_step <= 65
    assert (found.severity, found.pane, found.metrics) == ("warning", "perf", ("perf/throughput",))
    assert "52 % below the baseline's" in found.message
    (milder,) = speed_findings(logged("perf/throughput", "800~10*120"), base)
    assert milder.severity == "info"


def test_longer_answers_explain_longer_steps() -> None:
    """A step that takes longer for more tokens is no slower machine."""
    base = logged("timing_s/step", "10~0.1*120", **{"perf/total_num_tokens": 1000.0})
    longer = logged("timing_s/step", "15~0.1*120", **{"perf/total_num_tokens": 1500.0})
    slower = logged("timing_s/step", "15~0.1*120", **{"perf/total_num_tokens": 1000.0})
    assert ids(longer, base) == []
    assert ids(slower, base) == ["step-above-baseline"]


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.01, 0.3), st.integers(10, 300))
def test_a_run_like_its_baseline_is_quiet(seed: int, noise: float, steps: int) -> None:
    """Two runs of one distribution never fire, however noisy and long."""
    rng = np.random.default_rng(seed)
    mine, theirs = (1000 * np.exp(rng.normal(0, noise, steps)) for _ in range(2))
    made = [run({"perf/throughput": one.tolist()}, steps=steps) for one in (mine, theirs)]
    assert ids(*made) == []


def two_runs() -> Screen:
    """A slow run and its baseline."""
    session = Session()
    for name, speed in (("slow", 600.0), ("base", 1000.0)):
        rows = [(tag, step, value) for step in range(120)
                for tag, value in {**VERL, "perf/throughput": speed + step % 5}.items()]  # fmt: skip
        session.apply((delivery(rows, wall=NOW - 1000, run=name),))
    session.evaluate(force=True)
    made = Screen(session)
    made.set_clock(lambda: NOW)
    made.choose_run("slow")
    return made


def test_it_joins_the_findings_while_there_is_a_baseline() -> None:
    """It stands among the findings, marks its row and its tab, and is gone with the baseline."""
    made = two_runs()
    assert "below the baseline" not in made.text(140, 45)
    made.do("baseline", "base")
    made.go("findings")
    assert "40 % below the baseline's" in made.text(140, 45)
    made.go("perf")
    assert "40 % below the baseline · since step" in made.text(140, 45)
    made.choose_run("base")
    assert "below the baseline" not in made.text(140, 45)
    made.choose_run("slow")
    made.do("baseline", "")
    made.go("findings")
    assert "below the baseline" not in made.text(140, 45)


def test_compare_tells_it_as_well(tmp_path: Path) -> None:
    """`rltui compare` says it in words and in JSON."""
    for name, speed in (("slow", 600.0), ("base", 1000.0)):
        rows = ({"step": at, **VERL, "perf/throughput": speed + at % 5} for at in range(120))
        write_rows(tmp_path / name / "metrics.jsonl", rows)
    command = ("compare", tmp_path, "--baseline", "base")
    text = rltui(*command).out
    assert "40 % below the baseline's" in text and "since step" in text
    document = json.loads(rltui(*command, "--json").out)
    assert [one["id"] for one in document["runs"][0]["findings"]] == ["throughput-below-baseline"]
