"""Imports in functions, which are exceptions, have a reason that can be read where they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rltui

PACKAGE = Path(rltui.__file__).parent
# Modules of the extras of pyproject.toml, which may not be installed.
OPTIONAL = {"cairosvg", "distributed", "fsspec", "mcp", "psutil", "pyarrow", "pynvml", "ray", "submitit"}
# Commands, where each import in a function is for one command, option or format (see CONTRIBUTING.md).
FOLDERS = sorted(
    path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file() and path.name != "cli"
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_in_functions_say_why(folder: str) -> None:
    """A comment at the first of a group or above it, or a docstring that speaks of the import."""
    bare = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for line in bare_imports(path.read_text(encoding="utf-8"))
    ]
    assert not bare


def test_bare_imports_are_found() -> None:
    """A group without a word is found; one with a comment, a docstring or an optional module is not."""
    assert list(bare_imports("def f():\n    import a\n    import b\n")) == [2]
    assert list(bare_imports("def f():\n    if x:\n        import a\n")) == [3]
    for fine in (
        "import a\n",
        "def f():\n    import a  # 20 ms\n    import b\n",
        "def f():\n    # 20 ms\n    import a\n    import b\n",
        'def f():\n    """Imported on first use."""\n    import a\n',
        "def f():\n    import pyarrow.parquet\n    import a\n",
    ):
        assert not list(bare_imports(fine)), fine


def bare_imports(source: str) -> Iterator[int]:
    """The lines of groups of imports in functions without a reason."""
    lines, known = source.split("\n"), set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        told = "import" in (ast.get_docstring(function) or "").lower()
        for first in groups(function):
            said = "#" in lines[first.lineno - 1] or lines[first.lineno - 2].lstrip().startswith("#")
            if not (told or said or root_of(first) in OPTIONAL or first.lineno in known):
                known.add(first.lineno)
                yield first.lineno


def groups(function: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The first of each group of imports in the bodies of a function."""
    for node in ast.walk(function):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            before: object = None
            for statement in body if isinstance(body, list) else ():
                if isinstance(statement, IMPORTS) and not isinstance(before, IMPORTS):
                    yield statement
                before = statement


IMPORTS = (ast.Import, ast.ImportFrom)


def root_of(statement: ast.Import | ast.ImportFrom) -> str:
    """The top-level package that is imported first."""
    name = statement.module if isinstance(statement, ast.ImportFrom) else statement.names[0].name
    return (name or "").partition(".")[0]
