"""What runs of a session share: names, recognition and rules are found out once; states are a run's own."""

from __future__ import annotations

from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.session.session import Session
from rltui.session.shared_metric_names import KEPT, SharedNames
from tests.support.feeding import delivery

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
    assert first.plan is second.plan
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
    answers = [known.recognise((*TAGS, f"own/{number}"), "run") for number in range(2 * KEPT)]
    assert len(known._recognised) == KEPT
    assert {answer.label for answer in answers} == {"verl"}
    assert known.recognise((*TAGS, "own/0"), "run") == answers[0]


def test_states_of_many_runs_are_told_in_turns() -> None:
    """A bounded number of runs at each call; after enough calls every run has been looked at."""
    session = Session(Config())
    rows = [("loss", step, 1.0) for step in range(30)]
    session.apply([delivery(rows, run=f"run{n}", path=f"run{n}/metrics.jsonl", wall=1.7e9) for n in range(7)])
    session.evaluate(force=True)
    late = 1.7e9 + 1800  # seconds since 1970: all have stalled
    turns = [session.tell_states(late, 3) for _ in range(3)]
    assert [len(turn) for turn in turns] == [3, 3, 1]
    assert set().union(*turns) == set(session.runs)
    assert session.tell_states(late) == set()
