"""An estimate of the model FLOPs utilisation (MFU) where it is not logged but its inputs are known.

FLOPs of a trained token: 6 N for forward and backward, with the N parameters that are used for a token (of a
mixture of experts the active ones), and 12 L h T for attention over T tokens in L layers of width h
(A. Chowdhery et al., PaLM, 2022, appendix B). MFU is what that comes to by the peak of the accelerators.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_si
from rltui.panes.answers.accelerators.hardware import Hardware, Told, hardware_of
from rltui.panes.answers.accelerators.resources import accelerators
from rltui.panes.answers.recent_values import RunValues, Values

PARAMETERS = "optimizer.param_count"
LENGTH = "lengths.total.mean"
PROMPT_AND_RESPONSE = ("lengths.prompt.mean", "lengths.response.mean")
MOST = 1.0  # a larger estimate has a wrong input


class MfuEstimate(NamedTuple):
    """Estimated MFU at each step, of the update where its time is logged, else of the whole step."""

    of: str
    values: Values
    formula: str
    inputs: str


def mfu_estimate(run: RunValues) -> MfuEstimate | None:
    """The estimate; None where an input is unknown, or where what comes out is impossible."""
    hardware = hardware_of(run)
    gpus, peak = accelerators(run), hardware.peak_tflops
    parameters = hardware.active_parameters or hardware.parameters or _logged_parameters(run)
    if gpus is None or peak is None or parameters is None:
        return None
    first = run.first_steps
    tokens, update = run.find_first("tokens"), run.find_first("updates")
    seconds = update or run.find("timing.step")
    if tokens is None or seconds is None:
        return None
    steps = np.intersect1d(tokens.step, seconds.step)
    spent = seconds.at(steps)
    steps, spent = steps[spent > 0], spent[spent > 0]
    if not len(steps):
        return None
    attention, words = _attention(run, hardware, steps)
    flops = (6 * parameters.value + attention) * tokens.at(steps)
    values = Values("", steps, flops / (spent * gpus.value * peak.value * 1e12)).without_first(first)
    if not 0 < values.now <= MOST:
        return None
    of = "the update" if update is not None else "the whole step"
    active = " active" if hardware.active_parameters is not None else ""
    formula = f"(6 N{words}) × tokens / (seconds of {of} × GPUs × peak)"
    inputs = (
        f"N = {format_si(parameters.value)}{active} parameters ({parameters.source}), "
        f"{gpus.value:,.0f} GPUs ({gpus.formula or 'configuration'}), "
        f"peak {peak.value:,.0f} TFLOP/s ({peak.source})"
    )
    return MfuEstimate(of, values, formula, inputs)


def _logged_parameters(run: RunValues) -> Told | None:
    count = run.find(PARAMETERS)
    return None if count is None or not count.now > 0 else Told(count.now, count.tag)


def _attention(run: RunValues, hardware: Hardware, steps: Ints) -> tuple[Floats | float, str]:
    """FLOPs of attention for a token at (n,) steps, and how the formula spells them; 0 where unknown."""
    layers, width = hardware.layers, hardware.hidden_size
    if layers is None or width is None:
        return 0.0, ""
    length = run.find(LENGTH)
    if length is not None:
        tokens = length.held(steps)
    else:
        parts = [one for name in PROMPT_AND_RESPONSE if (one := run.find(name)) is not None]
        if not parts:
            return 0.0, ""
        tokens = np.sum([one.held(steps) for one in parts], axis=0)
    return 12 * layers.value * width.value * tokens, " + 12 L h T"
