"""Mistakes in files of rules are reported, and the other entries are used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.common.problem import Problem
from rltui.rules.rule_schema import rule_file
from rltui.rules.rulebook import load
from rltui.schema.toml_files import FileReport

GOOD = """
[[rule]]
id = "good"
metric = ["reward.mean"]
kind = "threshold"
below = 0
severity = "warning"
title = "t"
message = "m"
advice = "a"
"""
METRIC_GROUP = """
[[metric_group]]
id = "reward"
metrics = ["reward.mean", "reward.score.mean"]
unless_logged = { "reward.mean" = "reward.score.mean" }
"""
FAULTS = [
    ("rule = 3", "rule must be a list"),
    ("ruel = []", "ruel is unknown; permitted: at_resume, follows_outcome, gap"),
    ('[[rule]]\nid = "x"\nkind = ["threshold"]', "kind must be one of"),
    (GOOD.replace('"good"', '"x"').replace("below = 0", 'below = "0"'), "below must be a finite number"),
    (GOOD.replace('"good"', '"x"').replace("below = 0", "belwo = 0"), "belwo is unknown; permitted: above"),
    (GOOD.replace('"good"', '"x"').replace("reward.mean", "reward.maen"), "not a metric of the glossary"),
    (GOOD.replace('"good"', '"x"') + "for = true", "for must be a whole number"),
    (GOOD.replace('"good"', '"x"') + 'inhibited_by = ["nobody"]', "'nobody', which is not a rule"),
    (GOOD.replace('"good"', '"x"') + 'pane = "polcy"', "pane must be one of: overview, validation"),
    (GOOD.replace('"good"', '"Bad id"'), "id must be lower-case words"),
    (GOOD, "is already defined in a.toml"),
    (
        '[[symptom]]\nid = "x"\nseverity = "warning"\ntitle = "t"\nmessage = "m"\nall = 3',
        "all must be a list",
    ),
    ('[[rule]]\nid = "x"\nlike = "other"', "like must be the id of an entry"),
    ('[[rule]]\nid = "x"\nlike = ["x"]', "like must be the id of an entry"),
    ('[[group]]\nid = "x"\nrules = ["y"]\n[[group]]\nid = "y"\nrules = ["x"]', "x contains itself"),
    ('[[metric_group]]\nid = "x"\nmetrics = ["reward.maen"]', "not a metric of the glossary"),
    ('[[gap]]\nid = "x"\ntrain = "reward.mean"\nheld_out = "reward.mean"\nabove = "x"', "above must be"),
]


@pytest.mark.parametrize(("text", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_a_mistake_is_reported_and_other_entries_are_used(tmp_path: Path, text: str, words: str) -> None:
    """Each problem names its file, the entry, and what is permitted."""
    (tmp_path / "a.toml").write_text(GOOD)
    (tmp_path / "b.toml").write_text(text)
    book = load(tmp_path)
    assert list(book.rules) == ["good"] or "not a rule" in words or "glossary" in words
    assert any(words in problem.message for problem in book.problems), book.problems
    assert {problem.path for problem in book.problems} <= {"b.toml"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["id", "metric", "kind", "severity", "all", "groups", "above", "applies", "for", "title"]
)


@given(
    st.dictionaries(
        st.sampled_from(["rule", "symptom", "gap", "other"]),
        VALUES | st.lists(st.dictionaries(KEYS, VALUES | st.just("threshold"), max_size=6), max_size=2),
    )
)
def test_no_content_raises(table: dict[str, object]) -> None:
    """Whatever a file contains, the result is entries or problems."""
    problems: list[Problem] = []
    FileReport("a.toml", problems).check(table, rule_file())
    assert all(problem.path == "a.toml" for problem in problems)


def test_a_group_stands_for_its_rules(tmp_path: Path) -> None:
    """Lists of rules and of symptoms may name it, and it is replaced when the files are loaded."""
    (tmp_path / "a.toml").write_text(
        """
[[group]]
id = "both"
rules = ["one", "two"]

[[group]]
id = "one-of-both"
rules = ["both"]

[[rule]]
id = "one"
metric = ["reward.mean"]
kind = "logged"
severity = "recording"

[[rule]]
id = "two"
metric = ["reward.mean"]
kind = "logged"
severity = "recording"
info_when = ["both"]

[[symptom]]
id = "three"
severity = "info"
title = "t"
message = "m"
all = [["both", "one"]]
none = ["two", "one-of-both"]
explains = ["both"]
"""
    )
    book = load(tmp_path)
    assert not book.problems
    assert book.rules["two"].info_when == ("one", "two")
    (symptom,) = book.symptoms
    assert (symptom.all, symptom.none) == ((("one", "two"),), ("two", "one"))
    assert symptom.explains == ("one", "two")


def test_an_entry_has_the_keys_of_the_one_that_it_is_like(tmp_path: Path) -> None:
    """Its own keys count, and those of the other entry for all that it does not set."""
    (tmp_path / "a.toml").write_text('[[rule]]\nid = "higher"\nlike = "good"\nbelow = 3\n' + GOOD)
    book = load(tmp_path)
    assert not book.problems
    assert book.rules["higher"] == book.rules["good"]._replace(id="higher", numbers={"below": 3.0})


def test_a_group_of_metrics_stands_for_them(tmp_path: Path) -> None:
    """A rule on a group is on its metrics, and one metric of a group may count in place of another."""
    (tmp_path / "a.toml").write_text(METRIC_GROUP + GOOD.replace('"reward.mean"', '"reward", "reward.max"'))
    book = load(tmp_path)
    assert not book.problems
    assert book.rules["good"].metrics == ("reward.mean", "reward.score.mean", "reward.max")
    assert book.rules["good"].unless_logged == {"reward.mean": ("reward.score.mean",)}


def _messages(folder: Path, text: str) -> list[str]:
    (folder / "a.toml").write_text(text)
    return [problem.message for problem in load(folder).problems]


def test_a_mistake_is_reported_once_at_its_own_entry(tmp_path: Path) -> None:
    """After an entry like none, a misspelt key has its own line; entries like the faulty one add nothing."""
    faulty = GOOD.replace('"good"', '"faulty"').replace("below = 0", "belwo = 0")
    lost = '[[rule]]\nid = "lost"\nlike = "goood"\n'
    same = '[[rule]]\nid = "same"\nlike = "faulty"\n'
    first, second = _messages(tmp_path, lost + faulty + same)
    assert first.startswith("line 3: rule[lost].like must be the id of an entry")
    assert second.startswith("line 9: rule[faulty].belwo is unknown")


def test_an_entry_like_another_needs_an_id_of_its_own(tmp_path: Path) -> None:
    """It does not take the id of the other one, which would be reported as defined twice."""
    (message,) = _messages(tmp_path, GOOD + '[[rule]]\nlike = "good"\nbelow = 3\n')
    assert "needs 'id'" in message


def test_rules_that_require_each_other_are_reported(tmp_path: Path) -> None:
    """Neither could be evaluated without the other; a rule that only requires one of them is correct."""
    rules = "".join(
        GOOD.replace('"good"', f'"{name}"') + f'requires = ["{required}"]\n'
        for name, required in (("p", "q"), ("q", "p"), ("r", "p"))
    )
    assert _messages(tmp_path, rules) == [
        f"{name} requires itself, directly or by other rules" for name in ("p", "q")
    ]


def test_what_a_rule_says_of_a_metric_counts_before_its_group(tmp_path: Path) -> None:
    """A metric that is named by itself and by a group is evaluated once."""
    own = 'unless_logged = { "reward.mean" = "reward.max" }\n'
    (tmp_path / "a.toml").write_text(
        METRIC_GROUP + GOOD.replace('"reward.mean"', '"reward", "reward.mean"') + own
    )
    rule = load(tmp_path).rules["good"]
    assert rule.metrics == ("reward.mean", "reward.score.mean")
    assert rule.unless_logged == {"reward.mean": ("reward.max",)}


def test_patterns_are_for_what_a_symptom_explains(tmp_path: Path) -> None:
    """In other lists they would match nothing, also where they come from a group."""
    symptom = """
[[group]]
id = "any"
rules = ["go*"]

[[symptom]]
id = "s"
severity = "info"
title = "t"
message = "m"
all = ["good"]
explains = ["any", "goo*"]
"""
    assert not _messages(tmp_path, GOOD + symptom)
    for key in ("inhibited_by", "requires", "info_when", "holds_while"):
        (message,) = _messages(tmp_path, GOOD + f'{key} = ["any"]\n' + symptom)
        assert message == "good names 'go*': patterns are for 'explains' only"
    (message,) = _messages(tmp_path, GOOD + symptom + 'none = ["goo*"]\n')
    assert message == "s names 'goo*': patterns are for 'explains' only"


def test_groups_that_are_wrong_are_reported_and_not_what_names_them(tmp_path: Path) -> None:
    """A group in itself, or a group of metrics in another one, is one mistake each."""
    group = '[[group]]\nid = "x"\nrules = ["x", "good"]\n'
    assert _messages(tmp_path, GOOD + 'inhibited_by = ["x"]\n' + group) == ["x contains itself"]
    groups = """
[[metric_group]]
id = "m"
metrics = ["reward.max", "n"]

[[metric_group]]
id = "n"
metrics = ["reward.mean"]
"""
    rule = GOOD.replace('"reward.mean"', '"m"')
    assert _messages(tmp_path, rule + groups) == ["m names 'n': groups of metrics do not contain groups"]
