"""Data folders and their cache: quick when it can be, right in any case."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rltui.batch import Problem
from rltui.data import toml_files
from rltui.data.toml_files import Loaded, load

CALLS: list[int] = []


def build(tables: Mapping[str, dict[str, Any]], problems: list[Problem]) -> Any:
    """The tables as they are, counted."""
    CALLS.append(len(tables))
    return dict(tables)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the user's own."""
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    CALLS.clear()
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two data files."""
    place = tmp_path / "data"
    place.mkdir()
    (place / "a.toml").write_text('x = 1\n[t]\ny = "ü"')
    (place / "b.toml").write_text("z = [1.5, true]")
    (place / "notes.txt").write_text("no data")
    return place


DATA = {"a": {"x": 1, "t": {"y": "ü"}}, "b": {"z": [1.5, True]}}


def again(folder: Path) -> Loaded:
    """Load, as a second process would."""
    return load(folder, "test", build)


def kept(cache: Path) -> Path:
    """The one cache file."""
    (path,) = (cache / "rltui").iterdir()
    return path


def test_the_second_time_comes_from_the_cache(cache: Path, folder: Path) -> None:
    """The same data come back without parsing."""
    assert again(folder) == Loaded(DATA)
    assert again(folder) == Loaded(DATA, cached=True)
    assert CALLS == [2]
    assert kept(cache).stat().st_mode & 0o077 == 0


def test_a_changed_file_is_read_anew(cache: Path, folder: Path) -> None:
    """Content of equal length, files that come and go, and another version of the maker are all noticed."""
    again(folder)
    before = (folder / "a.toml").stat()
    (folder / "a.toml").write_text('x = 2\n[t]\ny = "ü"')
    os.utime(folder / "a.toml", ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert again(folder).data["a"]["x"] == 2
    (folder / "c.toml").write_text("q = 1")
    assert "c" in again(folder).data
    (folder / "c.toml").unlink()
    assert "c" not in again(folder).data
    assert load(folder, "test", build, version=2).cached is False


def test_faults_are_told_every_time(cache: Path, folder: Path) -> None:
    """A file that is no TOML is told with its line, is never cached over, and the others hold."""
    (folder / "b.toml").write_text("z = = 1")
    for _ in range(2):
        found = again(folder)
        assert found.data == {"a": DATA["a"]}
        assert [(p.level, p.code, p.path) for p in found.problems] == [("error", "data-not-toml", "b.toml")]
        assert "line 1" in found.problems[0].message


@pytest.mark.parametrize("damage", [b"", b"junk", b"\xff" * 100, b"{}"])
def test_a_damaged_cache_is_passed_over(cache: Path, folder: Path, damage: bytes) -> None:
    """Whatever the cache file holds, the data are right."""
    again(folder)
    kept(cache).write_bytes(damage)
    assert again(folder) == Loaded(DATA)
    assert again(folder).cached


def test_a_cache_cut_short_is_passed_over(cache: Path, folder: Path) -> None:
    """A cache with the right key and half a body is not believed."""
    again(folder)
    path = kept(cache)
    path.write_bytes(path.read_bytes()[:-5])
    assert again(folder) == Loaded(DATA)


def test_a_cache_that_others_may_write_is_not_believed(cache: Path, folder: Path) -> None:
    """Neither the file nor its folder may be writable by others; a link is not followed."""
    again(folder)
    path = kept(cache)
    path.chmod(0o666)
    assert not again(folder).cached
    again(folder)
    path.parent.chmod(0o777)
    assert not again(folder).cached
    path.parent.chmod(0o700)
    moved = path.rename(cache / "moved")
    path.symlink_to(moved)
    assert not again(folder).cached


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_writable_home_is_no_trouble(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be written there is just no cache."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(locked))
    for _ in range(2):
        assert again(folder) == Loaded(DATA)


def test_a_cache_place_that_is_no_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the cache folder should be, and a relative place, are passed over."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    for place in (str(tmp_path / "file"), "relative/place", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", place)
        assert again(folder) == Loaded(DATA)
    assert not Path("relative").exists()


def test_data_that_json_cannot_hold_are_given_not_kept(cache: Path, folder: Path) -> None:
    """Infinities would come back changed, so they are not cached."""
    (folder / "b.toml").write_text("z = inf")
    for _ in range(2):
        found = again(folder)
        assert found.data["b"]["z"] == float("inf")
        assert not found.cached


def test_a_missing_folder_has_no_files(cache: Path, tmp_path: Path) -> None:
    """It is told, not raised."""
    found = load(tmp_path / "nowhere", "test", build)
    assert found.data == {}
    assert [problem.code for problem in found.problems] == ["data-unreadable"]


def test_recalling_takes_little_memory(cache: Path, folder: Path) -> None:
    """Reading the cache allocates what it holds, not what it might."""
    again(folder)
    tracemalloc.start()
    assert again(folder).cached
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert toml_files._CAP > 1_000_000
