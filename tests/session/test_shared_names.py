"""What runs of a session share: names, recognition and rules are found out once; states are a run's own."""

from __future__ import annotations

from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.rules.finding import Finding
from rltui.rules.run_status.liveness_finding import ENDED_EARLY, STALLED, liveness_finding
from rltui.run_context.console.failure_search import ConsoleReport
from rltui.session.session import Session
from rltui.session.shared_metric_names import MAX_REMEMBERED, SharedNames
from tests.support.runs.deliveries import delivery

TAGS = ("actor/entropy", "actor/kl_loss", "actor/pg_clipfrac", "critic/score/mean", "own/metric")


def run_of(name: str, tags: tuple[str, ...] = TAGS, value: float = 0.1) -> Delivery:
    """Thirty steps of a run."""
    rows = [(tag, step, value + step / 1000) for step in range(30) for tag in tags]
    return delivery(rows, run=name, path=f"{name}/metrics.jsonl")


def test_runs_that_log_alike_share_what_is_known_and_nothing_else() -> None:
    """The same names and rules by identity; series, ticks and findings of their own."""
    session = Session(Config())
    session.apply([run_of("one"), run_of("two", value=float("nan")), run_of("three", ("loss", "eval/loss"))])
    session.evaluate(force=True)
    one, two, three = (session.runs[name] for name in ("one", "two", "three"))
    assert one.recognition is two.recognition
    assert one.names is two.names is not three.names
    first, second = one.evaluator.series["actor/entropy"], two.evaluator.series["actor/entropy"]
    assert first.tag_rules is second.tag_rules
    assert first is not second
    assert (first.ticks.n, second.ticks.n, second.ticks.nonfinite_count) == (30, 0, 30)
    assert (one.evaluator.health, two.evaluator.health) == ("ok", "critical")


def test_the_configuration_names_the_framework_of_one_run() -> None:
    """Runs with the same tags are told apart where the user's configuration does so."""
    known = SharedNames(Config(frameworks={"special*": "trl"}))
    assert known.recognise(TAGS, "special-1").framework == "trl"
    assert known.recognise(TAGS, "plain").framework == "verl"


def test_sets_of_tags_are_remembered_within_bounds() -> None:
    """Of runs that all log something else only the newest are remembered; the answers do not change."""
    known = SharedNames(Config())
    answers = [known.recognise((*TAGS, f"own/{number}"), "run") for number in range(2 * MAX_REMEMBERED)]
    assert known._recognised.cache_info().currsize == MAX_REMEMBERED
    assert {answer.label for answer in answers} == {"verl"}
    assert known.recognise((*TAGS, "own/0"), "run") == answers[0]


def test_states_of_many_runs_are_told_in_turns() -> None:
    """A bounded number of runs at each call; after enough calls every run has been looked at."""
    session = Session(Config())
    rows = [("loss", step, 1.0) for step in range(30)]
    session.apply([delivery(rows, run=f"run{n}", path=f"run{n}/metrics.jsonl", wall=1.7e9) for n in range(7)])
    session.evaluate(force=True)
    late = 1.7e9 + 1800  # seconds since 1970: all have stalled
    turns = [session.update_liveness_findings(late, 3) for _ in range(3)]
    assert [len(turn) for turn in turns] == [3, 3, 1]
    assert set().union(*turns) == set(session.runs)
    assert session.update_liveness_findings(late) == set()


def test_a_state_that_changes_is_told_at_the_next_call() -> None:
    """Live, stalled, longer stalled, given up, another last line, live again: as if looked at afresh."""
    session = Session(Config(total_steps={"run": 100}))
    rows = [("loss", step, 1.0) for step in range(30)]
    session.apply([delivery(rows, run="run", wall=1.7e9)])
    session.evaluate(force=True)
    view = session.runs["run"]

    def told(now: float) -> Finding | None:
        session.update_liveness_findings(now)
        found = [one for one in view.evaluator.findings() if one.id in (STALLED, ENDED_EARLY)]
        expected = liveness_finding(view.liveness(now), view.run.last_step, view.last_line)
        assert found == [one for one in (expected,) if one is not None]
        return expected

    last = view.run.last_wall
    silent = [told(last + wait) for wait in (1, 290, 310, 359, 361, 3000, 3590, 3610, 9000, 9e5, 310)]
    assert [one and one.id for one in silent] == [
        None, None, *[STALLED] * 5, ENDED_EARLY, ENDED_EARLY, ENDED_EARLY, STALLED
    ]  # fmt: skip
    view.set_consoles([ConsoleReport("", "train.log", last, 9, last_line="waiting")], last + 9e5)
    ended = told(last + 9e5)
    assert ended is not None and "waiting" in ended.message
    view.set_consoles([ConsoleReport("", "train.log", last, 9, last_line="Training complete.")], last + 9e5)
    assert told(last + 9e5) is None and view.liveness(last + 400).state == "ended"
    session.apply([delivery([("loss", 30, 1.0)], run="run", wall=last + 9e5)])
    assert told(last + 9e5 + 10) is None


def test_a_run_that_is_live_no_more_is_judged_by_all_its_ticks() -> None:
    """A monitor may judge the newest ticks of a live run late, but not those of one that has stalled."""
    last, tags = 1040, [f"own/{number}" for number in range(16)]
    rows = [[(tag, step, 1.0) for tag in tags] for step in range(last)]
    followed, read = Session(Config()), Session(Config())
    read.apply([delivery([row for step in rows for row in step], run="run", wall=1.7e9)])
    read.evaluate(force=True)
    ticks = [each.ticks.serial for each in read.runs["run"].evaluator.series.values()]

    def followed_ticks(now: float) -> list[int]:
        followed.update_liveness_findings(now)
        return [each.ticks.serial for each in followed.runs["run"].evaluator.series.values()]

    for step in rows:
        followed.apply([delivery(step, run="run", wall=1.7e9 + step[0][1])])
        followed.runs["run"].evaluate_held(most=20_000)
        live = followed_ticks(1.7e9 + step[0][1] + 1)
    assert live != ticks and sum(live) > sum(ticks) - len(tags)
    assert followed_ticks(1.7e9 + last + 9e5) == ticks
