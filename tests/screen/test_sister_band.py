"""Sister runs behind the curve of a large chart: minimum, median and maximum over seeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rltui.draw.chart_svg import pictures_svg
from rltui.draw.themes import PLAIN
from rltui.panes.charts.chart_picture import chart_picture
from rltui.panes.charts.curve import curve
from rltui.panes.charts.sister_band import band_behind, seed_sisters, sister_series
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.render.chart_text import chart_text
from rltui.panes.rows.row import rows_of
from rltui.panes.runs.selection import hparams_below
from rltui.run_context.hparams.hparams import HParam, Value, hparams_digest
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.screen.screens import Screen, screen_of

TAG = "train/kl"


def log(folder: Path, name: str, level: float, *, steps: int = 40, **hparams: object) -> None:
    """A run of one level with settings beside it."""
    rows = ({"step": step, TAG: level, "train/reward": level * step} for step in range(steps))
    write_rows(folder / name / "metrics.jsonl", rows)
    (folder / name / "config.json").write_text(json.dumps(hparams))


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    """Four seeds of one setting, one of which ended early, and a run of another setting."""
    for seed, (level, steps) in enumerate(((1.0, 40), (2.0, 40), (4.0, 40), (9.0, 20))):
        log(tmp_path, f"s{seed}", level, steps=steps, lr=1e-3, seed=seed, output_dir=f"out/{seed}")
    log(tmp_path, "other", 50.0, lr=1e-2, seed=0, output_dir="out/9")
    found = screen_of(build(Session.load([tmp_path]), [str(tmp_path)]))
    found.choose_run("s0")
    return found


def read_settings(screen: Screen) -> None:
    """Until the files that frames ask for are read: those of the run, then those of the others."""
    for _ in range(3):
        screen.text(140, 45)
        assert screen.state.threads.hparams.thread.wait(10)


def picture_of(screen: Screen, name: str) -> str:
    """The chart of the metric in a run as SVG, beside the sister runs that settings beside the logs tell."""
    views = screen.session.ordered()
    view = screen.session.runs[name]
    sisters = seed_sisters(view, views, hparams_below(screen.state.options.logdirs).digest)
    (row,) = rows_of(view, [TAG], merge=False)
    series = sister_series(view, TAG, sisters)
    picture = chart_picture(row, view.shown_name, window_for(view), sisters=series)
    assert picture is not None
    return pictures_svg([picture], PLAIN)


def test_the_band_spans_the_sisters_that_have_come_so_far(screen: Screen) -> None:
    """Lowest, middle and highest of at least two; nothing where only one is left."""
    view = screen.session.runs["s0"]
    (row,) = rows_of(view, [TAG], merge=False)
    drawn = curve(row, StepWindow(0.0, 39.0), 40)
    series = [screen.session.runs[name].run.series[TAG] for name in ("s1", "s2", "s3")]
    assert drawn is not None
    band = band_behind(drawn, series)
    assert band is not None and band.runs == 3
    assert (band.low[10], band.median[10], band.high[10]) == (2.0, 4.0, 9.0)
    assert (band.low[30], band.median[30], band.high[30]) == (2.0, 3.0, 4.0)
    assert band_behind(drawn, series[2:]) is None and np.isfinite(band.low).all()


def test_the_chart_says_how_many_sisters_it_shows(screen: Screen) -> None:
    """Runs of the same settings but for the seed lie behind the curve; the key for bands hides them."""
    screen.go_to_tag(TAG)
    screen.press("enter")
    read_settings(screen)
    assert "min–max of 3 sister runs, median dotted" in screen.text(120, 30)
    screen.press("b")
    screen.press("b")
    assert "sister runs" not in screen.text(120, 30).replace("without the sister runs' band", "")


def test_cards_show_the_band_once_the_settings_are_read(screen: Screen) -> None:
    """A card says of how many sister runs its band is, and holds it on its axis; other settings have none."""
    screen.go("overview")
    screen.choose_run("s0")
    assert "sister runs" not in screen.text(140, 45)
    read_settings(screen)
    shown = screen.text(140, 45)
    assert "band: 3 sister runs" in shown
    assert any("⡐" in line or "⠐" in line for line in shown.splitlines())
    screen.choose_run("other")
    assert "sister runs" not in screen.text(140, 45)


def test_marked_runs_take_the_place_of_the_band(screen: Screen) -> None:
    """What the user chose to see beside a run is drawn as curves, and nothing behind them."""
    read_settings(screen)
    screen.state.selection.marked_runs = ["other"]
    assert "sister runs" not in screen.text(140, 45)


def test_pictures_and_charts_as_text_have_the_band(screen: Screen) -> None:
    """A saved picture names the sister runs and reaches to their extremes; so does a chart for a chat."""
    svg = picture_of(screen, "s0")
    assert "3 sister runs: median, min–max" in svg and "stroke-dasharray" in svg
    assert "sister runs" not in picture_of(screen, "other")
    view = screen.session.runs["s0"]
    sisters = [screen.session.runs[name] for name in ("s1", "s2")]
    (row,) = rows_of(view, [TAG], merge=False)
    series = sister_series(view, TAG, sisters)
    text = chart_text(row, view.shown_name, window_for(view), 100, sisters=series)
    assert "dots: 2 sister runs, min and max" in text and "·" in text


def test_a_report_draws_the_band(screen: Screen, tmp_path: Path) -> None:
    """The HTML of a run whose sisters were read has their band in its charts."""
    found = rltui("report", tmp_path, "--run", "s*", "--format", "html")
    assert found.code == 0 and "3 sister runs: median" in found.out


def test_a_run_of_other_settings_is_no_sister(screen: Screen) -> None:
    """It has none, so its chart has no band, and the key says why."""
    screen.choose_run("other")
    screen.go_to_tag(TAG)
    screen.press("enter")
    read_settings(screen)
    assert "sister runs" not in screen.text(120, 30)
    screen.press("b")
    assert "by the seed alone" in screen.message


def digest(**hparams: Value) -> str:
    """Of settings as they are read from a file."""
    return hparams_digest({key: HParam(key, value, "config.yaml") for key, value in hparams.items()})


def test_only_seeds_names_and_places_may_differ() -> None:
    """The name of a model is no name of a run; a setting that is nowhere set is none."""
    base = digest(lr=1e-3, seed=1, run_name="a", output_dir="x", model_name="gpt2")
    assert base == digest(lr=1e-3, seed=2, run_name="b", output_dir="y", model_name="gpt2", note=None)
    assert base != digest(lr=1e-3, seed=1, run_name="a", output_dir="x", model_name="qwen")
    assert base != digest(lr=1e-4, seed=1, run_name="a", output_dir="x", model_name="gpt2")
    assert digest(seed=1, run_name="a") == ""
