"""Spans of steps beside logs: read whole or torn, drawn as a chart of one step."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rltui.panes.answers.answer_inputs import AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans, Span
from rltui.run_context.spans.span_files import spans_near
from rltui.run_context.spans.span_lines import KEPT_STEPS, parse
from tests.support.logs.live_logs import write_rows
from tests.support.runs.pane_answers import run

STEP = {
    "step": 3,
    "spans": [{"name": "eval", "start": 10.0, "end": 11.5}, {"name": "train", "start": 11.5, "end": 19.0}],
}


def test_a_step_with_its_spans() -> None:
    """Times are counted from the first span of the step, whatever clock they are of."""
    assert parse([json.dumps(STEP).encode()]) == {3: (Span("eval", 0.0, 1.5), Span("train", 1.5, 9.0))}


def test_both_spellings_of_edges_and_single_spans() -> None:
    """Wall times and lines of one span each are understood as well."""
    lines = [
        {"step": 1, "spans": [{"name": "a", "duration": 1.5, "wall_start": 0.0, "wall_end": 1.5}]},
        {"step": 2, "name": "b", "start_time": 5.0, "end_time": 6.0, "wall_start": 90.0, "wall_end": 91.0},
        {"step": 2, "name": "c", "start_time": 5.0, "end_time": 7.0, "wall_start": 90.0, "wall_end": 92.0},
    ]
    found = parse([json.dumps(one).encode() for one in lines])
    assert {step: [span.name for span in spans] for step, spans in found.items()} == {1: ["a"], 2: ["c", "b"]}


@given(st.lists(st.binary(max_size=60) | st.just(json.dumps(STEP).encode()), max_size=8))
def test_foreign_and_torn_lines_are_left_out(lines: list[bytes]) -> None:
    """Nothing is raised, and no span ends before it begins."""
    for spans in parse(lines).values():
        assert all(0 <= span.begin <= span.end for span in spans)


def test_the_newest_steps_beside_a_log(tmp_path: Path) -> None:
    """The file lies beside the log; of a long one the newest steps are kept."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    path = tmp_path / "run" / "timing_spans.jsonl"
    write_rows(path, [{**STEP, "step": step} for step in range(200)])
    found = spans_near(["run/metrics.jsonl"], [tmp_path])
    assert list(found.by_step) == list(range(200 - KEPT_STEPS, 200))
    assert spans_near(["run/metrics.jsonl"], [tmp_path], found) is found
    path.unlink()
    assert spans_near(["run/metrics.jsonl"], [tmp_path]) is NO_SPANS


def test_the_chart_of_a_step() -> None:
    """Rows stand in the order in which they begin; the answer names the longest, at an earlier step, too."""
    spans = parse([json.dumps({**STEP, "step": step}).encode() for step in (3, 4, 5)])
    view = run({"timing_s/step": 10.0, "timing_s/gen": 6.0})
    found = answer_of(view, "timing", None, AnswerInputs(spans=LoggedSpans(spans)))
    assert found is not None and found.gantt is not None
    assert (found.gantt.step, [row.title for row in found.gantt.rows]) == (5, ["eval", "train"])
    assert found.notes[-1] == "Spans of step 5 are train 7.50 s; eval 1.50 s"
    earlier = answer_of(view, "timing", 3, AnswerInputs(spans=LoggedSpans(spans)))
    assert earlier is not None and earlier.gantt is not None and earlier.gantt.step == 3
    text = [line.text for line in answer_lines(found, 80)]
    train = next(line for line in text if line.startswith(" train"))
    assert train.index("█") > next(line for line in text if line.startswith(" eval")).rindex("█") - 1
    alone = answer_of(run({}), "timing", None, AnswerInputs(spans=LoggedSpans(spans)))
    assert alone is not None and alone.sentence.startswith("Spans of step 5")


def test_many_names_leave_out_the_shortest() -> None:
    """A chart keeps to its lines and says how many names it left out."""
    many = [{"name": f"phase {at}", "start": 0, "end": at + 1} for at in range(40)]
    spans = LoggedSpans(parse([json.dumps({"step": 1, "spans": many}).encode()]))
    found = answer_of(run({}), "timing", None, AnswerInputs(spans=spans))
    assert found is not None
    for height in (10, 20, None):
        lines = answer_lines(found, 100, height)
        assert height is None or len(lines) <= height
    assert any("28 shorter ones left out" in line.text for line in lines)
