"""Charts as pictures: what stands in them, that nothing hostile does, and PNG where cairo is there."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rltui.draw.chart_svg import ChartPicture, as_png, pictures_svg
from rltui.draw.themes import color_of, load_themes
from rltui.panes.charts.chart_picture import chart_picture
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import rows_of
from rltui.rules.finding import Finding
from tests.support.runs.made_run import believable, finding

THEMES = load_themes()[0]


def picture(
    values: list[float], *findings: Finding, name: str = "run", **options: object
) -> ChartPicture | None:
    """The chart of a metric with these values at steps 1, 2, ..."""
    run = believable(4)
    run.add("x/value", values, title="Value", pane="reward")
    run.found = list(findings)
    (row,) = rows_of(run, ["x/value"], merge=False)
    return chart_picture(row, name, StepWindow(1.0, float(len(values))), **options)


def words(svg: str) -> list[str]:
    """The texts of a picture."""
    return [text.text or "" for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_names_metric_key_run_and_last_value() -> None:
    """Who sees it in a chat needs to ask nothing."""
    found = picture([0.5] * 10 + [0.75])
    assert found is not None
    said = words(pictures_svg([found], THEMES["paper"]))
    assert said[0] == "Value" and "x/value · run · last 0.750" in said and "step" in said


def test_onset_and_limit_of_a_finding_are_marked() -> None:
    """A vertical line at the step, with its title, and a horizontal one at the limit."""
    one = finding("x/value", "critical", since_step=30, limit=2.0, title="value too high")
    found = picture([1.0] * 29 + [3.0] * 20, one)
    assert found is not None
    assert [(at, role) for at, role, _ in found.marks] == [(30.0, "bad")]
    assert [(at, role) for at, role, _ in found.limits] == [(2.0, "bad")]
    assert any("value too high, step 30" in word for word in words(pictures_svg([found], THEMES["night"])))


def test_gaps_break_the_line_and_nan_is_crossed() -> None:
    """No line leads through what was not logged as a number."""
    found = picture([1.0, 2.0, math.nan, 2.0, 1.0])
    assert found is not None and len(found.crosses) >= 1
    assert pictures_svg([found], THEMES["night"]).count('stroke-width="1.6"') == 2


def test_nothing_finite_is_no_picture() -> None:
    """A metric that is NaN from its first point on has none."""
    assert picture([math.nan] * 5) is None


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300, 1.7e308])
def test_any_size_of_values_stays_in_the_picture(scale: float) -> None:
    """Coordinates are finite and within the edges, whatever the values are."""
    found = picture([scale * one for one in (-1.0, 0.5, 1.0)])
    assert found is not None
    svg = pictures_svg([found], THEMES["night"])
    points = re.findall(r"[ML](\S+) ([^LZ\"]+)", svg) + re.findall(r'<text x="(\S+)" y="(\S+)"', svg)
    assert points and all(-20 <= float(x) <= 740 and -20 <= float(y) <= 320 for x, y in points)


def test_a_constant_has_room_above_and_below() -> None:
    """It is a line in the middle, not on an edge."""
    found = picture([3.0] * 20)
    assert found is not None and found.y[0] < 3.0 < found.y[1]


def test_decades_are_logarithmic_and_said() -> None:
    """The axis turns by itself, as on the cards, and can be held."""
    values = np.geomspace(1e-6, 1e3, 200).tolist()
    found = picture(values)
    assert found is not None and found.log and "logarithmic" in found.note
    held = picture(values, log=False)
    assert held is not None and not held.log


def test_other_runs_lie_behind_with_their_names() -> None:
    """Each has its colour and stands in the legend."""
    other = believable(50)
    found = picture([1.0] * 50, others=[("good one", other.run.series["actor/entropy"])])
    assert found is not None
    assert [(one.role, one.label) for one in found.curves] == [("series0", "run"), ("series1", "good one")]
    assert "good one" in words(pictures_svg([found], THEMES["paper"]))


def test_hostile_names_are_only_text() -> None:
    """A run or key that spells markup stays words: the picture is well-formed and runs nothing."""
    name = '"><script>alert(1)</script><a href="x">&'
    one = finding("x/value", "warning", title=name, since_step=2)
    found = picture([1.0, 2.0, 3.0], one, name=name)
    assert found is not None
    svg = pictures_svg([found, found], THEMES["night"])
    names = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert names == {"svg", "rect", "path", "text"}
    assert "<script" not in svg and "href" not in re.sub(r"<text.*?</text>", "", svg)


def test_every_theme_has_colours_for_pictures() -> None:
    """What a theme leaves to the terminal is a colour here."""
    for theme in THEMES.values():
        for role in ("background", "text", "strong", "dim", "accent", "series1", "bad", "nothing"):
            assert re.fullmatch("#[0-9a-fA-F]{6}", color_of(role, theme))


def test_png_is_drawn_from_the_svg() -> None:
    """Where cairo is installed, the picture is a PNG of twice its size."""
    pytest.importorskip("cairosvg", exc_type=ImportError)
    found = picture([1.0, 2.0])
    assert found is not None
    data = as_png(pictures_svg([found], THEMES["paper"], 300, 200))
    assert data.startswith(b"\x89PNG") and int.from_bytes(data[16:20]) == 600
