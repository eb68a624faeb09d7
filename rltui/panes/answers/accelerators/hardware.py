"""Accelerators and model of a run, from the user's configuration or its hyperparameters.

The keys are listed in `rltui/data/hardware.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.answers.values.recent_values import RunValues
from rltui.run_context.hparams.hparams import HParam, HParams, merge
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.schema.toml_files import read_table

# `7B`, `0.5b`, `30B-A3B`, `8x7B`: billions of parameters in a model's name; the active ones follow an A.
_SIZE = regex(r"(?<![\w.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])(?:-a(\d+(?:\.\d+)?)b(?![a-z0-9]))?", re.I)
USER = "configuration"


class Accelerator(NamedTuple):
    """A model of accelerator and its peak in dense 16-bit arithmetic, TFLOP/s."""

    name: str
    words: tuple[str, ...]
    tflops: float


class HardwareKeys(NamedTuple):
    """The table: last parts of keys by quantity, and the known accelerators."""

    hparams: Mapping[str, tuple[str, ...]]
    accelerator: tuple[Accelerator, ...]


class SourcedNumber(NamedTuple):
    """A number and its source, as written in a formula; empty if it was logged."""

    value: float
    source: str = ""


class Hardware(NamedTuple):
    """Accelerators and model of a run; None if unknown. Parameters are counts."""

    gpus: SourcedNumber | None = None
    peak_tflops: SourcedNumber | None = None
    parameters: SourcedNumber | None = None
    active_parameters: SourcedNumber | None = None  # of a mixture of experts: those used for a token
    layers: SourcedNumber | None = None
    hidden_size: SourcedNumber | None = None


@cache
def hardware_keys() -> HardwareKeys:
    """The table of the file, read at the first call."""
    return read_table("hardware", HardwareKeys)


def hardware_of(of: RunValues) -> Hardware:
    """From the user's configuration, else from the hyperparameters of the run."""
    run, user = of.view.run, of.view.hardware
    hparams = merge((logged_hparams(run.texts.values(), run.hparams), of.inputs.hparams))
    parameters, active = _parameters(hparams)
    return Hardware(
        gpus=_user(user.gpus) or _gpus(hparams),
        peak_tflops=_user(user.peak_tflops) or _peak(user.gpu, USER) or _peak_of(hparams),
        parameters=_user(user.parameters) or parameters,
        active_parameters=_user(user.active_parameters) or active,
        layers=_number(hparams, "layers"),
        hidden_size=_number(hparams, "hidden_size"),
    )


def peak_of_name(name: str) -> Accelerator | None:
    """The kind of accelerator that a name such as `NVIDIA H100 80GB HBM3` is of."""
    lower = name.lower()
    known = hardware_keys().accelerator
    return next((kind for kind in known if any(_within(word, lower) for word in kind.words)), None)


def _within(word: str, name: str) -> bool:
    """Whether a name contains a word, not as part of a longer one: `l4` is not in `l40`."""
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![0-9])", name) is not None


def _user(value: float | None) -> SourcedNumber | None:
    return None if value is None else SourcedNumber(float(value), USER)


def _peak(name: str, source: str) -> SourcedNumber | None:
    known = peak_of_name(name) if name else None
    return None if known is None else SourcedNumber(known.tflops, f"peak of {known.name}, {source}")


def _peak_of(hparams: HParams) -> SourcedNumber | None:
    peaks = (_peak(entry.text, entry.key) for entry in _entries(hparams, "gpu"))
    return next(filter(None, peaks), None)


def _entries(hparams: HParams, quantity: str) -> Iterator[HParam]:
    """The settings whose last part is listed for a quantity, in the order of the table."""
    by_part: dict[str, list[HParam]] = {}
    for entry in hparams.entries.values():
        part = entry.key.replace(".", "/").rpartition("/")[2]
        by_part.setdefault(part.lower().replace("-", "_").replace(" ", "_"), []).append(entry)
    for word in hardware_keys().hparams[quantity]:
        yield from by_part.get(word, ())


def _number(hparams: HParams, quantity: str) -> SourcedNumber | None:
    for entry in _entries(hparams, quantity):
        value = entry.value
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return SourcedNumber(float(value), entry.key)
    return None


def _gpus(hparams: HParams) -> SourcedNumber | None:
    per_node = _number(hparams, "gpus_per_node")
    nodes = _number(hparams, "nodes")
    if per_node is not None:
        of_nodes = f" × {nodes.source}" if nodes is not None else ""
        return SourcedNumber(
            per_node.value * (nodes.value if nodes is not None else 1), per_node.source + of_nodes
        )
    return _number(hparams, "gpus")


def _parameters(hparams: HParams) -> tuple[SourcedNumber | None, SourcedNumber | None]:
    """The numbers of all parameters and of the active ones, from settings, else from the model's name."""
    known, active = _number(hparams, "parameters"), _number(hparams, "active_parameters")
    if known is not None:
        return known, active
    for entry in _entries(hparams, "model"):
        match = _SIZE.search(entry.text) if isinstance(entry.value, str) else None
        if match is not None:
            size = float(match[2]) * float(match[1] or 1) * 1e9
            name = f"{entry.key} {entry.text.rstrip('/').rpartition('/')[2][:40]}"
            part = SourcedNumber(float(match[3]) * 1e9, name) if match[3] else active
            return SourcedNumber(size, name), part
    return None, active
