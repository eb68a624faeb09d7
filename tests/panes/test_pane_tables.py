"""What is shown of any run names metrics that exist."""

from __future__ import annotations

from rltui.metrics.glossary_files import glossary
from rltui.panes.pane_list import PANES, pane_tables


def test_the_tables_name_metrics_of_the_glossary() -> None:
    """Every canonical id is in the glossary, none twice in a line, and counters have units of their own."""
    tables = pane_tables()
    for line in (*tables.core, *tables.key_metrics):
        assert len(set(line)) == len(line) > 0
        assert set(line) <= glossary().metrics.keys()
    assert {counter.metric for counter in tables.counter} <= glossary().metrics.keys()
    assert len({counter.unit for counter in tables.counter}) == len(tables.counter)


def test_every_pane_with_a_tab_says_why_it_is_empty() -> None:
    """A run without any of its metrics finds a sentence there; the settings have sentences of their own."""
    assert [pane.id for pane in PANES.values() if not pane.empty] == ["config"]
