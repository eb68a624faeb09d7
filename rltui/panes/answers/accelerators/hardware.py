"""Accelerators and model of a run, as the user's configuration or its settings say; which keys is data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.answers.recent_values import RunValues
from rltui.run_context.hparams.hparams import HParam, HParams, merge
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.schema.fields import ListField, table_of
from rltui.schema.toml_files import read_table

# `7B`, `0.5b`, `30B-A3B`, `8x7B`: billions of parameters in a model's name, active ones behind an A.
_SIZE = regex(r"(?<![\w.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])(?:-a(\d+(?:\.\d+)?)b(?![a-z0-9]))?", re.I)
USER = "configuration"


class Accelerator(NamedTuple):
    """A kind of accelerator and its peak of dense 16-bit products, TFLOP/s."""

    name: str
    words: tuple[str, ...]
    tflops: float


class HardwareKeys(NamedTuple):
    """The table: last parts of keys by what they say, and the accelerators that are known."""

    settings: Mapping[str, tuple[str, ...]]
    accelerator: tuple[Accelerator, ...]


class Told(NamedTuple):
    """A number and where it is said, in words that a formula can hold."""

    value: float
    source: str


class Hardware(NamedTuple):
    """What is known of a run's accelerators and model; None unknown. Parameters are counts."""

    gpus: Told | None = None
    peak_tflops: Told | None = None
    parameters: Told | None = None
    active_parameters: Told | None = None  # where only some are used for a token
    layers: Told | None = None
    hidden_size: Told | None = None


@cache
def hardware_keys() -> HardwareKeys:
    """The table of the file, read at the first call."""
    return read_table(
        "hardware", lambda: table_of(HardwareKeys, accelerator=ListField(table_of(Accelerator)))
    )


def hardware_of(of: RunValues) -> Hardware:
    """What the user says of a run, then what its settings say."""
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
    found = (each for each in hardware_keys().accelerator if any(_within(word, lower) for word in each.words))
    return next(found, None)


def _within(word: str, name: str) -> bool:
    """Whether a word is in a name, not as part of a longer number or word: `l4` is not in `l40`."""
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![0-9])", name) is not None


def _user(value: float | None) -> Told | None:
    return None if value is None else Told(float(value), USER)


def _peak(name: str, source: str) -> Told | None:
    known = peak_of_name(name) if name else None
    return None if known is None else Told(known.tflops, f"peak of {known.name}, {source}")


def _peak_of(hparams: HParams) -> Told | None:
    for entry in _entries(hparams, "gpu"):
        found = _peak(entry.text, entry.key)
        if found is not None:
            return found
    return None


def _entries(hparams: HParams, what: str) -> Iterator[HParam]:
    """The settings whose last part is one of those that say something, in the order of the table."""
    by_part: dict[str, list[HParam]] = {}
    for entry in hparams.entries.values():
        part = entry.key.replace(".", "/").rpartition("/")[2]
        by_part.setdefault(part.lower().replace("-", "_").replace(" ", "_"), []).append(entry)
    for word in hardware_keys().settings[what]:
        yield from by_part.get(word, ())


def _number(hparams: HParams, what: str) -> Told | None:
    for entry in _entries(hparams, what):
        value = entry.value
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return Told(float(value), entry.key)
    return None


def _gpus(hparams: HParams) -> Told | None:
    per_node = _number(hparams, "gpus_per_node")
    nodes = _number(hparams, "nodes")
    if per_node is not None:
        of_nodes = f" × {nodes.source}" if nodes is not None else ""
        return Told(per_node.value * (nodes.value if nodes is not None else 1), per_node.source + of_nodes)
    return _number(hparams, "gpus")


def _parameters(hparams: HParams) -> tuple[Told | None, Told | None]:
    """All parameters and the active ones: settings, else the model's name."""
    known, active = _number(hparams, "parameters"), _number(hparams, "active_parameters")
    if known is not None:
        return known, active
    for entry in _entries(hparams, "model"):
        found = _SIZE.search(entry.text) if isinstance(entry.value, str) else None
        if found is not None:
            size = float(found[2]) * float(found[1] or 1) * 1e9
            name = f"{entry.key} {entry.text.rstrip('/').rpartition('/')[2][:40]}"
            part = Told(float(found[3]) * 1e9, name) if found[3] else active
            return Told(size, name), part
    return None, active
