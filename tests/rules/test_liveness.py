"""Live, stalled or ended, from the run's own intervals of writing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rltui.logs.batch import Batch, Text
from rltui.logs.delivery import Delivery, Source
from rltui.metrics.resolve import MetricNames
from rltui.rules.run_status.measured_pace import measured_pace
from rltui.session.session import Session
from rltui.store.run import Run
from tests.support.runs.evaluators import liveness_of, run_with

HOUR = 3600.0


def timed(
    walls: list[tuple[int, float]],
    *,
    total_steps: int | None = None,
    settings: dict[str, dict[str, Text]] | None = None,
    files: dict[str, float] | None = None,
    **rows: list[tuple[int, float, float]],
) -> Run:
    """A run whose loss was logged at these steps and times; `rows`: (step, time, value) of more tags.

    `files`: when each of its log files was written last.
    """
    run = run_with(walls)
    for tag, points in rows.items():
        steps, times, values = (np.array(column) for column in zip(*points, strict=True))
        batch = Batch.of_doubles((tag,), np.zeros(len(points)), steps, times, values)
        run.apply(Delivery(Source("run", f"{tag}.jsonl", "jsonl"), batch))
    run.sources = {path: Source("run", path, "jsonl", modified=at) for path, at in (files or {}).items()}
    run.total_steps, run.hparams_texts = total_steps, settings or {}
    return run


def steady(gap: float, n: int = 60, first: int = 1) -> list[tuple[int, float]]:
    """A point every `gap` seconds."""
    return [(first + k, 1e9 + gap * k) for k in range(n)]


@pytest.mark.parametrize(
    ("gap", "silent", "state"),
    [
        (1, 120, "live"),  # writers buffer two minutes
        (1, 400, "stalled"),
        (60, 500, "live"),
        (60, 900, "stalled"),
        (1800, 4 * HOUR, "live"),  # half an hour a step: five hours are ten steps
        (1800, 6 * HOUR, "stalled"),
        (1, 7 * 24 * HOUR, "ended"),  # last week's log
        (60, 7 * 24 * HOUR, "ended"),
    ],
)
def test_patience_comes_from_the_cadence(gap: float, silent: float, state: str) -> None:
    """A stall is ten usual gaps, at least five minutes; a very long silence is an end."""
    run = timed(steady(gap))
    found = liveness_of(run, run.last_wall + silent)
    assert found.state == state
    assert found.age == pytest.approx(silent)
    assert found.gap == pytest.approx(gap)


def test_evaluation_pauses_are_no_stall() -> None:
    """A run that evaluates for half an hour every ten steps has not stalled in its next evaluation."""
    walls, now = [], 1e9
    for k in range(60):
        now += 30 if k % 10 else 1800
        walls.append((k, now))
    assert liveness_of(timed(walls), now + 1700).state == "live"


def test_a_run_that_records_its_end_has_ended() -> None:
    """The last planned step, or a tag that is written at the end, means that it has ended."""
    assert liveness_of(timed(steady(1), total_steps=60), 1e9 + 61).state == "ended"
    found = liveness_of(timed(steady(1), **{"train/train_runtime": [(60, 1e9 + 60, 60.0)]}), 1e9 + 61)
    assert (found.state, found.known, found.word) == ("ended", True, "ended")


def test_a_run_continued_after_its_final_record_is_live() -> None:
    """The tag that is written at the end counts only if no later step follows."""
    run = timed(steady(1), **{"train/train_runtime": [(30, 1e9 + 30, 30.0)]})
    assert liveness_of(run, 1e9 + 61).state == "live"


def test_a_state_inferred_from_silence_has_a_question_mark() -> None:
    """A killed run is stalled first, then taken as ended."""
    run = timed(steady(1), total_steps=1000)
    assert liveness_of(run, 1e9 + 60 + 1800).word == "stalled"
    assert liveness_of(run, 1e9 + 60 + 7200).word == "ended?"


def test_a_rest_smaller_than_a_logging_interval_is_no_stall() -> None:
    """Batches seldom divide the plan: silence within one interval of its end means ended."""
    walls = [(512 * k, 1e9 + k) for k in range(1, 79)]
    run = timed(walls, total_steps=40_000)
    assert liveness_of(run, 1e9 + 79).state == "live"
    assert liveness_of(run, 1e9 + 78 + 400).word == "ended?"
    assert liveness_of(timed(walls[:60], total_steps=40_000), 1e9 + 60 + 400).state == "stalled"


SETTINGS = [
    ("hyperparameters", "|param|value|\n|-|-|\n|total_timesteps|60000|\n|seed|1|", 60_000),  # CleanRL
    ("args", '{"max_steps": 500, "learning_rate": 1e-6}', 500),  # Transformers
    ("args", '{"max_steps": -1, "num_train_epochs": 3}', None),
    ("args", '{"max_steps": 1e12}', None),  # ML-Agents: until somebody stops it
    ("args", '{"max_steps": 40}', None),  # already passed: it counts something else
    ("config", "trainer:\n  total_training_steps: 75\n  nnodes: 1", 75),  # veRL
    ("note", "max_steps: 99\nseed: 1", None),
]


@pytest.mark.parametrize(("tag", "body", "total"), SETTINGS)
def test_the_plan_is_read_from_recorded_settings(tag: str, body: str, total: int | None) -> None:
    """Without a total in the log, hyperparameters give progress and remaining time."""
    run = timed(steady(1), settings={"log": {tag: Text(tag, 0, 1e9, "text", body)}})
    found = liveness_of(run, 1e9 + 61)
    assert found.total == total and (found.eta is None) == (total is None)


def test_eta_counts_pauses_and_is_never_negative() -> None:
    """The remaining time follows from the recent pace with its pauses; after the end it is zero."""
    walls, now = [], 1e9
    for k in range(1, 101):
        now += 40 if k % 10 == 0 else 10
        walls.append((k, now))
    found = liveness_of(timed(walls, total_steps=200), now)
    assert found.eta == pytest.approx(100 * 13, rel=0.05)
    assert found.progress == pytest.approx(0.5)
    late = liveness_of(timed(steady(10), total_steps=61), 1e9 + 60 * 10 + 200)
    assert late.eta == 0.0


def test_eta_after_a_resume() -> None:
    """After a resume the pace is that of the present attempt, without the time in between."""
    walls = [*steady(10, 50), *[(k, 1e9 + 50_000 + 10 * (k - 40)) for k in range(40, 80)]]
    found = liveness_of(timed(walls, total_steps=180), walls[-1][1])
    assert found.eta == pytest.approx(1010, rel=0.1)


def test_a_log_without_times_or_points() -> None:
    """There is no time, no age and no estimate."""
    empty = liveness_of(timed([]), 1e9)
    assert (empty.state, empty.age, empty.eta, empty.gap) == ("ended", None, None, None)
    untimed = liveness_of(timed([(k, float("nan")) for k in range(30)], total_steps=100), 1e9)
    assert untimed.state == "ended" and untimed.eta is None


def test_a_clock_ahead_of_ours() -> None:
    """A log from a writer whose clock is ahead has an age of zero."""
    run = timed(steady(10))
    assert liveness_of(run, run.last_wall - 500).age == 0.0


def test_a_stall_names_the_file_that_stopped_first() -> None:
    """Of several files, the one that stopped first is named."""
    last = steady(30)[-1][1]
    files = {"trainer.jsonl": last, "rollout.jsonl": last - 900}
    found = liveness_of(timed(steady(30), files=files), last + 600)
    assert found.state == "stalled" and found.quiet == "rollout.jsonl stopped first"


def test_a_stall_does_not_name_a_file_from_before_the_attempt() -> None:
    """An event file that its process left empty was written last before the first point."""
    first, last = steady(30)[0][1], steady(30)[-1][1]
    files = {"events.1": last, "events.0": first - 20}
    found = liveness_of(timed(steady(30), files=files), last + 600)
    assert (found.state, found.quiet) == ("stalled", "")


def test_a_run_that_passes_its_planned_steps_by_a_part_of_a_rollout_has_ended() -> None:
    """Stable-Baselines3 ends with a whole rollout; of steps far beyond, the setting means something else."""
    for planned, state in ((121_500, "ended"), (90_000, "stalled")):
        body = json.dumps({"total_timesteps": planned})
        settings = {"a": {"config": Text("config", 0, 1e9, "text", body)}}
        walls = [(2048 * k, 1e9 + 30.0 * k) for k in range(1, 61)]  # to 122,880
        found = liveness_of(timed(walls, settings=settings), walls[-1][1] + 600)
        assert found.state == state


@pytest.mark.parametrize(
    ("key", "total"), [("total_steps", 600), ("num_train_steps", 600), ("total_env_steps", None)]
)
def test_hand_written_loops_name_their_planned_steps(key: str, total: int | None) -> None:
    """One that the log has not reached is the plan; environment steps are not the unit of every such log."""
    settings = {"a": {"config": Text("config", 0, 1e9, "text", json.dumps({"train": {key: 600}}))}}
    found = liveness_of(timed(steady(30), settings=settings), steady(30)[-1][1])
    assert found.total == total


def test_a_stall_names_the_phase_that_is_missing() -> None:
    """Generation of step 61 is logged, its reward is not: it hangs there. Times of steps do not count."""

    def phase(last: int, seconds: float, after: float, count: int = 60) -> list[tuple[int, float, float]]:
        return [(step, 1e9 + 60 * step + after, seconds) for step in range(last - count + 1, last + 1)]

    told = {
        "timing_s/gen": phase(61, 9.0, 9),
        "timing_s/reward": phase(60, 3.0, 12),
        "timing_s/update_actor": phase(60, 5.0, 17),
        "timing_s/step": phase(60, 20.0, 20),
        "timing_s/testing": phase(30, 50.0, 55, count=6),
    }
    run = timed(steady(60), **told)
    found = liveness_of(run, run.last_wall + 900, names=MetricNames("verl"))
    assert found.quiet == "timing_s/reward is missing for step 61"
    told |= {"timing_s/reward": phase(61, 3.0, 12), "timing_s/update_actor": phase(61, 5.0, 17)}
    run = timed(steady(60), **told)
    found = liveness_of(run, run.last_wall + 900, names=MetricNames("verl"))
    assert found.quiet == "between steps; the longest phase is generation"
    told["timing_s/agent_loop/slowest/response_length"] = phase(
        61, 8096.0, 17
    )  # tokens, whatever the key says
    run = timed(steady(60), **told)
    found = liveness_of(run, run.last_wall + 900, names=MetricNames("verl"))
    assert found.quiet == "between steps; the longest phase is generation"
    assert liveness_of(run, run.last_wall + 10, names=MetricNames("verl")).quiet == ""
    # Tokens of the slowest sample stand among the times, and are no phase.
    told["timing_s/agent_loop/slowest/response_length"] = phase(61, 8096.0, 9)
    run = timed(steady(60), **told)
    found = liveness_of(run, run.last_wall + 900, names=MetricNames("verl"))
    assert found.quiet == "between steps; the longest phase is generation"


def test_a_log_that_grows_is_live_whatever_its_clock_says() -> None:
    """A replayed recording, or a wrong clock; a copy that does not grow has ended."""
    run, now = Run("run", 512, 512), 2e9

    def write(first: int, modified: float) -> None:
        steps = np.arange(first, first + 20)
        source = Source("run", "m.jsonl", "jsonl", modified=modified, caught_up=True)
        batch = Batch.of_doubles(("loss",), np.zeros(20), steps, 1e9 + steps, steps / 10)
        run.apply(Delivery(source, batch))

    write(0, now - 60)
    assert liveness_of(run, now).state == "ended"
    write(20, now)
    assert (liveness_of(run, now + 10).state, liveness_of(run, now + 10).age) == ("live", 10)
    assert liveness_of(run, now + 400).state == "stalled"


@pytest.mark.parametrize(
    ("points", "file", "planned", "over"),
    [
        (7 * 24 * HOUR, 7 * 24 * HOUR, None, True),
        (7 * 24 * HOUR, 60.0, None, False),  # a copy, or a replay that is being written
        (7 * 24 * HOUR, 2 * HOUR, None, True),
        (400.0, 400.0, None, False),  # stalled
        (60.0, 60.0, 60, True),  # all of its planned steps
        (60.0, 60.0, 90, False),
    ],
)
def test_a_run_is_over_if_neither_points_nor_files_are_recent(
    points: float, file: float, planned: int | None, over: bool
) -> None:
    """Findings on the whole run wait for that; the state alone says `ended` of any log with old points."""
    walls = steady(1)
    now = walls[-1][1] + points
    run = timed(walls, total_steps=planned, files={"metrics.jsonl": now - file})
    assert liveness_of(run, now).over is over


@pytest.mark.parametrize(
    ("points", "created", "written", "over"),
    [
        (7 * 24 * HOUR, 300.0, 299.0, True),  # a copy, seconds ago
        (7 * 24 * HOUR, 60.0, 59.0, False),  # more of it may come
        (7 * 24 * HOUR, 2000.0, 300.0, False),  # a replay, or a large copy
        (0.5 * HOUR, 300.0, 299.0, False),  # a mirror of a run that has stalled
        (7 * 24 * HOUR, 0.0, 300.0, False),  # the file system does not tell
    ],
)
def test_a_copy_that_was_made_at_once_is_over_after_two_minutes(
    points: float, created: float, written: float, over: bool
) -> None:
    """The age of its files says nothing about its run, which had been silent for long when it was made."""
    walls = steady(1)
    now = walls[-1][1] + points
    run = timed(walls)
    at = now - created if created else 0.0
    copy = Source("run", "metrics.jsonl", "jsonl", modified=now - written, created=at)
    run.sources = {"metrics.jsonl": copy, "args.jsonl": copy._replace(path="args.jsonl", created=0.0)}
    assert liveness_of(run, now).over is over


def test_the_time_at_which_a_copied_log_is_over_is_known() -> None:
    """Its state is looked at again when its file is as old as a run that has ended."""
    walls = steady(1)
    now = walls[-1][1] + 7 * 24 * HOUR
    pace = measured_pace(timed(walls, files={"metrics.jsonl": now}))
    change = pace.next_change(now)
    assert not pace.at(change).over and pace.at(change + 1).over
    assert pace.next_change(change + 1) == math.inf


@pytest.mark.parametrize(
    ("created", "total", "word", "age"),
    [
        (601.0, None, "ended?", None),  # a copy
        (3000.0, None, "stalled?", 600.0),  # a log that was written for forty minutes
        (620.0, None, "stalled?", 600.0),  # one that hung after twenty seconds
        (0.0, None, "stalled?", 600.0),  # the file system does not tell
        (601.0, 90, "stalled", 600.0),  # its plan says that it should be live
    ],
)
def test_a_copy_of_a_log_without_times_is_not_called_stalled(
    created: float, total: int | None, word: str, age: float | None
) -> None:
    """Nothing says when its run wrote: the age of the copied file is not shown as that of a point."""
    run, now = timed([(step, math.nan) for step in range(60)], total_steps=total), 2e9
    at = now - created if created else 0.0
    run.sources = {"log.csv": Source("run", "log.csv", "csv", modified=now - 600, created=at)}
    found = liveness_of(run, now)
    assert (found.word, found.age, found.dated) == (word, age, False)
    assert not found.over  # it may be a document that is replaced at each step
    assert liveness_of(run, now - 590).state == "live"


@pytest.mark.parametrize(
    ("name", "line", "total"),
    [
        ("log.jsonl", '{{"episode": {0}, "reward": {0}.5}}\n', None),
        ("log.jsonl", '{{"step": {0}, "reward": {0}.5}}\n', 1000),
        ("train.log", "Episode {0} | Reward: {0}.5\n", None),
        ("train.log", "Step {0} | Reward: {0}.5\n", 1000),
    ],
)
def test_a_plan_of_steps_is_none_for_a_log_of_episodes(
    tmp_path: Path, name: str, line: str, total: int | None
) -> None:
    """A training of 1000 environment steps that ended after 9 episodes has not ended early."""
    (tmp_path / name).write_text("".join(map(line.format, range(1, 10))))
    (tmp_path / "args.json").write_text('{"total_steps": 1000, "seed": 3}')
    view = Session.load([tmp_path]).ordered()[0]
    assert view.pace(2e9).total == total
