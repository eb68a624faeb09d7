"""What was made of shipped files is kept: always what the files say, whatever happened to what was kept."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rltui.common.regex import regex
from rltui.draw.themes import load_themes
from rltui.metrics import glossary_files
from rltui.metrics.frameworks.framework_files import Frameworks, frameworks
from rltui.metrics.glossary_files import glossary
from rltui.rules import rulebook as rules
from rltui.rules.rulebook import rulebook
from rltui.schema import value_cache
from rltui.schema.toml_files import DATA, modules_of
from rltui.schema.value_cache import cached_value
from tests.support.runs.checked_runs import environment


@pytest.fixture(autouse=True)
def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that starts after the files of a test were written: it may keep what it makes."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr(value_cache, "_STARTED", time.time_ns() + 10**12)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file whose value has been kept, as a start leaves it."""
    path = tmp_path / "one.toml"
    path.write_text("1")
    assert value_of(path) == "1"
    assert kept(tmp_path).exists()
    return path


def value_of(path: Path, make: Callable[[], str] | None = None) -> str:
    """The text of a file, through what is kept of it."""
    return cached_value(path, (path,), make or path.read_text)


def kept(folder: Path) -> Path:
    """The one file that is kept."""
    (found,) = folder.glob("__pycache__/*")
    return found


def test_an_unchanged_file_is_not_read_again(file: Path) -> None:
    """What was made of it is taken."""
    assert value_of(file, lambda: "made anew") == "1"


@pytest.mark.parametrize("change", ["size", "time", "another file", "code"])
def test_a_changed_file_is_read_anew(tmp_path: Path, change: str) -> None:
    """Another size is enough, and so is another time, a new file of the folder, or one of its modules."""
    folder = tmp_path / "rules"
    folder.mkdir()
    for name in ("a.toml", "model.py"):
        (folder / name).write_text("x = 1")
    texts = lambda: sorted(path.read_text() for path in folder.iterdir())  # noqa: E731
    assert cached_value(folder, (folder,), texts) == ["x = 1", "x = 1"]
    name = {"another file": "b.toml", "code": "model.py"}.get(change, "a.toml")
    (folder / name).write_text("x = 2" if change == "time" else "x = 22")
    if change == "time":
        os.utime(folder / name, (1e9, 1e9))
    assert cached_value(folder, (folder,), texts) == texts() != ["x = 1", "x = 1"]


@pytest.mark.parametrize(
    "content", [b"", b"x" * 200, "cut", b"cos\nno_such_name\n.", b"c__nowhere__\nx\n.", b"N."]
)
def test_what_was_kept_and_is_broken_hurts_nobody(file: Path, content: bytes | str) -> None:
    """The files are read again, and what they say is kept."""
    place = kept(file.parent)
    place.write_bytes(place.read_bytes()[:-5] if isinstance(content, str) else content)
    assert value_of(file) == "1"
    assert value_of(file, lambda: "made anew") == "1"


def test_nothing_is_written_where_no_modules_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -B` and PYTHONDONTWRITEBYTECODE mean these files, too."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path = tmp_path / "one.toml"
    path.write_text("1")
    assert value_of(path) == "1"
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_older_than_the_files_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update while a monitor runs: what its old classes make of new files is not for other processes."""
    path = tmp_path / "one.toml"
    path.write_text("1")
    monkeypatch.setattr(value_cache, "_STARTED", path.stat().st_ctime_ns)
    assert value_of(path) == "1"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_without_the_right_to_write_is_no_error(tmp_path: Path) -> None:
    """An installation of root: the value is made at each start."""
    path = tmp_path / "one.toml"
    path.write_text("1")
    (tmp_path / "__pycache__").write_text("no folder")
    assert [value_of(path, lambda made=made: made) for made in ("first", "second")] == ["first", "second"]


@pytest.mark.parametrize("part", ["glossary", "rules", "frameworks", "themes"])
def test_what_is_kept_is_what_the_files_say(part: str) -> None:
    """The shipped data read twice, with a kept value and without one, are equal."""
    if part == "glossary":
        assert glossary.__wrapped__() == glossary.__wrapped__() == glossary_files.load(DATA / "metrics")
    elif part == "rules":
        assert rulebook.__wrapped__() == rulebook.__wrapped__() == rules.load(DATA / "rules")
    elif part == "themes":
        assert load_themes() == load_themes()
    else:
        fresh = Frameworks(DATA / "frameworks")
        for found in (frameworks.__wrapped__(), frameworks.__wrapped__()):
            assert [(each.id, each.names, each.file) for each in found] == [
                (each.id, each.names, each.file) for each in fresh
            ]
            assert (found.signs, found.conventions, found.problems) == (
                fresh.signs,
                fresh.conventions,
                fresh.problems,
            )


def test_kept_expressions_are_compiled_when_they_are_used(tmp_path: Path) -> None:
    """A table with a hundred patterns is read without compiling them."""
    path = tmp_path / "one.toml"
    path.write_text("1")
    cached_value(path, (path,), lambda: {"lines": re.compile("A", re.IGNORECASE)})
    again: dict[str, re.Pattern[str]] = cached_value(path, (path,), dict)
    assert type(again["lines"]) is type(regex(""))
    assert again["lines"].match("a")


def test_a_table_is_read_again_when_a_class_within_it_changes() -> None:
    """Its modules are sources of what is kept, also those of classes in a dictionary or tuple."""
    kind = dict[str, tuple[glossary_files.Pane, ...]]
    assert modules_of(kind) == modules_of(glossary_files.Pane) == {Path(glossary_files.__file__)}


PROBLEMS = """
import json
from rltui.metrics.frameworks.framework_files import frameworks
from rltui.metrics.catalogue import catalogue
from rltui.metrics.glossary_files import glossary
from rltui.panes.unknown_metrics import unknown_metrics
from rltui.rules.rulebook import rulebook
made = {"glossary": glossary(), "frameworks": frameworks(), "names": catalogue(), "rules": rulebook()}
found = {part: each.problems for part, each in made.items()} | {"tables": unknown_metrics()}
print(json.dumps({part: [problem.text for problem in problems] for part, problems in found.items()}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that has been started once, without problems."""
    package = tmp_path_factory.mktemp("site") / "rltui"
    shutil.copytree(DATA.parent, package, ignore=shutil.ignore_patterns("__pycache__", "recordings"))
    assert problems_of(package) == {}
    return package


def problems_of(package: Path) -> dict[str, list[str]]:
    """The problems that a start of a copy of the package reports, by part."""
    done = subprocess.run(
        [sys.executable, "-c", PROBLEMS], capture_output=True, text=True, check=True, cwd=package.parent,
        env=environment(package.parent) | {"PYTHONPATH": str(package.parent)},
    )  # fmt: skip
    found: dict[str, list[str]] = json.loads(done.stdout)
    return {part: texts for part, texts in found.items() if texts}


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        pytest.param(
            "metrics/policy.toml",
            '"policy.entropy"',
            '"policy.disorder"',
            {"glossary", "names", "rules", "tables"},
            id="metric",
        ),
        pytest.param("units.toml", 'nats = "nats"', 'bits = "bits"', {"glossary"}, id="unit"),
        pytest.param("rules/policy.toml", 'id = "entropy-low"', 'id = "entropy-small"', {"rules"}, id="rule"),
    ],
)
def test_a_warm_start_reports_the_same_problems_of_data_as_a_cold_one(
    package: Path, file: str, before: str, after: str, told: set[str]
) -> None:
    """What refers to an edited file is checked again, although its own files have not changed."""
    edited = package / "data" / file
    text = edited.read_text()
    assert before in text
    edited.write_text(text.replace(before, after, 1))
    warm = problems_of(package)
    for cache in package.rglob("*.pickle"):
        cache.unlink()
    cold = problems_of(package)
    edited.write_text(text)
    assert warm == cold
    assert warm.keys() >= told
