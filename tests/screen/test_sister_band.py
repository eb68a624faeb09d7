"""Sister runs behind the curve of a large chart: minimum, median and maximum over seeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rltui.hparams.hparams import HParam, Value, settings_digest
from rltui.panes.row import rows_of
from rltui.screen.pages.chart.sister_band import sister_band
from rltui.screen.pages.chart.x_axis import XAxis
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.screens import Screen, screen_of

TAG = "train/kl"


def log(folder: Path, name: str, level: float, *, steps: int = 40, **settings: object) -> None:
    """A run of one level with settings beside it."""
    (folder / name).mkdir()
    (folder / name / "config.json").write_text(json.dumps(settings))
    rows = [json.dumps({"step": step, TAG: level, "train/reward": 1.0 + level}) for step in range(steps)]
    (folder / name / "metrics.jsonl").write_text("\n".join(rows) + "\n")


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
        screen.text(120, 30)
        assert screen.state.hparams.files.wait(10)


def test_the_band_spans_the_sisters_that_have_come_so_far(screen: Screen) -> None:
    """Lowest, middle and highest of at least two; nothing where only one is left."""
    view = screen.session.runs["s0"]
    (row,) = rows_of(view, [TAG], merge=False)
    sisters = [screen.session.runs[name] for name in ("s1", "s2", "s3")]
    found = sister_band(view, row, XAxis(view, "step"), sisters, 0.0, 39.5, 40)
    assert found is not None
    band, middle = found
    assert (band.low[10], middle[10], band.high[10]) == (2.0, 4.0, 9.0)
    assert (band.low[30], middle[30], band.high[30]) == (2.0, 3.0, 4.0)
    alone = sister_band(view, row, XAxis(view, "step"), sisters[2:], 0.0, 39.5, 40)
    assert alone is None and np.isfinite(band.low).all()


def test_the_chart_says_how_many_sisters_it_shows(screen: Screen) -> None:
    """Runs of the same settings but for the seed lie behind the curve; the key for bands hides them."""
    screen.go_to_tag(TAG)
    screen.press("enter")
    read_settings(screen)
    assert "min–max of 3 sister runs, median dotted" in screen.text(120, 30)
    screen.press("b")
    screen.press("b")
    assert "sister runs" not in screen.text(120, 30).replace("without the sister runs' band", "")


def test_a_run_of_other_settings_is_no_sister(screen: Screen) -> None:
    """It has none, so its chart has no band, and the key says why."""
    screen.choose_run("other")
    screen.go_to_tag(TAG)
    screen.press("enter")
    read_settings(screen)
    assert "sister runs" not in screen.text(120, 30)
    screen.press("b")
    assert "by the seed alone" in screen.message


def digest(**settings: Value) -> str:
    """Of settings as they are read from a file."""
    return settings_digest({key: HParam(key, value, "config.yaml") for key, value in settings.items()})


def test_only_seeds_names_and_places_may_differ() -> None:
    """The name of a model is no name of a run; a setting that is nowhere set is none."""
    base = digest(lr=1e-3, seed=1, run_name="a", output_dir="x", model_name="gpt2")
    assert base == digest(lr=1e-3, seed=2, run_name="b", output_dir="y", model_name="gpt2", note=None)
    assert base != digest(lr=1e-3, seed=1, run_name="a", output_dir="x", model_name="qwen")
    assert base != digest(lr=1e-4, seed=1, run_name="a", output_dir="x", model_name="gpt2")
    assert digest(seed=1, run_name="a") == ""
