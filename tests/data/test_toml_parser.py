"""Shipped files are compiled: always what their text says, whatever happened to what was kept of it."""

from __future__ import annotations

import os
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from rltui.data.toml_files import DATA
from rltui.data.toml_parser import loads, shipped_table

FILES = sorted(DATA.rglob("*.toml"))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose table has been kept, as a start leaves it."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = tmp_path / "one.toml"
    path.write_text("x = 1")
    assert shipped_table(path) == {"x": 1}
    assert Path(cache_from_source(str(path))).exists()
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_a_shipped_file_is_its_text(path: Path) -> None:
    """Each of them can be compiled: one that could not would be parsed at every start."""
    assert repr(shipped_table(path)) == repr(loads(path.read_text("utf-8")))


def test_no_file_is_called_as_a_module_beside_it() -> None:
    """Both would be kept under one name, and compiled anew in turn."""
    assert [path for path in FILES if path.with_suffix(".py").exists()] == []


def test_a_changed_file_is_read_anew(file: Path) -> None:
    """Another size is enough, and so is another time."""
    file.write_text("x = 22")
    assert shipped_table(file) == {"x": 22}
    file.write_text("x = 33")
    os.utime(file, (1e9, 1e9))
    assert shipped_table(file) == {"x": 33}


@pytest.mark.parametrize("kept", [b"", b"x" * 200, "cut", "other"])
def test_what_was_kept_and_is_broken_hurts_nobody(file: Path, kept: bytes | str) -> None:
    """The text tells it then: here, or by being parsed."""
    place = Path(cache_from_source(str(file)))
    whole = place.read_bytes()
    if isinstance(kept, str):
        kept = whole[:-5] if kept == "cut" else whole[:16] + b"\0" * 20
    place.write_bytes(kept)
    assert shipped_table(file) in ({"x": 1}, None)


def test_nothing_is_written_where_no_modules_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -B` and PYTHONDONTWRITEBYTECODE mean these files, too."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path = tmp_path / "one.toml"
    path.write_text("x = 1")
    assert shipped_table(path) == {"x": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["x = = 1", 'x = "\udcff"', "x = 1979-05-27"])
def test_what_is_no_table_of_plain_values_is_none(tmp_path: Path, text: str) -> None:
    """No TOML, no UTF-8, a date: parsing it tells why, or does it."""
    path = tmp_path / "one.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert shipped_table(path) is None
    assert shipped_table(tmp_path / "missing.toml") is None
