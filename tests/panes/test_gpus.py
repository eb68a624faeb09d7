"""The pane system: GPUs as trackers measure them, idle ones named, and in which phase of a step they idle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.panes.answers.accelerators.gpus import gpu_answer
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.step_time.phase_spans import phase_spans
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.pane_report import pane_report
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.markdown import as_markdown
from rltui.session.run_view import RunView
from rltui.session.session import Session
from tests.support.shared import SHARED

START = 1_700_000_000.0
STEP, GENERATION, REWARD = 60.0, 40.0, 5.0  # seconds; the rest is the update of the actor
Point = tuple[str, int, float, float]  # tag, step, wall time, value


def _view(points: Sequence[Point]) -> RunView:
    """A run that was read from one log."""
    tags = {tag: place for place, tag in enumerate(dict.fromkeys(tag for tag, *_ in points))}
    columns = list(zip(*points, strict=True))
    batch = Batch.of_doubles(tuple(tags), [tags[tag] for tag in columns[0]], *columns[1:])
    session = Session()
    session.apply((Delivery(Source("run", "log", "jsonl"), batch),))
    session.evaluate(force=True)
    return session.runs["run"]


def _steps(count: int, *, covered: bool = True) -> list[Point]:
    """Steps of a minute as veRL logs them, with generation at their beginning."""
    found: list[Point] = []
    for step in range(count):
        end = START + STEP * (step + 1)
        times = {"timing_s/gen": GENERATION, "timing_s/reward": REWARD, "timing_s/step": STEP}
        times["timing_s/update_actor"] = STEP - GENERATION - REWARD if covered else 1.0
        times |= {"actor/pg_loss": 0.1, "critic/score/mean": 0.5, "actor/entropy": 1.0}
        found += [(tag, step, end, value) for tag, value in times.items()]
    return found


def _samples(tag: str, count: int, use_of: dict[str, float], gap: float = 5.0) -> list[Point]:
    """Use in percent by phase, sampled every few seconds."""
    found: list[Point] = []
    for at in range(count):
        wall = START + gap * (at + 0.5)
        place = (wall - START) % STEP
        phase = "gen" if place < GENERATION else "reward" if place < GENERATION + REWARD else "update"
        found.append((tag, int((wall - START) // STEP), wall, use_of[phase]))
    return found


def _answer(view: RunView) -> Answer:
    found = gpu_answer(RunValues(view))
    assert found is not None
    return found


def test_idle_time_is_told_by_phase() -> None:
    """Two GPUs of four idle while the others generate: half of the samples of that phase."""
    points = _steps(20)
    for gpu, generates in enumerate((True, True, False, False)):
        use = {"gen": 95.0 if generates else 0.0, "reward": 10.0, "update": 98.0}
        points += _samples(f"system/gpu.{gpu}.gpu", 240, use)
    answer = _answer(_view(points))
    assert "GPUs idle 50 % during generation" in answer.sentence
    assert "48 % used during generation" in [fact.text for fact in answer.facts]
    table = answer.devices
    assert table is not None
    generation = table.phase_titles.index("Generation")
    assert table.phases.count(generation) == pytest.approx(len(table.phases) * GENERATION / STEP, abs=4)
    history, phases = np.array(table.devices[3].history), np.array(table.phases)
    assert np.nanmean(history[phases == generation]) < 0.1
    assert np.nanmean(history[phases == table.phase_titles.index("Actor update")]) > 0.8


def test_phases_that_do_not_make_up_a_step_are_not_laid_out() -> None:
    """Where the rest of a step lies nobody knows; and without wall times nothing is said of phases."""
    points = _samples("system/gpu.0.gpu", 240, {"gen": 0.0, "reward": 0.0, "update": 90.0})
    assert phase_spans(RunValues(_view(_steps(20, covered=False) + points))) is None
    assert "during" not in _answer(_view(_steps(20, covered=False) + points)).sentence
    timeless = [(tag, step, math.nan, value) for tag, step, _, value in _steps(20)]
    assert phase_spans(RunValues(_view(timeless + points))) is None


def test_the_phase_at_a_time() -> None:
    """Generation comes first in a step, the update of the actor last; outside of all steps there is none."""
    spans = phase_spans(RunValues(_view(_steps(3))))
    assert spans is not None
    times = START + np.array([-1.0, 1.0, 39.0, 42.0, 50.0, 61.0, 181.0])
    names = [spans.titles[at] if at >= 0 else "" for at in spans.at(times)]
    assert names == ["", "Generation", "Generation", "Reward", "Actor update", "Generation", ""]


def test_a_gpu_that_stopped_working_is_named() -> None:
    """With how long it has been idle, while others work; two samples of nothing are no idleness."""
    busy = _samples("system/gpu.0.gpu", 60, dict.fromkeys(("gen", "reward", "update"), 80.0), 15.0)
    rest = _samples("system/gpu.1.gpu", 60, dict.fromkeys(("gen", "reward", "update"), 70.0), 15.0)
    stopped = [
        (tag, step, wall, value if at < 40 else 1.0) for at, (tag, step, wall, value) in enumerate(rest)
    ]
    answer = _answer(_view(busy + stopped))
    assert answer.sentence.startswith("GPU 1 has been idle for 4m 45s while the other is 80 % used")
    short = [(*point, value if at < 57 else 1.0) for at, (*point, value) in enumerate(rest)]
    assert "idle for" not in _answer(_view(busy + short)).sentence


@pytest.mark.parametrize(
    ("use", "memory", "title"),
    [
        ("system/gpu.{gpu}.gpu/l:{node}", "system/gpu.{gpu}.memoryAllocated/l:{node}", "n1:0"),
        ("ray/node.{node}.gpu.{gpu}.util", "ray/node.{node}.gpu.{gpu}.mem_gb", "n1:0"),
        ("system/gpu_{gpu}_utilization_percentage", "system/gpu_{gpu}_memory_usage_percentage", "GPU 0"),
        ("system/gpu.{gpu}.ptc", "system/gpu.{gpu}.mem.ptc", "GPU 0"),
        ("system/gpu/{gpu}/utilization", "system/gpu/{gpu}/memoryAllocated", "GPU 0"),
    ],
)
def test_every_tracker_s_gpus_are_told_apart(use: str, memory: str, title: str) -> None:
    """By node and number, beside the metrics of any framework."""
    points = _steps(10)
    for node in ("n1", "n2") if "{node}" in use else ("",):
        for gpu in (0, 1):
            points += [(use.format(gpu=gpu, node=node), at, START + at * 15, 50.0) for at in range(10)]
            points += [(memory.format(gpu=gpu, node=node), at, START + at * 15, 40.0) for at in range(10)]
    view = _view(points)
    assert view.framework == "verl"
    table = _answer(view).devices
    assert table is not None
    assert table.devices[0].title == title
    assert len(table.devices) == (4 if "{node}" in use else 2)
    assert table.devices[0].cells[0].text == "50.0 %"


@pytest.mark.parametrize("gpus", [1, 8, 64, 512])
def test_the_table_fits(gpus: int) -> None:
    """At any width, with a cell for each GPU where there is no room for a line."""
    points = [
        (f"ray/node.n{gpu // 8}.gpu.{gpu % 8}.util", at, START + 15 * at, float(gpu % 100))
        for gpu in range(gpus)
        for at in range(6)
    ]
    answer = _answer(_view(points))
    for width in (20, 40, 80, 140):
        for height in (3, 6, 12, 30):
            lines = answer_lines(answer, width, height)
            assert 1 <= len(lines) <= height
            assert all(line.width <= width for line in lines)
        assert len(answer_lines(answer, width)) >= min(gpus, 8)


def test_throttling_for_any_reason_counts() -> None:
    """Several flags of one GPU are one column."""
    points = [
        (f"system/gpu/0/{name}", at, START + 10 * at, value)
        for at in range(10)
        for name, value in (("utilization", 90.0), ("throttleThermal", 0.0), ("throttlePower", 1.0))
    ]
    table = _answer(_view(points)).devices
    assert table is not None
    assert table.columns == ("use", "throttled")
    assert table.devices[0].cells[1].text == "100.0 %"


@pytest.mark.skipif(not (SHARED / "trackers").is_dir(), reason="the shared logs are not here")
@pytest.mark.parametrize(("name", "gpus"), [("wandb-gpu", 2), ("trackio-closed", 2), ("trackio-inbox", 1)])
def test_recorded_trackers_tell_their_gpus(name: str, gpus: int) -> None:
    """Logs written by the trackers themselves show each of their GPUs, as Markdown, too."""
    session = Session.load([Path(SHARED, "trackers", name)])
    found = [answer for view in session.ordered() if (answer := gpu_answer(RunValues(view))) is not None]
    assert found and found[0].devices is not None
    assert len(found[0].devices.devices) == gpus
    view = next(view for view in session.ordered() if gpu_answer(RunValues(view)) is not None)
    assert "| GPU 0 |" in as_markdown(pane_report(view, "system", view.run.last_wall))
