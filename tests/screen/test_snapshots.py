"""Screens as they are expected, pane by pane and size by size: a change of any of them is seen in review."""

from __future__ import annotations

import copy
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rltui.draw.themes import PLAIN, load_themes, shipped_folder
from rltui.screen.input.key_table import bindings
from rltui.screen.pages.frame import frame
from rltui.screen.state import AppState
from rltui.screen.terminal.themed_strips import StripPalette
from tests.support.runs.traces import reward_histograms, write_spans
from tests.support.screen import consoles
from tests.support.screen.expected_screens import FOLDER, drawn, recorded, same
from tests.support.screen.rollouts import attach, press, write_step
from tests.support.screen.screens import Screen

SIZES = ((140, 45), (100, 30), (80, 24), (40, 12))
# Pages: the recorded runs, the share of the first that is there, and the keys that lead to the page.
PAGES: dict[str, tuple[tuple[str, ...], float, str]] = {
    "overview": (("kl-runaway", "verl-ppo", "slowdown"), 0.8, "1"),
    "validation": (("verl-ppo",), 1.0, "v"),
    "pinned": (("kl-runaway",), 0.8, "3 * down down * 2 * P ("),
    "reward": (("verl-ppo",), 1.0, "2"),
    "policy": (("kl-runaway",), 0.8, "3"),
    "critic": (("verl-ppo",), 1.0, "4"),
    "lengths": (("length-collapse",), 1.0, "5"),
    "preference": (("overfitting",), 1.0, "d"),
    "reward-model": (("verl-ppo",), 1.0, "m"),
    "turns": (("verl-ppo",), 1.0, "u"),
    "load": (("verl-ppo",), 1.0, "6"),
    "timing": (("slowdown",), 1.0, "7"),
    "timing-of-phases": (("verl-ppo",), 1.0, "7"),
    "timing-with-spans": (("verl-ppo",), 1.0, "7"),
    "reward-with-histograms": (("verl-ppo",), 1.0, "2"),
    "perf": (("verl-ppo",), 1.0, "8"),
    "rollout": (("late-collapse",), 1.0, "o"),
    "findings": (("late-collapse",), 1.0, "f"),
    "all": (("nan",), 1.0, "9"),
    "config": (("verl-ppo",), 1.0, "c"),
    "chart": (("late-collapse",), 1.0, "3 enter right"),
    "chart-of-two": (("verl-ppo",), 1.0, "3 down M up enter"),
    "comparison": (("late-collapse", "kl-runaway"), 1.0, "r down x escape 3 enter"),
    "explain": (("verl-ppo",), 1.0, "3 e"),
    "runs": (("verl-ppo", "kl-runaway", "forgetting", "overfitting", "slowdown"), 1.0, "r"),
    "help": (("verl-ppo",), 1.0, "H"),
    "problems": (("kl-runaway",), 1.0, "E"),
    "system": (("verl-ppo",), 1.0, "0"),
    "console": (("verl-ppo",), 1.0, "C up up"),
    "samples": (("verl-ppo",), 1.0, "T"),
    "sample": (("verl-ppo",), 1.0, "T end enter"),
    "samples-compared": (("verl-ppo",), 1.0, "T D enter C"),
}
# Pages whose picture says little more at every size than at one.
FEW = {"console": (SIZES[0], *SIZES[2:]), "system": SIZES[2:3],
       "chart-of-two": SIZES[1:2], "comparison": SIZES[1:2], "help": SIZES[:3], "turns": SIZES[2:3],
       "problems": SIZES[1:],
       "timing-with-spans": (SIZES[0], *SIZES[2:]), "reward-with-histograms": (SIZES[0], *SIZES[2:]),
       "reward-model": SIZES[2:3], "config": SIZES[2:3],
       "samples": (SIZES[0], *SIZES[2:]), "sample": (SIZES[0], *SIZES[2:]),
       "samples-compared": SIZES[2:3]}  # fmt: skip
STEP = 150  # the last one of that run
CASES = [(page, size) for page in PAGES for size in FEW.get(page, SIZES)]
THEMES = [*sorted(load_themes([shipped_folder()])[0]), PLAIN.id]


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether what is drawn now is to be what is expected from now on."""
    return bool(request.config.getoption("--accept-screens"))


def page(name: str, **options: object) -> Screen:
    """A screen that shows a page."""
    runs, share, keys = PAGES[name]
    if keys.startswith("C"):
        with TemporaryDirectory() as folder:
            screen = recorded(*runs, share=share, own=True, **options)
            consoles.attach(screen, Path(folder), consoles.FAILED)
            consoles.press(screen, *keys.split(), width=140, height=45)
            screen.state.threads.console.thread.stop()
        return screen
    screen = recorded(*runs, share=share, own="histograms" in name, **options)
    if "spans" in name:
        with TemporaryDirectory() as folder:
            write_spans(Path(folder, runs[0]), STEP)
            screen.state.threads.hparams.logdirs = (folder,)
            screen.go("timing")
            screen.frame(100, 30)
            assert screen.state.threads.hparams.thread.wait(20)
            screen.state.threads.hparams.logdirs = ()
    if "histograms" in name:
        assert screen.view is not None
        screen.view.run.histograms.add(reward_histograms("critic/rewards/histogram", STEP))
    if keys.startswith("T"):
        with TemporaryDirectory() as folder:
            for step in (50, 100, 150):
                write_step(Path(folder, runs[0]), step)
            press(attach(screen, Path(folder)), *keys.split(), width=140, height=45)
            screen.state.threads.samples.thread.stop()
        return screen
    for key in keys.split():
        screen.frame(100, 30)
        screen.press(key)
    return screen


@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{n}-{w}x{h}" for n, (w, h) in CASES])
def test_snapshot(name: str, size: tuple[int, int], update: bool) -> None:
    """A page at a size is exactly what was accepted."""
    same(f"{name}-{size[0]}x{size[1]}", drawn(page(name), size), update=update)


@pytest.mark.parametrize("theme", THEMES)
def test_snapshot_of_a_theme(theme: str, update: bool) -> None:
    """Every role on every background that a page uses has the accepted style."""
    screen = page("policy")
    palette = StripPalette(PLAIN if theme == PLAIN.id else screen.state.options.themes[theme])
    used = {}
    for line in screen.frame(80, 24).lines:
        for _, role in line.spans:
            used[role if "/" in role or not line.back else f"{role}/{line.back}"] = palette.style(
                role, line.back
            )
    text = "".join(f"{role:16} {style}\n" for role, style in sorted(used.items()))
    same(f"theme-{theme}", text, update=update)


def everything(state: AppState) -> list[object]:
    """What a user has chosen, as a copy that later changes do not reach."""
    overlays = [
        [copy.copy(value) for slot in fields(overlay) if (value := getattr(overlay, slot.name)) is not None]
        for overlay in state.overlays
    ]
    chosen = (state.selection, state.time, state.metric_query, state.saved, state.drawn, state.requests)
    return [*map(copy.deepcopy, chosen), overlays, state.theme_id, state.smoothing, state.message]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_drawing_changes_nothing(name: str) -> None:
    """A page is a function of state and size: what keys act on is the same before and after it."""
    screen = page(name)
    screen.frame(100, 30)
    before = everything(screen.state)
    for size in ((100, 30), (40, 12), (140, 45)):
        frame(screen.state, *size)
        assert everything(screen.state) == before


def test_snapshot_in_ascii(update: bool) -> None:
    """With --ascii the page is made of ASCII alone."""
    screen = page("policy", ascii_only=True)
    palette = StripPalette(PLAIN, ascii_only=True)
    strips = [palette.strip(line, 80).text.rstrip() for line in screen.frame(80, 24).lines]
    text = "\n".join(strips).rstrip() + "\n"
    assert text.isascii()
    same("ascii-80x24", text, update=update)


def test_every_pane_has_a_snapshot() -> None:
    """A pane that is added needs a page here; no expected screen is left over."""
    panes = {bind.action[5:] for bind in bindings() if bind.action.startswith("pane:")}
    assert panes <= set(PAGES)
    wanted = (
        {f"{name}-{w}x{h}" for name, (w, h) in CASES} | {f"theme-{one}" for one in THEMES} | {"ascii-80x24"}
    )
    assert {path.stem for path in FOLDER.glob("*.txt")} == wanted
