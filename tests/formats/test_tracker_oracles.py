"""Logs of trackers, consoles and default folders: the runs that a person expects, with their points."""

from __future__ import annotations

import fnmatch
import json
import math
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.batch import Text
from rltui.logs.follow.read_all import read_all
from tests.support.shared import SHARED

TRACKERS = SHARED / "trackers"
Points = dict[str, dict[int, float]]  # by tag and step, the latest


def _names() -> list[Any]:
    found = []
    for oracle in sorted(TRACKERS.glob("*.oracle.json")):
        name = oracle.name.removesuffix(".oracle.json")
        if (TRACKERS / name).is_dir():
            found.append(pytest.param(name))
    return found or [pytest.param("", marks=pytest.mark.skip(reason="the shared files are not here"))]


def read(folder: Path) -> tuple[dict[str, Points], dict[str, list[Text]]]:
    """Points and texts of every run below a folder."""
    runs: dict[str, Points] = {}
    texts: dict[str, list[Text]] = {}
    for delivery in read_all([folder]):
        batch, run = delivery.batch, delivery.source.run
        texts.setdefault(run, []).extend(batch.texts)
        for tag, step, value in zip(
            batch.tag.tolist(), batch.step.tolist(), batch.value.tolist(), strict=True
        ):
            runs.setdefault(run, {}).setdefault(batch.tags[tag], {})[step] = value
    return runs, texts


@pytest.mark.parametrize("name", _names())
def test_every_run_that_a_person_expects_is_read_with_its_points(name: str) -> None:
    """The runs and no others; of each series the number of steps, the first and the last point."""
    oracle = json.loads((TRACKERS / f"{name}.oracle.json").read_text())
    runs, texts = read(TRACKERS / name)
    expected = {}
    for run in oracle["runs"]:
        hits = [found for found in runs if any(word in found or word == "." for word in run["names"])]
        assert len(hits) == 1, (run["names"], hits)
        expected[hits[0]] = run
    assert set(runs) == set(expected)
    for found, run in expected.items():
        _compare(runs[found], run)
        ends = [text.body for text in texts[found] if text.kind == "exit-code"]
        if run.get("state") in ("finished", "crashed") and ends:
            assert (ends[-1] == "0") == (run["state"] == "finished")


def _compare(points: Points, run: dict[str, Any]) -> None:
    for tag, series in run["series"].items():
        if series.get("optional"):
            continue
        found = sorted(points[tag].items())
        spared = len(series.get("optional_steps", ())) + len(run.get("optional_steps", ()))
        if not run.get("attempts"):  # of several, steps are logged twice
            assert series["count"] - spared <= len(found) <= series["count"], tag
        digits = {32: 1e-6, 4: 2e-3}.get(series.get("float", run.get("float")), 1e-6)
        for mine, its in ((found[0], series["first"]), (found[-1], series["last"])):
            if not spared and not series.get("any_step") and "steps_also" not in series:
                assert mine[0] == its[0], tag
                value = float(str(its[1]).replace("Infinity", "inf"))
                same = mine[1] == pytest.approx(value, rel=digits, abs=digits / 1000)
                assert same or (math.isnan(mine[1]) and math.isnan(value)), tag
    allowed = run.get("optional_series", [])
    if "samples" in run:  # means of samples are welcome under any name that is not absent
        return
    other = [tag for tag in points if tag not in run["series"]]
    assert [tag for tag in other if not any(fnmatch.fnmatch(tag, each) for each in allowed)] == []
