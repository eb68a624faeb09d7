"""Terms and the table of problems: found by many names, leading to metrics and rules that there are."""

from __future__ import annotations

import pytest

from rltui.metrics.definitions import definitions
from rltui.metrics.glossary import glossary
from rltui.rules.load import rulebook


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
        ("OOM", None), ("nonsense", None),
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
        assert set(term.see) <= terms and set(term.metrics) <= set(glossary().metrics), term.id
    for problem in book.problem:
        assert {*problem.first, *problem.next} <= set(glossary().metrics), problem.id
        assert problem.rules and set(problem.rules) <= known, problem.id
    names = [name.lower() for term in book.term for name in (term.id, *term.aliases)]
    assert len(names) == len(set(names))
