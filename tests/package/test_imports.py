"""What an import may pull in: start-up time and the layers, seen from a fresh interpreter."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of rich the table of cell widths is used everywhere: 3 ms.
HEAVY = ["textual", "rich.console", "pandas", "tensorboard", "tbparse", "plotext", "pyarrow", "watchdog"]


# The monitor, as it starts.
SCREEN = (
    "from rltui.common import interpreter_settings as i; i.import_asyncio_without_ssl(); "
    "import rltui.screen.start"
)


def modules_and_folders(folder: Path) -> list[str]:
    """The names of the modules and packages in a package."""
    modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    return [*modules, *(path.parent.name for path in folder.glob("*/__init__.py"))]


def test_import_contracts_cover_the_inside_of_every_package() -> None:
    """A package of several modules has layers that name each of them, or forbids imports among them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    covered = set()
    for contract in contracts:
        if contract["type"] == "layers" and contract.get("exhaustive"):
            covered.update(contract["containers"])
        if contract["type"] == "independence":
            covered.update(name.removesuffix(".*") for name in contract["modules"] if name.endswith(".*"))
    packages = [path.parent for path in (ROOT / "rltui").rglob("__init__.py")]
    names = {
        ".".join(folder.relative_to(ROOT).parts): folder
        for folder in packages
        if len(modules_and_folders(folder)) > 1
    }
    # A wildcard in a contract stands for one name, as in `rltui.cli.commands.*`.
    patterns = [each.replace(".", r"\.").replace("*", r"[^.]+") for each in covered]
    uncovered = [name for name in names if not any(re.fullmatch(each, name) for each in patterns)]
    assert len(names) > 40 and uncovered == []


@cache
def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stdout.split())


def test_the_lower_half_imports_no_heavy_library() -> None:
    """Judging and showing runs without a terminal needs numpy, not a toolkit."""
    lower = (
        "session.session", "panes.render.plain_text", "rules.evaluator", "logs.follow.follower",
        "panes.baseline.comparison", "demo.replay",
    )  # fmt: skip
    loaded = loaded_by("import " + ", ".join(f"rltui.{module}" for module in lower))
    assert "numpy" in loaded and not loaded & set(HEAVY)


def test_explaining_a_metric_does_not_wait_for_the_screen() -> None:
    """The command line imports a command when it is called, and what it says of a metric needs no arrays."""
    assert loaded_by("import rltui.cli") & {"numpy", *HEAVY} == set()
    assert (
        loaded_by("from rltui.cli.commands.reference import explain, glossary") & {"numpy", *HEAVY} == set()
    )


def test_the_screen_starts_without_tables_and_plots() -> None:
    """What reads tables and draws plots is imported when it is first needed."""
    assert not loaded_by(SCREEN) & {"pandas", "tensorboard", "tbparse", "plotext", "pyarrow"}


def test_steps_that_two_metrics_share_need_no_masked_arrays() -> None:
    """These are 1.2 MB and 10 ms, and panes ask for common steps on their first frame."""
    common = "import numpy as np; from rltui.common.arrays import in_both; "
    loaded = loaded_by(
        f"{common} assert in_both(np.array([3, 1, 3, 2]), np.array([5, 3, 2])).tolist() == [2, 3]"
    )
    assert "numpy.ma" not in loaded


def test_the_monitor_loads_no_encryption() -> None:
    """OpenSSL is 5 MB; what sends alerts loads it when it sends."""
    assert not loaded_by(SCREEN) & {"ssl", "_ssl", "_hashlib"}
    assert "ssl" in loaded_by(f"{SCREEN}; from http.client import HTTPSConnection")


def test_numpy_is_loaded_without_texts_of_its_functions() -> None:
    """Docstrings of compiled functions are a seventh of importing numpy, and no command shows them."""
    start = "from rltui.common import interpreter_settings as i; i.prepare_start(); import numpy"
    assert loaded_by(f"{start}; assert not numpy.ndarray.sort.__doc__")
    assert loaded_by("import numpy; assert numpy.ndarray.sort.__doc__")


def test_remembered_verdicts_are_told_without_what_reads_and_judges() -> None:
    """`check` and `runs` import readers, rules and the store with the first run that has to be judged."""
    commands = "import rltui.cli.commands.health.check, rltui.cli.commands.data.runs"
    loaded = loaded_by(f"{commands}, rltui.many_runs.cached_plan")
    judging = {
        "rltui.session.session",
        "rltui.rules.evaluator",
        "rltui.store.run",
        "rltui.logs.follow.follower",
    }
    assert loaded & {*judging, "rltui.metrics.resolve", "rltui.panes.rows.row"} == set()


def test_only_formats_that_a_name_may_be_of_are_loaded() -> None:
    """An event file is known by its name: no other format, and no container, is imported for it."""
    ask = "from rltui.logs.formats.registry import REGISTRY as r; r.could_be_log('events.out.tfevents.1')"
    loaded = loaded_by(f"{ask}; r.could_be_container('/run')")
    assert {each for each in loaded if each.startswith("rltui.logs.formats.trackers")} == set()
    assert "rltui.logs.formats.lines.jsonl" not in loaded
    of_json = loaded_by(ask.replace("events.out.tfevents.1", "metrics.jsonl"))
    assert of_json & {"rltui.logs.formats.trackers.wandb", "rltui.logs.formats.lines.csv_table"} == set()
    assert "rltui.logs.formats.trackers.sqlite_file" in loaded_by(
        f"{ask}; r.could_be_container('/a/mlflow.db')"
    )


def test_garbage_collection_is_set_in_one_place() -> None:
    """Settings of the interpreter stand beside their measurements, in one module."""
    users = [path.name for path in (ROOT / "rltui").rglob("*.py") if "import gc\n" in path.read_text()]
    assert users == ["interpreter_settings.py"]
