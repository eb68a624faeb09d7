"""Tags that count something other than the run's steps, as of an earlier step."""

from __future__ import annotations

import math
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rltui.cli.reading.evaluation import evaluate_runs
from rltui.config import Config
from rltui.panes.answers.accelerators.gpus import gpu_answer
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.distributions import logged_ridges
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.render.plain_text import findings_text
from rltui.panes.rows.row import rows_of
from rltui.screen.input import navigation
from rltui.screen.start import build
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.session.time_travel import RunAtStep
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import write, write_rows
from tests.support.runs.deliveries import delivery
from tests.support.screen.screens import screen_of

ROUNDS, STRIDE, SECONDS = 200, 1_000, 10.0
NOW = tfwriter.WALL + SECONDS * ROUNDS  # while the last point is written
MOMENT = 80_500  # between two points of the run, in round 80


def _session(
    folder: Path,
    tag: str,
    values: Sequence[float],
    counted: int,
    at_step: int | None = None,
    rounds: int = ROUNDS,
) -> Session:
    """A run with a point every 1,000 steps, and a tag that counts rounds, each as `counted`.

    After so many rounds only the tag goes on.
    """
    out = [tfwriter.version()]
    for at, value in enumerate(values, start=1):
        wall = tfwriter.WALL + SECONDS * at
        losses = (tfwriter.simple("train/loss", 1 / at), tfwriter.simple("train/other", 0.3 + at % 3))
        own = (tfwriter.simple(tag, value), tfwriter.histogram_of("weights", [value, value + 1.0]))
        if at <= rounds:
            out.append(tfwriter.event(at * STRIDE, *losses, wall=wall))
        out.append(tfwriter.event(at * counted, *own, wall=wall))
    write(folder / "run" / "events.out.tfevents.1763600000.host.1.0", b"".join(out))
    return Session.load([folder], at_step=at_step)


@pytest.mark.parametrize("counted", [1, 100 * STRIDE])
def test_the_answer_is_of_the_points_that_the_row_shows(tmp_path: Path, counted: int) -> None:
    """As of a step, a success rate over its own count is the same in the sentence as in the row below it."""
    values = [0.05 + 0.0045 * at for at in range(1, ROUNDS + 1)]
    view = _session(tmp_path, "eval/success_rate", values, counted).runs["run"]
    answer = answer_of(view, "validation", MOMENT)
    (row,) = rows_of(view, ["eval/success_rate"], at_step=MOMENT)
    assert answer is not None and row.at_step == 80 * counted
    assert row.value == pytest.approx(values[79]) and row.value_text == "0.410"
    assert answer.sentence == f"Success rate is 0.410 at step {80 * counted:,}, the best so far."


@pytest.mark.parametrize("counted", [1, 100 * STRIDE])
def test_a_log_read_up_to_a_step_ends_there_on_every_axis(tmp_path: Path, counted: int) -> None:
    """`--at-step` between two points of the run shows all rounds up to that step and none after it."""
    values = [0.05 + 0.0045 * at for at in range(1, ROUNDS + 1)]
    view = _session(tmp_path, "eval/success_rate", values, counted, at_step=MOMENT).runs["run"]
    answer = answer_of(view, "validation", MOMENT)
    (row,) = rows_of(view, ["eval/success_rate"], at_step=MOMENT)
    assert row.value_text == "0.410"
    assert answer is not None and f"0.410 at step {80 * counted:,}," in answer.sentence
    assert view.run.series["train/loss"].count == view.run.series["eval/success_rate"].count == 80
    (ridge,) = logged_ridges(RunValues(view, MOMENT), lambda tag: tag == "weights")
    assert ridge.steps[-1][1] == 80 * counted


@pytest.mark.parametrize("counted", [1, 100 * STRIDE])
@pytest.mark.parametrize("at_step", [ROUNDS * STRIDE, 10 * ROUNDS * STRIDE])
def test_the_last_step_and_any_beyond_it_is_now(tmp_path: Path, counted: int, at_step: int) -> None:
    """Ten evaluations of 0 after the last step of training are judged and shown as of that step, too."""
    values = [0.05 + 0.0045 * at if at <= ROUNDS else 0.0 for at in range(1, ROUNDS + 11)]
    whole = _session(tmp_path, "eval/success_rate", values, counted, rounds=ROUNDS).runs["run"]
    cut = Session.load([tmp_path], at_step=at_step).runs["run"]
    found = [one.id for one in whole.evaluator.findings()]
    assert "validation-drop" in found and [one.id for one in cut.evaluator.findings()] == found
    assert [one.id for one in whole.findings_at(at_step).findings] == found
    for view in (whole, cut):
        answer = answer_of(view, "validation", at_step)
        (row,) = rows_of(view, ["eval/success_rate"], at_step=at_step)
        assert row.value == 0.0 and view.run.points == 2 * ROUNDS + len(values)
        assert answer is not None and f"is 0 at step {len(values) * counted:,}" in answer.sentence


@pytest.mark.parametrize("counted", [1, 100 * STRIDE])
def test_before_the_first_step_nothing_of_the_future_is_shown(tmp_path: Path, counted: int) -> None:
    """Rounds 1 to 200 are not there as of step 500 of a run whose first step is 1,000."""
    values = [0.05 + 0.0045 * at for at in range(1, ROUNDS + 1)]
    view = _session(tmp_path, "eval/success_rate", values, counted).runs["run"]
    assert rows_of(view, view.run.series, at_step=STRIDE // 2) == []
    session = Session.load([tmp_path], at_step=STRIDE // 2)
    assert session.runs["run"].run.points == 0 and not session.runs["run"].run.histograms
    assert session.next_steps == {"run": STRIDE}


def test_a_long_run_shows_no_round_of_the_future(tmp_path: Path) -> None:
    """Where old points are held as means only, rounds end at the last of them that was there for certain."""
    rounds = 5_000
    values = [at / rounds for at in range(1, rounds + 1)]
    view = _session(tmp_path, "eval/success_rate", values, 1, rounds=rounds).runs["run"]
    assert view.run.series["eval/success_rate"].exact_from > 2_000
    (row,) = rows_of(view, ["eval/success_rate"], at_step=2_000 * STRIDE)
    assert row.own_axis and row.at_step is not None and 1_950 <= row.at_step <= 2_000
    (row,) = rows_of(
        Session.load([tmp_path], at_step=2_000 * STRIDE).runs["run"],
        ["eval/success_rate"],
        at_step=2_000 * STRIDE,
    )
    assert row.value == pytest.approx(2_000 / rounds)


@pytest.mark.parametrize("held", [50, 300_000])
def test_nothing_is_judged_before_all_is_read(
    tmp_path: Path, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the log, a reward over its own count that crashes later is well as of a step before."""
    for module in ("session", "run_view"):
        monkeypatch.setattr(f"rltui.session.{module}.HELD_POINTS", held)
    values = [0.1 + 0.005 * at if at <= 100 else -7.0 for at in range(1, ROUNDS + 1)]
    _session(tmp_path, "critic/score/mean", values, 1)
    loss = [{"step": at * STRIDE, "train/late": 1 / at, "_timestamp": tfwriter.WALL} for at in range(1, 9)]
    write_rows(tmp_path / "run" / "metrics.jsonl", loss)
    view = Session.load([tmp_path], at_step=MOMENT).runs["run"]
    (verdict,) = evaluate_runs([str(tmp_path)], at_step=MOMENT).verdicts
    for found in (view.evaluator.findings(), verdict.findings):
        assert not [one for one in found if "critic/score/mean" in one.metrics]
    assert view.run.series["critic/score/mean"].last_step == 80


def test_rules_see_no_round_after_the_step(tmp_path: Path) -> None:
    """A reward over its own count that crashes later is well as of a step before the crash."""
    values = [0.1 + 0.005 * at if at <= 100 else -7.0 for at in range(1, ROUNDS + 1)]
    view = _session(tmp_path, "critic/score/mean", values, 1).runs["run"]
    assert any(one.rank and "critic/score/mean" in one.metrics for one in view.evaluator.findings())
    assert not [one for one in view.findings_at(MOMENT).findings if "critic/score/mean" in one.metrics]
    cut = _session(tmp_path, "critic/score/mean", values, 1, at_step=MOMENT).runs["run"]
    assert not [one for one in cut.evaluator.findings() if "critic/score/mean" in one.metrics]


def test_gpus_and_histograms_end_at_the_step(tmp_path: Path) -> None:
    """The use of a GPU and the histograms of weights that are sampled on an axis of their own go along."""
    values = [40.0 if at <= 80 else 90.0 for at in range(1, ROUNDS + 1)]
    view = _session(tmp_path, "system/gpu.0.gpu", values, 1).runs["run"]
    answer = gpu_answer(RunValues(view, MOMENT))
    assert answer is not None and answer.sentence == "The GPU is 40 % used."
    (ridge,) = logged_ridges(RunValues(view, MOMENT), lambda tag: tag == "weights")
    assert ridge.steps[-1][1] == 80
    assert math.isclose(view.run.histograms["weights"].last_wall, tfwriter.WALL + SECONDS * ROUNDS)


@pytest.mark.parametrize(("counted", "since", "age"), [(1, 101, "15m"), (100 * STRIDE, 10_100_000, "15m")])
def test_a_finding_began_when_its_own_tag_was_there(
    tmp_path: Path, counted: int, since: int, age: str
) -> None:
    """A reward over its own count that broke in round 101 of 200 did so 16 minutes ago, wherever told."""
    values = [0.1 + 0.005 * at if at <= 100 else -7.0 for at in range(1, ROUNDS + 1)]
    session = _session(tmp_path, "critic/score/mean", values, counted)
    (view,) = session.runs.values()
    for lines in (_written(view), _findings_of(session)):
        assert f"since step {since:,}, {age} ago" in "\n".join(lines)


def test_the_console_of_a_finding_is_shown_at_its_own_time(tmp_path: Path) -> None:
    """From a reward that broke in round 101 the key for the console goes to when that round was logged."""
    values = [0.1 + 0.005 * at if at <= 100 else -7.0 for at in range(1, ROUNDS + 1)]
    session = _session(tmp_path, "critic/score/mean", values, 100 * STRIDE)
    screen = screen_of(build(session, ["/logs"], clock=lambda: NOW, theme="night"))
    screen.go("findings")
    navigation.turn_to_console(screen.state)
    wanted = screen.state.console.wanted
    assert wanted is not None and wanted.wall_time == tfwriter.WALL + SECONDS * 101


def test_without_a_time_at_the_onset_no_age_is_told(tmp_path: Path) -> None:
    """Where the tag of a finding has no time at its onset, that of another tag at that step is not told."""
    values = [0.1 + 0.005 * at if at <= 100 else -7.0 for at in range(1, ROUNDS + 1)]
    rows = [{"step": at * STRIDE, "critic/score/mean": value} for at, value in enumerate(values, start=1)]
    write_rows(tmp_path / "run" / "metrics.jsonl", rows)
    session = _session(tmp_path, "eval/other", [0.5] * ROUNDS, 1)
    (view,) = session.runs.values()
    assert view.liveness(NOW).state == "live"
    lines = [one for one in [*_findings_of(session), *_written(view)] if "since step 101,000" in one]
    assert len(lines) > 2 and "ago" not in "".join(lines)


def _written(view: RunView) -> list[str]:
    """Its findings as text."""
    return [one.text for one in findings_text(view, NOW, 120)]


def _findings_of(session: Session) -> list[str]:
    """The page of findings."""
    screen = screen_of(build(session, ["/logs"], clock=lambda: NOW, theme="night"))
    screen.go("findings")
    return screen.text(120, 60).splitlines()[3:]


@pytest.mark.parametrize(
    ("rounds", "own"), [(range(33, 200, 33), True), (range(1, 7), False), ((60,), False)]
)
def test_few_epochs_have_an_axis_of_their_own(tmp_path: Path, rounds: Sequence[int], own: bool) -> None:
    """Six epochs over the time of a run are no upright line at its first step; a warm-up at its start is."""
    out = [tfwriter.version()]
    for at in range(1, ROUNDS + 1):
        wall = tfwriter.WALL + SECONDS * at
        out.append(tfwriter.event(at * STRIDE, tfwriter.simple("train/loss", 1 / at), wall=wall))
        if at in rounds:
            epoch = list(rounds).index(at) + 1
            out.append(tfwriter.event(epoch, tfwriter.simple("info/update_step", 250.0 * epoch), wall=wall))
    write(tmp_path / "run" / "events.out.tfevents.1763600000.host.1.0", b"".join(out))
    view = Session.load([tmp_path]).runs["run"]
    (row,) = rows_of(view, ["info/update_step"])
    assert row.own_axis is own


def test_the_last_step_of_a_run_of_many_tags_is_found_once(tmp_path: Path) -> None:
    """A frame at the last step asks for the run as of it several times: its tags are read only once."""
    rows = [{"step": step, **{f"own/{at}": 1.0 for at in range(1_000)}} for step in range(3)]
    write_rows(tmp_path / "metrics.jsonl", rows)
    run = Session.load([tmp_path]).ordered()[0].run

    def shortest(ask: Callable[[], object]) -> float:
        return min(timeit.repeat(ask, number=1, repeat=30))

    of_tags = shortest(lambda: [series.last_step for series in run.series.values()])
    assert RunAtStep(run, 2).at_step is None and RunAtStep(run, 1).at_step == 1
    assert shortest(lambda: RunAtStep(run, 2)) < of_tags / 4


def test_a_run_that_goes_on_has_a_later_last_step() -> None:
    """What was its last step is an earlier one as soon as a tag that counts its steps is beyond it."""
    session = Session(Config())
    session.apply([delivery([("loss", step, 1.0) for step in range(30)])])
    run = session.ordered()[0].run
    assert RunAtStep(run, 29).at_step is None
    session.apply([delivery([("loss", step, 1.0) for step in range(30, 40)])])
    assert RunAtStep(run, 29).at_step == 29 and RunAtStep(run, 39).at_step is None
