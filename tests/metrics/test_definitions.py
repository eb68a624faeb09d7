"""Terms and the table of problems: found by many names, leading to metrics and rules that there are."""

from __future__ import annotations

import pytest

from rltui.metrics.definitions import definitions, plain
from rltui.metrics.explain_key import explain, nearest
from rltui.metrics.glossary_files import glossary
from rltui.panes.explanations import finding_explanation
from rltui.rules.rulebook import rulebook


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gae", "gae"), ("GAE", "gae"), ("Generalized Advantage Estimation", "gae"), ("policy", "policy"),
        ("Value Function", "value-function"), ("value_function", "value-function"),
        ("V(s)", "value-function"),
        ("advantage", "advantage"),
        ("return", "return"), ("entropy", "entropy"),
        ("KL", "kl-divergence"),
        ("KL divergence", "kl-divergence"), ("clipping", "clipping"),
        ("explained variance", "explained-variance"),
        ("Reward crashes", "reward-crashes"), ("kl-spikes", "kl-spikes"),
        ("OOM", "out-of-memory"), ("nonsense", None),
        ("eval stalls but reward rises", "eval-stalls"), ("under-training", "nothing-learnt"),
        ("NaN", "not-a-number"), ("exploding gradients", "gradients-explode"),
        ("low MFU", "accelerators-wait"),
        ("margins increase but validation does not", "over-fitting-pairs"), ("stragglers", "straggler"),
        ("load balancing", "load-balance"), ("pass@k", "pass-at-k"), ("PPO", "ppo"),
        ("sparse reward", "sparse-reward"),
        ("stalled?", "run-state"), ("sister runs", "sister-runs"), ("nats", "nat"), ("remark", "finding"),
        ("high clip fraction", "updates-too-large"), ("zero advantage", "no-advantage"),
    ],
)  # fmt: skip
def test_a_definition_is_found_by_its_names(words: str, expected: str | None) -> None:
    """Ids, titles and other names find it, in any letters, with blanks, dashes or underscores."""
    found = definitions().find(words)
    assert (found.id if found is not None else None) == expected


def test_definitions_lead_to_what_there_is() -> None:
    """Metrics are of the glossary, rules and symptoms of the rule files, terms of the same file."""
    book, rules = definitions(), rulebook()
    known = {*rules.rules, *(symptom.id for symptom in rules.symptoms)}
    terms = {term.id for term in book.term}
    assert len(terms) == len(book.term) and len({each.id for each in book.problem}) == len(book.problem)
    for term in book.term:
        assert set(term.see) <= terms and set(term.check_next) <= set(glossary().metrics), term.id
    for problem in book.problem:
        assert {*problem.check_first, *problem.check_next} <= set(glossary().metrics), problem.id
        assert problem.findings and set(problem.findings) <= known, problem.id
    assert {id_ for ids in book.words.values() for id_ in ids} <= set(glossary().metrics)


def test_no_name_is_given_twice() -> None:
    """Each name of a term or a problem, and each word for metrics, leads to one place."""
    book = definitions()
    for entries in (book.term, book.problem):
        names = [plain(name) for each in entries for name in {plain(each.id), *each.aliases}]
        assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    assert len(book.words) == len(set(map(plain, book.words)))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("value loss", "critic.loss"), ("Gradient norm", "optimizer.grad_norm"),
        ("KL coefficient", "policy.kl_coef"),
        ("learning rate", "optimizer.learning_rate"), ("response length", "lengths.response.mean"),
        ("approx kl", "policy.approx_kl"), ("aborted ratio", "lengths.aborted_fraction"),
        ("actor loss", "policy.total_loss"), ("validation accuracy", "validation.accuracy"),
        ("old log prob", "timing.old_logprob"), ("minmax diff", "load.seqlen_spread"),
        ("kl coef", "policy.kl_coef"),
    ],
)  # fmt: skip
def test_a_metric_is_found_by_what_people_call_it(words: str, expected: str) -> None:
    """Titles, words of the table, and keys written with blanks lead to a metric."""
    assert expected in [found.canonical for found in explain(words)]


def test_what_is_nearest_knows_terms_and_titles() -> None:
    """A misspelled term, title or problem is suggested as it is written."""
    assert nearest("explained varience")[0] == "explained_variance"
    assert "Staleness" in nearest("stalenes")
    assert nearest("reward crahses")[0] == "reward-crashes"
    assert len({plain(name) for name in nearest("value los")}) == len(nearest("value los"))


def test_a_finding_is_explained_by_its_id() -> None:
    """Rules and symptoms that become findings are found by id and title; signs of them are not."""
    for words in ("grad-explosion", "gradient norm > 10x its usual", "policy-collapsed"):
        explanation = finding_explanation(words)
        assert explanation is not None
        labels = dict(explanation.parts())
        assert labels["says"]
        assert labels["do"]
        assert "{" not in labels["says"]
    assert finding_explanation("reward-rising") is None
