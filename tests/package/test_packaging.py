"""What is shipped, and what is promised in the README."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support.checked import environment

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the sdist of this checkout, as pip does it where there is no wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)],
        check=True, capture_output=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(folder), str(next(folder.glob("*.tar.gz")))],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    """The names in the wheel."""
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_works_without_the_checkout(built: Path, tmp_path: Path) -> None:
    """Installed by itself, in an empty folder: the demo is printed, and its recordings are judged."""
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(built)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip

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
    """As many metrics, frameworks and themes as it says."""
    from rltui.draw.themes import load_themes
    from rltui.metrics.frameworks.load import frameworks
    from rltui.metrics.glossary_files import glossary

    said = re.search(r"about (\d+) metrics of (\d+) frameworks", README)
    assert said is not None
    assert abs(len(glossary().metrics) - int(said[1])) < 10
    # What rltui, trackers and custom loggers write is no framework's.
    written = [each for each in frameworks() if each.id not in ("glossary", "samples", "trackers")]
    assert len(written) == int(said[2])
    shipped = {name for name, theme in load_themes()[0].items() if theme.id != "plain"}
    screen = (ROOT / "docs/pages/screen.md").read_text()
    assert len(shipped) == 7 and "one of seven themes" in screen


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
    done = subprocess.run(
        [sys.executable, "-m", "rltui", "config", "--check", str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr


def test_paths_named_in_contributing_are_there() -> None:
    """CONTRIBUTING names no module or folder that does not exist."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:rltui|tests|themes|docs)/[\w/.-]*)`", text))
    assert len(named) > 30
    assert not [path for path in sorted(named) if not (ROOT / path).exists()]


def test_the_changelog_has_the_version() -> None:
    """A section for the version of the package, with its date, and one for what is not released."""
    from rltui import __version__

    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE)
    assert text.index("## [Unreleased]") < text.index(f"## [{__version__}]")
