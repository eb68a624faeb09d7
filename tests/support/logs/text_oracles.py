"""The oracles of text logs, and the batches of the same files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from rltui.logs.batch import Batch
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import REGISTRY
from tests.support.logs.file_in_memory import MemFile, read_whole
from tests.support.shared import oracles

DURATIONS = {"elapsed_time", "remaining_time"}  # text for the oracle, seconds for the reader


def oracle_cases() -> list[tuple[Path, dict[str, Any]]]:
    """Every text log that has an oracle, with the oracle."""
    cases = []
    for oracle in oracles():
        run = oracle.with_name(oracle.name.removesuffix(".oracle.json"))
        said = json.loads(oracle.read_text()).get("text_files") or {}
        cases += [(run / name, about) for name, about in said.items()]
    return cases


def read_path(path: Path) -> Batch:
    """A log as a one-off command reads it, recognised by its name and head."""
    data = path.read_bytes()
    form = REGISTRY.recognise(path.name, data[:HEAD])
    assert form is not None, f"{path.name} is not recognised"
    return read_whole(form, MemFile(path.name, data))


def by_tag(batch: Batch) -> dict[str, np.ndarray]:
    """Values of each tag, in order."""
    return {name: batch.value[batch.tag == place] for place, name in enumerate(batch.tags)}


def differences(batch: Batch, keys: dict[str, dict[str, Any]], step_key: str | None) -> list[str]:
    """Where a batch and the oracle's keys disagree: tags, counts, last values, sums, non-finite values."""
    found = by_tag(batch)
    wanted = {
        name.removeprefix("data/"): said
        for name, said in keys.items()
        if said["numeric"] + said["nonfinite"] and name != step_key
    }
    trouble = [f"missing {tag}" for tag in wanted.keys() - found.keys()]
    trouble += [f"extra {tag}" for tag in found.keys() - wanted.keys() - DURATIONS]
    for tag in wanted.keys() & found.keys():
        said, values = wanted[tag], found[tag]
        finite = values[np.isfinite(values)]
        last = float(said["last"]) if said["last"] is not None else None
        missing = len(values) - len(finite)
        # Null at the end may be a lost value; the oracle does not count it.
        if len(finite) != said["numeric"] or (missing != said["nonfinite"] and last is not None):
            trouble.append(f"{tag}: {len(values)} values")
        elif last is not None and not (values[-1] == last or (math.isnan(last) and math.isnan(values[-1]))):
            trouble.append(f"{tag}: last {values[-1]!r}")
        elif not math.isclose(math.fsum(finite), said.get("sum_finite", 0), rel_tol=1e-12, abs_tol=1e-9):
            trouble.append(f"{tag}: sum")
    return trouble
