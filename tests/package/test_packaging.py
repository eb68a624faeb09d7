"""What is shipped, and what is promised in the README."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from rltui.common.extras import EXTRAS, install_hint
from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import environment

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the sdist of this checkout, as pip does it where there is no wheel."""
    folder = tmp_path_factory.mktemp("wheel")

    def build(kind: str, source: Path) -> Path:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
            check=True, capture_output=True, timeout=300, cwd=source,
        )  # fmt: skip
        return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))

    with tarfile.open(build("sdist", ROOT)) as archive:
        archive.extractall(folder, filter="data")
    return build("wheel", next(path for path in folder.iterdir() if path.is_dir()))


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    """The names in the wheel."""
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_works_without_the_checkout(built: Path, tmp_path: Path) -> None:
    """Installed by itself, in an empty folder: the demo is printed, and its recordings are judged."""
    site = tmp_path / "site"
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site)  # what pip does with pure Python

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "rltui", *words], capture_output=True, text=True, check=True, timeout=60,
            stdin=subprocess.DEVNULL, cwd=tmp_path, env=environment(tmp_path) | {"PYTHONPATH": str(site)},
        ).stdout  # fmt: skip

    assert "late-collapse" in run("demo")
    run("demo", "--save", "runs")
    assert "late-collapse" in run("check", "runs", "--fail-on", "never")


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    """The same dependencies with the same bounds, the same version."""
    from rltui import __version__

    recipe = (ROOT / "docs/packaging/recipe.yaml").read_text()
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    listed = {line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines() if line.strip()}
    assert listed == {"python>=3.11", *needed}
    assert f'version: "{__version__}"' in recipe


def test_the_wheel_carries_its_data(wheel: set[str]) -> None:
    """Themes, glossary, frameworks, rules and recordings are in the wheel; tests and logs are not."""
    for needed in (
        "themes_data/.*toml",
        "data/metrics/.*toml",
        "data/frameworks/.*toml",
        "data/rules/.*toml",
        r"demo/recordings/.*\.gz",
        r"screen/app\.py",
    ):
        assert any(re.fullmatch(f"rltui/{needed}", name) for name in wheel), needed
    assert not [name for name in wheel if name.startswith(("tests/", "screenshots/"))]


def test_the_readme_names_commands_that_exist() -> None:
    """Every `rltui COMMAND` of the README is one."""
    from rltui.cli import COMMANDS

    blocks = "".join(re.findall(r"^```.*?^```", README, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"(?:^|\s)rltui ([a-z]+)\b", blocks))
    assert named
    assert named <= set(COMMANDS)


def test_the_readme_names_make_targets_that_exist() -> None:
    """`make demo`, `make test` and the rest are targets of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", README)) <= targets | {"it"}


def test_the_numbers_of_the_readme_are_true() -> None:
    """As many metrics, frameworks, themes, rules and symptoms as it and the page of the screen say."""
    from rltui.draw.themes import load_themes
    from rltui.metrics.frameworks.framework_files import frameworks
    from rltui.metrics.glossary_files import glossary
    from rltui.rules.rulebook import rulebook

    said = re.search(r"about (\d+) metrics, under the names that (\d+) frameworks", README)
    assert said is not None
    assert abs(len(glossary().metrics) - int(said[1])) < 10
    # What rltui, trackers and custom loggers write is no framework's.
    written = [each for each in frameworks() if each.id not in ("glossary", "samples", "trackers")]
    assert len(written) == int(said[2])
    shipped = {name for name, theme in load_themes()[0].items() if theme.id != "plain"}
    screen = (ROOT / "docs/pages/screen.md").read_text()
    assert len(shipped) == 7 and "one of seven themes" in screen
    said = re.search(r"about (\d+) rules and (\d+) symptoms", screen)
    assert said is not None
    assert (
        abs(len(rulebook().rules) - int(said[1])) < 10 and abs(len(rulebook().symptoms) - int(said[2])) < 10
    )


def test_what_the_readme_links_to_is_there() -> None:
    """No broken image or link."""
    for picture in re.findall(r"\]\(((?!http)[^)]+)\)", README):
        assert (ROOT / picture).exists(), picture


def test_the_configuration_of_the_documentation_is_valid(tmp_path: Path) -> None:
    """What a user copies from the page on configuration is accepted as it stands."""
    page = (ROOT / "docs/pages/configuration.md").read_text()
    found = re.search(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    path = tmp_path / "config.toml"
    path.write_text(found.group(1))
    done = rltui("config", "--check", path)
    assert done.code == 0, done.err


def test_paths_that_are_named_are_there() -> None:
    """CONTRIBUTING and the comments of data name no module or folder that does not exist."""
    texts = [ROOT / "CONTRIBUTING.md", *(ROOT / "rltui").rglob("*.toml"), *(ROOT / "rltui").rglob("*.py")]
    named = {
        path
        for text in texts
        for path in re.findall(r"\b(?:rltui|tests|themes)/[\w/]+\.(?:py|toml|md)\b", text.read_text())
    } - {"rltui/data/NAME.toml", "rltui/config.toml"}
    assert len(named) > 60
    assert not [path for path in sorted(named) if not (ROOT / path).exists()]


def test_names_in_docstrings_are_there() -> None:
    """A dotted name in backticks leads to a module, and what follows that stands in it."""
    for module in (ROOT / "rltui").rglob("*.py"):
        for name in re.findall(r"`(rltui(?:\.\w+)+)`", module.read_text()):
            path, rest = ROOT, name.split(".")
            while rest and (path / rest[0]).is_dir():
                path /= rest.pop(0)
            if rest and (path / f"{rest[0]}.py").exists():
                path /= f"{rest.pop(0)}.py"
            inside = path if path.is_file() else path / "__init__.py"
            assert not rest or name == "rltui.toml" or rest[0] in inside.read_text(), f"{module}: {name}"


def test_keys_that_are_named_are_there() -> None:
    """The tables of keys in the documentation name keys that do something."""
    from rltui.screen.input.key_table import bindings, shown

    known = {shown(key) for bind in bindings() for key in bind.keys}
    for page in (README, (ROOT / "docs/pages/screen.md").read_text()):
        for row in re.findall(r"^\| (.*`.*) \|$", page, re.MULTILINE):
            for cell in row.split(" | ")[::2]:
                named = {word for words in re.findall(r"`([^`]+)`", cell) for word in words.split()}
                assert named <= known, cell


def test_the_changelog_has_the_version() -> None:
    """A section for the version of the package, with its date, and one for what is not released."""
    from rltui import __version__

    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE)
    assert text.index("## [Unreleased]") < text.index(f"## [{__version__}]")


def test_type_comments_stand_where_types_are_checked() -> None:
    """A `type: ignore` in a file that mypy does not read would excuse nothing, and stay for ever."""
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    ignore = re.compile("# type: " + "ignore")
    tests = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.glob("tests/**/*.py")}
    found = [name for name, text in tests.items() if ignore.search(text)]
    assert found and [name for name in found if not name.startswith(tuple(checked))] == []


def test_every_extra_has_a_hint_in_one_place() -> None:
    """Each extra for users has the hint that installs it, and no other module spells one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in project["optional-dependencies"].keys() - {"dev", "docs"}:
        assert install_hint(extra).endswith(f" not installed: pip install 'rltui[{extra}]'")
        assert extra not in EXTRAS or install_hint(extra).startswith(f"needs {EXTRAS[extra]}, which is ")
    spelled = [
        path.name for path in (ROOT / "rltui").rglob("*.py") if "pip install 'rltui" in path.read_text()
    ]
    assert spelled == ["extras.py"]
