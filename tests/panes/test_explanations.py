"""What a metric means is told once: the shell and the screen lay out the same entry."""

from __future__ import annotations

from rltui.common.display_text import cell_width
from rltui.config import Config, Threshold
from rltui.metrics.resolve import MetricNames
from rltui.panes.explanations import explained_entries, explained_entry_of_name
from rltui.screen.pages.overlays import list_content
from rltui.screen.start import build
from rltui.screen.state import ListOverlay
from rltui.session.session import Session
from tests.support.screen.screens import screen_of
from tests.support.shared import BUNDLED


def test_a_run_and_the_shell_tell_the_same() -> None:
    """The entry of a tag in a run is that of its key asked with the run's framework, own limits included."""
    config = Config(thresholds=(Threshold("policy.kl_ref", above=0.5),))
    name = MetricNames("trl", config).name("train/kl")
    (asked,) = explained_entries("kl", "trl", config)
    found = explained_entry_of_name(name, config)
    assert found is not None
    assert (found.rules, found.writer, found.caveat) == (asked.rules, asked.writer, asked.caveat)
    assert [rule.when for rule in found.rules if rule.id.startswith("own-")] == ["> 0.5 (your own limit)"]


def test_what_holds_for_all_that_a_framework_writes_is_told() -> None:
    """A caveat of the framework's file reaches whoever asks for one of its keys, and nobody else's."""
    (of_trl,) = explained_entries("kl", "trl")
    assert of_trl.writer is not None and "logging_steps" in of_trl.writer[1]
    assert explained_entries("policy.kl_ref")[0].writer is None


def test_the_page_of_a_metric_holds_the_card() -> None:
    """Rules with their ids and the writer's caveat stand on the screen, no line wider than the page."""
    screen = screen_of(build(Session.load([BUNDLED / "verl-grpo-nan"])))
    screen.go_to_tag("actor/ppo_kl")
    screen.press("e")
    overlay = screen.overlays[-1]
    assert isinstance(overlay, ListOverlay)
    page = list_content(screen.state, overlay, 60, 40)
    lines = ["".join(span[0] for span in one.spans) for one in page.lines]
    assert max(map(cell_width, lines)) <= 60
    text = " ".join(" ".join(lines).split())
    assert "(approx-kl-extreme)" in text and "veRL: Validation stands" in text
