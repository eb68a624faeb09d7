"""Findings with their evidence: in order of onset, with a curve, folded consequences, charts a key away."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.panes.render.plain_text import findings_text
from rltui.rules.finding import Evidence
from rltui.screen.state import ChartOverlay
from tests.support.runs.made_run import MadeRun, believable, finding
from tests.support.screen.expected_screens import NOW, recorded
from tests.support.screen.screens import Screen, opened


def broken() -> MadeRun:
    """A run whose learning rate was raised: entropy follows, then the gradients."""
    run = believable()
    moved = (
        Evidence("actor/grad_norm", 0.1, None, 230),
        Evidence("actor/lr", 3e-4, 30.0, 122),
        Evidence("actor/entropy", 2.23, 0.0, 125),
    )
    tags = tuple(one.tag for one in moved)
    run.found = [
        finding(tags[1], "critical", id="broke", title="the policy broke", metrics=tags, evidence=moved,
                symptom=True, since_step=122),
        finding("actor/entropy", id="entropy", title="entropy is gone", explained_by="broke"),
        finding("actor/grad_norm", id="nan", title="NaN", explained_by="broke"),
        finding("actor/ppo_kl", id="kl", title="KL > 0.1", since_step=200),
    ]  # fmt: skip
    return run


def findings(*keys: str) -> Screen:
    """The pane of findings of such a run, after some keys."""
    screen = opened(broken())
    for key in ("f", *keys):
        screen.frame(140, 45)
        screen.press(key)
    return screen


def lines_of(screen: Screen, width: int = 120) -> list[str]:
    """What it shows."""
    return screen.text(width, 40).splitlines()


def test_evidence_stands_in_order_of_onset_with_its_curve() -> None:
    """What moved first comes first: name, step, curve with a bar at the onset, from -> to."""
    evidence = [line for line in lines_of(findings()) if "@" in line]
    assert [line.split("@")[1].split()[0] for line in evidence[:3]] == ["122", "125", "230"]
    assert evidence[0].split("@")[0].split()[1:] == ["Learning", "rate"]
    assert "3.00e-4 → 30.00" in evidence[0] and "0.100 → NaN" in evidence[2]
    first, third = evidence[0].index("▏"), evidence[2].index("▏")
    assert abs((third - first) / 48 - (230 - 122) / 300) < 0.08


def test_a_finding_of_a_live_run_says_how_long_ago_it_began() -> None:
    """Who is called asks since when; of a run that is over the step is enough, and the past has no now."""
    assert "✖ the policy broke · since step 122, 25m ago   policy" in "\n".join(lines_of(findings()))
    live = believable(modified=NOW)
    live.found = [finding("actor/ppo_kl", id="kl", title="KL > 0.1", since_step=300)]
    screen = opened(live)
    screen.press("f")
    assert "since step 300, just now   policy" in "\n".join(lines_of(screen))
    over = broken()
    over.end()
    screen = opened(over)
    screen.press("f")
    assert "✖ the policy broke · since step 122   policy" in "\n".join(lines_of(screen))
    assert "ago" not in "\n".join(lines_of(findings("["))[4:])


def test_consequences_are_folded() -> None:
    """A symptom counts what it explains; a key shows and hides it, on the overview it is a number."""
    screen = findings()
    text = "\n".join(lines_of(screen))
    assert "explains 2 more ▸ z" in text and "entropy is gone" not in text and "KL > 0.1" in text
    screen.press("z")
    text = "\n".join(lines_of(screen))
    assert "explains 2 more ▾ z" in text and "entropy is gone" in text
    screen.press("z")
    screen.press("1")
    overview = lines_of(screen)
    assert any("the policy broke" in line and "explains 2 more" in line for line in overview)
    assert not any("entropy is gone" in line for line in overview)


def test_enter_opens_the_chart_where_it_began() -> None:
    """Enter leads to the first evidence at its step, Tab to the next one; Esc leads back to the findings."""
    screen = findings("tab", "enter")
    chart = screen.overlays[-1]
    assert isinstance(chart, ChartOverlay)
    assert chart.row.tag == "actor/entropy" and chart.cursor == 125 and screen.pane == "findings"
    screen.press("tab")
    assert chart.row.tag == "actor/grad_norm" and chart.cursor == 230
    screen.press("escape")
    assert not screen.overlays and screen.pane == "findings"
    assert any("▸3" in line for line in lines_of(screen))


def test_tab_goes_from_evidence_to_evidence_and_on_to_the_next_finding() -> None:
    """Behind the last evidence comes the next finding, behind the last finding the next pane."""
    screen = findings()
    seen = []
    for _ in range(4):
        row = screen.selected()
        seen.append(row.tag if row is not None else "")
        screen.press("tab")
    assert seen == ["actor/lr", "actor/entropy", "actor/grad_norm", "actor/ppo_kl"]
    assert screen.pane == "all"


def test_a_finding_without_evidence_has_its_metric_and_limit() -> None:
    """Its metrics stand in the same place, with value and limit."""
    line = next(line for line in lines_of(findings("down")) if "@200" in line)
    assert "KL old to new" in line and "0.310, limit 0.200" in line


@pytest.mark.parametrize(("width", "height"), [(200, 60), (80, 24), (60, 20), (40, 12), (24, 8)])
def test_the_pane_fits_every_size(width: int, height: int) -> None:
    """No line is wider than the screen; where there is no room for curves names and values stay."""
    screen = findings("z")
    lines = screen.frame(width, height).lines
    assert all(line.width <= width for line in lines)
    if width >= 40:
        assert any("@122" in line.text for line in lines)


def test_values_are_told_on_the_scale_of_the_curve() -> None:
    """Evidence is on the canonical scale; a key written as its negative shows what its curve shows."""
    run = MadeRun()
    run.add("a/neg", -np.linspace(2.0, 0.1, 300), title="Entropy", scale=-1.0)
    moved = (Evidence("a/neg", 2.0, 0.1, 200),)
    run.found = [finding("a/neg", id="x", title="x", evidence=moved, metrics=("a/neg",))]
    screen = opened(run)
    screen.press("f")
    assert any("Minus entropy" in line and "-2.000 → -0.100" in line for line in lines_of(screen))


def test_the_snapshot_has_the_layout_of_the_page() -> None:
    """`snapshot --pane findings` shows what the page does, with curves, each symptom unfolded."""
    screen = recorded("late-collapse")
    view = screen.view
    assert view is not None
    screen.go("findings")
    symptom = next(one for one in view.evaluator.findings() if one.symptom)
    screen.state.selection.unfolded.add(symptom.id)
    page = {one.text.rstrip().replace("▸1", " 1").rstrip() for one in screen.frame(100, 80).lines}
    written = [one.text.rstrip() for one in findings_text(view, NOW, 100)]
    assert any("@" in text and "▏" in text for text in written)
    assert [text for text in written if text not in page] == []


def test_no_hint_leads_to_where_one_is() -> None:
    """The footer of the findings does not offer the findings."""
    screen = findings()
    assert "findings" in screen.text().splitlines()[2] and "f findings" not in screen.text().splitlines()[-1]
    screen.press("1")
    assert "f findings" in screen.text().splitlines()[-1]


def test_a_pane_without_findings_says_how_much_was_judged() -> None:
    """Nothing found is no praise where nothing, or no outcome, could be judged."""
    noise = np.random.default_rng(1).normal(0, 0.02, 60)
    well = MadeRun()
    well.add("critic/score/mean", np.linspace(0.2, 0.8, 60) + noise)
    well.add("zork/own", np.linspace(0, 1, 60))
    pairs = ((well, "✓ Nothing is wrong: rules judge "), (MadeRun(), "? Not judged: no scalars yet"))
    for run, said in pairs:
        screen = opened(run)
        screen.press("f")
        assert said in screen.text(120, 30)
        assert said in "\n".join(one.text for one in findings_text(run, NOW, 120))


@pytest.mark.parametrize("key", ["tab", "down"])
def test_a_chart_stays_at_the_last_evidence(key: str) -> None:
    """After the last metric of the last finding it is kept, which is said: the pane below does not turn."""
    screen = findings("enter")
    shown = set()
    for _ in range(12):
        assert isinstance(screen.overlays[-1], ChartOverlay) and screen.pane == "findings"
        shown.add(screen.overlays[-1].row.tag)
        screen.frame(140, 45)
        screen.press(key)
    assert shown == {"actor/lr", "actor/entropy", "actor/grad_norm", "actor/ppo_kl"}
    assert screen.message == "the last metric here; / finds others"


def test_what_to_look_at_next_is_called_as_its_row() -> None:
    """Entropy that is logged with the opposite sign is `Minus entropy` in rows, findings and explanations."""
    run = believable()
    run.add("train/entropy_loss", np.linspace(-2.0, -1.0, 60), title="Entropy", pane="policy", scale=-1.0,
            canonical="mine.entropy")  # fmt: skip
    run.found = [finding("actor/ppo_kl", check_next=("mine.entropy",))]
    screen = opened(run)
    screen.press("f")
    assert "look next at Minus entropy" in screen.text(100, 30).replace("  ", " ")
    screen.press(":")
    for key in "minus":
        screen.press(key)
    assert "Minus entropy" in screen.text(100, 30)


def test_evidence_of_a_ratio_is_a_share_and_names_both_metrics() -> None:
    """Half of a step is no half of a second: a ratio has the unit of neither of its metrics."""
    run = believable()
    waits = Evidence("timing_s/gen", None, 0.5, 1, "timing.generation", per="timing_s/step")
    run.found = [
        finding("timing_s/gen", id="waits", title="waiting takes > 30 % of a step", evidence=(waits,),
                message="The trainer waits for rollouts 50 % of the step", value=0.5)
    ]  # fmt: skip
    screen = opened(run)
    screen.press("f")
    (shown,) = [line for line in lines_of(screen) if "@1 " in line]
    assert "Generation time / step…" in shown
    assert shown.rstrip().endswith("50.0 %")
