"""Phases inside phases, and keys that lie together, as a tree whose branches open and close by keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rltui.panes.answers.answer import Answer, StepPhase
from rltui.panes.pane import pane_view
from rltui.panes.rows.row import Row
from rltui.panes.rows.row_tree import as_tree, folded, folded_answer
from rltui.session.session import Session
from tests.support.runs.deliveries import delivery
from tests.support.runs.pane_answers import NOW, VERL, answer, run
from tests.support.screen.screens import Screen

NESTED = {
    "timing_s/step": 10.0, "timing_s/gen": 6.0, "timing_s/generate_sequences": 5.0,
    "timing_s/update_actor": 3.0, "timing_s/update_actor/forward": 1.0, "timing_s/update_actor/backward": 2.0,
    "timing_s/agent_loop/generate_sequences/mean": 2.0, "timing_s/agent_loop/tool_calls/mean": 0.5,
    "timing_s/agent_loop/slowest/tool_calls": 1.0, "timing_s/agent_loop/slowest/response_length": 90.0,
    "timing_per_token_ms/gen": 0.2,
}  # fmt: skip
TAGS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), unique=True, max_size=12
)


def screen(series: dict[str, float]) -> Screen:
    """The pane timing of a run whose values move."""
    each = {**VERL, **series}.items()
    rows = [(tag, step, value * (1 + step % 3 / 100)) for step in range(40) for tag, value in each]
    session = Session()
    session.apply((delivery(rows, wall=NOW - 1000),))
    session.evaluate(force=True)
    made = Screen(session)
    made.set_clock(lambda: NOW)
    made.go("timing")
    return made


def titles(made: Screen) -> list[str]:
    """The rows that are seen, indented."""
    return ["  " * len(row.branch) + row.title for row in made.rows()]


def rows_of_tags(tags: list[str]) -> list[Row]:
    """A row for each key."""
    return [Row("metric", tag.rpartition("/")[2], tag) for tag in tags]


@given(TAGS, st.dictionaries(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "a/b", "b/c/a"])))
def test_a_tree_has_each_row_once_below_what_it_is_in(tags: list[str], inside: dict[str, str]) -> None:
    """Whatever the keys and parts, even in a circle, no row is lost and each follows its branch."""
    found = as_tree(rows_of_tags(tags), inside)
    assert sorted(row.tag for row in found if row.kind != "folder") == sorted(tags)
    assert len({row.tag for row in found}) == len(found)
    before: list[str] = []
    for row in found:
        assert all(one in before for one in row.branch)
        before.append(row.tag)
    for row in found:
        assert row.inside == sum(other.branch[-1:] == (row.tag,) for other in found)


@given(
    TAGS, st.dictionaries(st.sampled_from(["a", "b", "a/b"]), st.booleans()), st.sampled_from(["", "a/b/c"])
)
def test_what_is_selected_is_seen_unless_its_branch_was_closed(
    tags: list[str], chosen: dict[str, bool], selected: str
) -> None:
    """Rows are hidden by a closed branch alone, and a branch opens for the row that is selected."""
    tree = as_tree(rows_of_tags(tags), {})
    seen = folded(tree, chosen, selected)
    closed = {row.tag for row in seen if row.is_open is False}
    for row in tree:
        hidden = row.tag not in {one.tag for one in seen}
        assert not hidden or closed.intersection(row.branch)
        if row.tag == selected and not any(chosen.get(tag) is False for tag in row.branch):
            assert not hidden


def test_phases_lie_below_the_phase_that_they_are_parts_of() -> None:
    """Parts, times per token and folders of keys are nested; a pane's own folder of keys nests nothing."""
    view = run(NESTED)
    tree = {row.tag: row for row in pane_view(view, "timing", NOW).rows}
    assert tree["timing_s/generate_sequences"].branch == ("timing_s/gen",)
    assert tree["timing_s/generate_sequences"].title == "generate_sequences"
    assert tree["timing_per_token_ms/gen"].branch == ("timing_s/gen",)
    assert tree["timing_s/update_actor/forward"].branch == ("timing_s/update_actor",)
    assert tree["timing_s/agent_loop"].kind == "folder"
    slowest = tree["timing_s/agent_loop/slowest/tool_calls"]
    assert slowest.branch == ("timing_s/agent_loop", "timing_s/agent_loop/slowest")
    assert tree["timing_s/step"].branch == ()


def test_extremes_of_a_time_are_no_phase() -> None:
    """`generation_timing/max` and keys of statistics add nothing to a step."""
    extremes = {"timing_s/generation_timing/max": 6.0, "timing_s/generation_timing/min": 4.0,
                "timing_s/generation_timing/topk_ratio": 0.1, "timing_s/own/max": 9.0}  # fmt: skip
    plain = {"timing_s/step": 10.0, "timing_s/gen": 6.0}
    assert answer("timing", {**plain, **extremes}).shares == answer("timing", plain).shares


def test_a_branch_opens_and_closes_by_keys() -> None:
    """Right and Enter open a phase, left closes it or the one that a row is in, else turns the pane."""
    made = screen(NESTED)
    closed = titles(made)
    assert not [title for title in closed if title.startswith(" ")]
    assert "▸ Generation time" in made.text(140, 45)
    made.press("down")
    for key in ("right", "enter"):
        made.press(key)
        assert "  generate_sequences" in titles(made), key
        assert "▾ Generation time" in made.text(140, 45)
        made.press("down")
        made.press("left")
        assert titles(made) == closed
        assert (row := made.selected()) is not None and row.tag == "timing_s/gen"
    made.press("left")
    assert made.pane != "timing"


def test_what_was_opened_stays_open() -> None:
    """Another pane in between closes nothing; the table of phases opens with the rows."""
    made = screen(NESTED)
    made.press("down")
    made.press("down")
    before = made.text(140, 45)
    made.press("right")
    assert made.text(140, 45).count("backward") > before.count("backward")
    made.go("reward")
    made.go("timing")
    assert "  Backward" in titles(made)


def test_a_metric_that_is_looked_for_opens_its_branch() -> None:
    """What a search or a finding leads to is seen and selected, however deep it lies."""
    made = screen(NESTED)
    made.go_to_tag("timing_s/agent_loop/slowest/tool_calls")
    assert (row := made.selected()) is not None and row.tag == "timing_s/agent_loop/slowest/tool_calls"


def test_phases_of_the_table_fold_with_their_rows() -> None:
    """A closed phase hides its parts in the table, and the shares stay those of the top level."""
    inner = StepPhase("B", "a/b", 1, 1, None, 1)
    parts = (StepPhase("A", "a", 1, 1, 1.0), inner, StepPhase("C", "c", 1, 1, 0.0))
    tree = as_tree(rows_of_tags(["a", "a/b", "c"]), {})
    found = folded_answer(Answer("!", parts=parts), folded(tree, {}, ""))
    assert [part.title for part in found.parts] == ["▸ A", "C"]
    found = folded_answer(Answer("!", parts=parts), folded(tree, {"a": True}, ""))
    assert [part.title for part in found.parts] == ["▾ A", "B", "C"]


def test_snapshots_show_the_whole_tree() -> None:
    """A pane without a screen has all rows, and says of each what it is inside of."""
    made = pane_view(run(NESTED), "timing", NOW)
    assert len(made.metrics) == len(NESTED)
    assert all(row.is_open is None for row in made.rows)
