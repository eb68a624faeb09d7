"""Folders of TOML files: read anew at every start, and nothing that is wrong with them goes untold."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from rltui.common.problem import Problem
from rltui.metrics import glossary_files
from rltui.metrics.catalogue import Catalogue
from rltui.metrics.frameworks.framework_files import Frameworks
from rltui.rules import rulebook as rules
from rltui.schema.toml_files import DATA, read_folder


def tables(folder: Path, problems: list[Problem]) -> dict[str, dict[str, Any]]:
    """The tables of a folder by file stem."""
    return {stem: table for stem, table, _ in read_folder(folder, problems)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two data files."""
    place = tmp_path / "data"
    place.mkdir()
    (place / "a.toml").write_text('x = 1\n[t]\ny = "ü"')
    (place / "b.toml").write_text("z = [1.5, true]")
    (place / "notes.txt").write_text("no data")
    return place


def test_files_by_their_stems(folder: Path) -> None:
    """TOML files are read, others are not."""
    problems: list[Problem] = []
    assert tables(folder, problems) == {"a": {"x": 1, "t": {"y": "ü"}}, "b": {"z": [1.5, True]}}
    assert problems == []


def test_a_file_that_is_no_toml_is_told_with_its_line(folder: Path) -> None:
    """The others hold."""
    (folder / "b.toml").write_text("z = = 1")
    problems: list[Problem] = []
    assert list(tables(folder, problems)) == ["a"]
    assert [(problem.code, problem.path) for problem in problems] == [("data-not-toml", "b.toml")]
    assert "line 1" in problems[0].message


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """It has no files, and is not raised."""
    problems: list[Problem] = []
    assert tables(tmp_path / "nowhere", problems) == {}
    assert [problem.code for problem in problems] == ["data-unreadable"]


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    """What is not a regular file is told at once."""
    os.mkfifo(folder / "c.toml")
    problems: list[Problem] = []
    assert list(tables(folder, problems)) == ["a", "b"]
    assert [problem.message for problem in problems] == ["cannot be read: it is not a regular file"]


def _problems(data: Path) -> list[str]:
    """What is wrong with the metrics and frameworks of a folder."""
    found = Catalogue(glossary_files.load(data / "metrics"), Frameworks(data / "frameworks"))
    return [problem.message for problem in found.problems]


def test_a_reference_to_nowhere_is_told_at_every_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric renamed in the glossary alone: frameworks, metrics and rules that name it, each time."""
    copy = tmp_path / "data"
    shutil.copytree(DATA, copy)
    assert _problems(copy) == []
    path = copy / "metrics" / "policy.toml"
    path.write_text(path.read_text().replace('id = "policy.entropy"', 'id = "policy.entropie"'))
    for _ in range(2):
        messages = _problems(copy)
        assert any("leads to no metric: policy.entropy" in message for message in messages)
        assert any("check_next names no metric: policy.entropy" in message for message in messages)
    renamed = glossary_files.load(copy / "metrics")
    monkeypatch.setattr("rltui.rules.rulebook.glossary", lambda: renamed)
    for _ in range(2):
        messages = [problem.message for problem in rules.load(copy / "rules").problems]
        assert any("names 'policy.entropy', which is not a metric" in message for message in messages)
