"""Traces of torch, timelines of Ray and of Telescope beside a log: found, read in bounds, drawn by step."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.panes.answers.answer import Gantt
from rltui.panes.answers.answer_inputs import AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.run_context.spans import chrome_trace, span_files, telescope_events
from rltui.run_context.spans.chrome_trace import ChromeTrace
from rltui.run_context.spans.logged_spans import LoggedSpans
from rltui.run_context.spans.span_files import spans_near
from tests.support.runs.pane_answers import NOW, run
from tests.support.runs.traces import Timed, ray_timeline, torch_trace
from tests.support.runs.traces import telescope_events as archive

BASE = 1_712_000_000.0
FORWARD: list[Timed] = [("forward", BASE + 1, BASE + 3), ("backward", BASE + 3, BASE + 8)]
SPANS = st.lists(
    st.tuples(st.sampled_from(["forward", "backward", "a b"]), st.floats(0, 100), st.floats(0, 100)).map(
        lambda one: (one[0], BASE + min(one[1:]), BASE + max(one[1:]))
    ),
    max_size=12,
)


def parse(data: bytes, piece: int = 1 << 20) -> LoggedSpans:
    """A trace given in pieces of so many bytes."""
    trace = ChromeTrace()
    for at in range(0, len(data), piece):
        trace.feed(data[at : at + piece])
    return trace.close("trace.json")


def names(found: LoggedSpans) -> list[str]:
    """The names of the spans in their order."""
    return [span.name for span in found.timed]


def chart(found: LoggedSpans, at_step: int | None = None) -> Gantt | None:
    """The chart of a run of 10 s steps that ends at the moment of the tests."""
    answer = answer_of(run({"timing_s/step": 10.0}), "timing", at_step, AnswerInputs(spans=found))
    assert answer is not None
    return answer.gantt


def test_annotations_of_torch_are_read_and_operators_are_not() -> None:
    """Times are seconds since 1970, those of the profiler's own steps stand apart."""
    found = parse(torch_trace([*FORWARD, ("ProfilerStep#4", BASE, BASE + 9)], BASE))
    assert names(found) == ["forward", "backward"]
    assert found.timed[0].begin == pytest.approx(BASE + 1, abs=1e-3)
    assert found.timed[1].end == pytest.approx(BASE + 8, abs=1e-3)
    assert [span.name for span in found.profiled] == ["profiler step 4"]


def test_tasks_of_ray_are_named_and_their_parts_left_out() -> None:
    """Of a task and its parts the task is told, by the name of its function."""
    found = parse(ray_timeline([("WorkerDict.generate", BASE, BASE + 4), ("reward", BASE + 4, BASE + 5)]))
    assert names(found) == ["WorkerDict.generate", "reward"]
    others = ray_timeline([("f", BASE, BASE + 4)]).replace(b"task::f", b"submit_task")
    assert len(parse(others).timed) == 4


@given(SPANS, st.booleans(), st.integers(1, 3000))
def test_any_cut_of_a_trace_gives_the_same_spans(spans: list[Timed], ray: bool, piece: int) -> None:
    """How its bytes arrive changes nothing."""
    data = ray_timeline(spans) if ray else torch_trace(spans, BASE)
    assert parse(data, piece).timed == parse(data).timed
    assert len(parse(data).timed) == len(spans)


@given(SPANS, st.booleans(), st.floats(0, 1))
def test_a_torn_trace_gives_its_first_spans(spans: list[Timed], ray: bool, share: float) -> None:
    """Nothing is raised and nothing made up when the file ends anywhere."""
    data = ray_timeline(spans) if ray else torch_trace(spans, BASE)
    found, whole = parse(data[: int(share * len(data))]), parse(data)
    # Until it ends, a task may be known by its parts alone: of the same times, under their own names.
    parts = ("task:deserialize_arguments", "task:execute", "task:store_outputs")
    known = {(span.name, span.begin, span.end) for span in whole.timed}
    if ray:
        known |= {(part, begin, end) for _, begin, end in known for part in parts}
    assert {(span.name, span.begin, span.end) for span in found.timed} <= known


@given(st.binary(max_size=400))
def test_foreign_bytes_are_no_trace(data: bytes) -> None:
    """Whatever a file of such a name holds, reading it ends without an error."""
    assert parse(data, 7).timed == () or b"ph" in data


def test_large_traces_are_read_in_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest spans are kept, only so many bytes are read, and both are said."""
    monkeypatch.setattr(chrome_trace, "MAX_SPANS", 10)
    monkeypatch.setattr(span_files, "EVENTS_LIMIT", 100_000)
    monkeypatch.setattr(span_files, "PIECE", 10_000)
    many = [(f"f{at}", BASE, BASE + 1 + at / 1000) for at in range(1000)]
    (tmp_path / "timeline.json").write_bytes(ray_timeline(many))
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    found = spans_near(["metrics.jsonl"], [tmp_path])
    assert 0 < len(found.timed) <= 20
    assert [note.partition(" ")[2] for note in found.notes] == [
        note.partition(" ")[2] for note in found.notes if "left out" in note or "are read" in note
    ]
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    "place", ["trace_0.json", "profile/rank0.pt.trace.json.gz", "traces/trace_0.json.gz"]
)
def test_traces_are_found_beside_the_log(tmp_path: Path, place: str) -> None:
    """In the folder of the log or in one that is named for them, packed or not; of ranks the first."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    for rank in (1, 0):
        path = tmp_path / place.replace("0", str(rank), 1)
        path.parent.mkdir(exist_ok=True)
        data = torch_trace([(f"rank {rank}", BASE, BASE + 1)], BASE)
        path.write_bytes(gzip.compress(data) if place.endswith("gz") else data)
    found = spans_near(["metrics.jsonl"], [tmp_path])
    assert names(found) == ["rank 0"]
    assert found.source == Path(place).name
    assert spans_near(["metrics.jsonl"], [tmp_path], found) is found


def test_a_torn_packed_trace_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """A profiler that is killed while it packs leaves what it wrote."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    data = torch_trace([(f"part {at}", BASE + at, BASE + at + 1) for at in range(5000)], BASE)
    packed = gzip.compress(data)
    (tmp_path / "trace_0.json.gz").write_bytes(packed[: len(packed) // 2])
    assert 100 < len(spans_near(["metrics.jsonl"], [tmp_path]).timed) < 5000
    (tmp_path / "trace_0.json.gz").write_bytes(b"\x1f\x8b" + bytes(99))
    assert not spans_near(["metrics.jsonl"], [tmp_path])


def test_a_trace_is_cut_into_steps_by_the_wall_times_of_the_log() -> None:
    """The chart is of a step of the run where the clocks agree, clipped to it."""
    view = run({"timing_s/step": 1.0})
    walls = view.run.series["timing_s/step"].recent().wall_time
    gap = float(walls[1] - walls[0])
    spans = [(name, float(wall) - gap * begin, float(wall) - gap * end)
             for wall in walls for name, begin, end in (("gen", 0.9, 0.4), ("train", 0.4, 0.1))]  # fmt: skip
    around = ("main", float(walls[0]) - 100, float(walls[-1]) + 100)
    found = parse(ray_timeline([*spans, around]))
    answer = answer_of(view, "timing", None, AnswerInputs(spans=found))
    assert answer is not None and answer.gantt is not None
    assert (answer.gantt.step, answer.gantt.title) == (59, "step 59")
    assert [row.title for row in answer.gantt.rows] == ["gen", "train"]
    assert [row.seconds / gap for row in answer.gantt.rows] == pytest.approx([0.5, 0.3], abs=0.01)
    earlier = answer_of(view, "timing", 40, AnswerInputs(spans=found))
    assert earlier is not None and earlier.gantt is not None and earlier.gantt.step == 40


def test_a_trace_of_another_time_is_shown_by_the_profilers_steps() -> None:
    """Where no step of the log lies in the trace, the profiler's own last step is told, else all of it."""
    steps = [("ProfilerStep#1", BASE, BASE + 4), ("ProfilerStep#2", BASE + 4, BASE + 9)]
    found = chart(parse(torch_trace([*FORWARD, *steps], BASE)))
    assert found is not None and (found.step, found.title) == (None, "profiler step 2")
    assert [row.title for row in found.rows] == ["backward"]
    found = chart(parse(torch_trace(FORWARD, BASE)))
    assert found is not None and found.title == "the whole trace"
    assert chart(parse(torch_trace(FORWARD, BASE)), at_step=20) is None


@given(SPANS)
def test_rows_of_a_chart_are_never_longer_than_the_step(spans: list[Timed]) -> None:
    """Spans of one name that run at the same time count once; bars lie apart within the step."""
    found = chart(parse(torch_trace(spans, BASE)))
    if found is None:
        return
    for row in found.rows:
        assert 0 <= row.seconds <= found.seconds * (1 + 1e-9)
        assert row.seconds == pytest.approx(sum(end - begin for begin, end in row.spans))
        edges = [edge for one in row.spans for edge in one]
        assert edges == sorted(edges)
        assert all(-1e-6 <= edge <= found.seconds + 1e-6 for edge in edges)


def test_the_timeline_of_telescope(tmp_path: Path) -> None:
    """Its tables lie in W&B's folder of the run: what the first rank did, and what ran at the same time."""
    data = archive(
        [("forward", 3, NOW, NOW + 2, 0), ("backward", 3, NOW + 2, NOW + 5, 0),
         ("forward/attn", 3, NOW, NOW + 1, 1), ("forward", 4, NOW + 9, NOW + 12, 0)],
        [("generation", 1, NOW - 5, NOW + 1), ("generation", 2, NOW + 0.5, NOW + 3),
         ("reward", 1, NOW + 4, NOW + 4.5)],
        [(3, NOW + 3, NOW + 3.5)],
    )  # fmt: skip
    folder = tmp_path / "wandb" / "run-1" / "files" / "events"
    folder.mkdir(parents=True)
    (folder / "block_live.zip").write_bytes(data)
    (tmp_path / "wandb" / "run-1" / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    found = spans_near(["wandb/run-1/metrics.jsonl"], [tmp_path])
    assert list(found.by_step) == [3, 4]
    assert [(span.name, span.begin, span.end) for span in found.by_step[3]] == [
        ("generation", 0.0, 3.0), ("forward", 0.0, 2.0), ("backward", 2.0, 5.0), ("weight_sync", 3.0, 3.5),
        ("reward", 4.0, 4.5),
    ]  # fmt: skip


def test_damaged_tables_of_telescope_are_told() -> None:
    """A table that cannot be read is named; an archive that is torn gives nothing."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("trainer.parquet", b"not a table")
    found = telescope_events.parse(io.BytesIO(out.getvalue()), "tail.zip")
    assert not found and found.notes == ("trainer.parquet cannot be read",)
