"""An entry as people and programs get it."""

from __future__ import annotations

import pytest

from rltui.common.display_text import cell_width
from rltui.metrics.glossary_entry import GlossaryEntry, MetricRule
from rltui.metrics.glossary_files import glossary

# The fields that scripts rely on; they may grow, never change or vanish.
FIELDS = [
    "key",
    "framework",
    "canonical",
    "title",
    "pane",
    "unit",
    "direction",
    "meaning",
    "healthy",
    "watch_for",
    "rules",
    "check_next",
    "aliases",
    "sources",
]


def _card(name: str = "policy.clip_fraction", key: str = "actor/pg_clipfrac") -> GlossaryEntry:
    return GlossaryEntry(
        key,
        glossary().metrics[name],
        "verl",
        caveat="Counts tokens.",
        rules=(MetricRule("clip-high", "warning", "clip fraction > 0.2, for 10 points"),),
        aliases={"trl": ["clip_ratio", "clip_ratio/region_mean", "third"]},
        titles={"optimizer.learning_rate": "Learning rate"},
    )


def test_json_has_the_promised_fields() -> None:
    """The object starts with exactly the fields of the promise, in plain types."""
    found = _card().as_json()
    assert list(found)[: len(FIELDS)] == FIELDS
    assert found["key"] == "actor/pg_clipfrac"
    assert found["canonical"] == "policy.clip_fraction"
    assert found["rules"] == [
        {"id": "clip-high", "severity": "warning", "when": "clip fraction > 0.2, for 10 points"}
    ]
    assert found["aliases"] == {"trl": ["clip_ratio", "clip_ratio/region_mean", "third"]}
    assert isinstance(found["sources"], list)


def test_the_card_tells_all_in_order() -> None:
    """Title, provenance, meaning, what is healthy, what to fear, rules, links, names, sources."""
    text = "\n".join(_card().as_lines())
    marks = [
        "Clip fraction\n=====",
        "actor/pg_clipfrac → policy.clip_fraction [verl]",
        "policy pane · share between 0 and 1",
        "Share of tokens or actions",
        "healthy     Below 0.2",
        "watch for   A share that stays high",
        "note        Counts tokens.",
        "rules       warning: clip fraction > 0.2, for 10 points (clip-high)",
        "check next  Learning rate (optimizer.learning_rate)",
        "written as  trl: clip_ratio, clip_ratio/region_mean and 1 more",
        "sources     ",
    ]
    places = [text.find(mark) for mark in marks]
    assert -1 not in places, marks[places.index(-1)]
    assert places == sorted(places)


def test_a_canonical_id_is_its_own_provenance() -> None:
    """Asked by canonical id, the card says so instead of pointing at itself."""
    card = GlossaryEntry("policy.kl_ref", glossary().metrics["policy.kl_ref"])
    assert "policy.kl_ref (canonical)" in card.as_lines()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_every_card_fits_its_width(width: int) -> None:
    """No line of any shipped entry is wider than asked, keys of the longest kind aside."""
    for metric in glossary().metrics.values():
        for line in GlossaryEntry(metric.id, metric).as_lines(width):
            assert cell_width(line) <= width or " " not in line.strip()[12:].strip(), line


def test_a_key_is_never_broken() -> None:
    """A long key stays whole, so that it can be copied."""
    key = "val-core/some-long-data-source/with-dashes/acc/best@4/mean" * 2
    lines = _card("validation.accuracy", key).as_lines(60)
    assert any(key in line for line in lines)
