"""The optional dependencies of rltui, which are installed as extras."""

from __future__ import annotations

EXTRAS = {
    "parquet": "pyarrow",
    "mcp": "mcp",
    "ray": "ray",
    "dask": "distributed",
    "slurm": "submitit",
    "png": "cairosvg",
    "remote": "fsspec",
}  # extra in `pyproject.toml` -> the package that it installs, by the name under which it is imported
_DRIVERS = {"gpu": "nvidia-ml-py and psutil"}  # several packages


def install_hint(extra: str) -> str:
    """What is missing without an extra, and what installs it, to follow the name of what needs it."""
    package = EXTRAS.get(extra)
    missing = f"{package}, which is" if package else f"{_DRIVERS[extra]}, which are"
    return f"needs {missing} not installed: pip install 'rltui[{extra}]'"
