"""The script that draws the pictures of the README works on the present screen."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "screenshots" / "make.py"


def test_a_picture_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The overview of a recording becomes SVG with the name of its run."""
    spec = importlib.util.spec_from_file_location("make_screenshots", SCRIPT)
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_screenshots", make)
    spec.loader.exec_module(make)
    picture = next(each for each in make.PICTURES if each.name == "80x24")
    svg = asyncio.run(make._draw(picture, tmp_path))
    assert svg.startswith("<svg") and "kl-runaway" in svg
