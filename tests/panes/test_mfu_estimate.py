"""MFU where it is not logged: estimated from tokens, parameters and accelerators, plainly marked."""

from __future__ import annotations

import pytest

from rltui.config import Config
from rltui.config.user_config import UserHardware
from rltui.panes.answers.accelerators.hardware import hardware_of, peak_of_name
from rltui.panes.answers.answer_inputs import AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.answers.values.recent_values import RunValues
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.run_context.hparams.hparams import hparams_of
from tests.support.runs.pane_answers import answer, run

SERIES = {"perf/total_num_tokens": 1e6, "timing_s/step": 100.0, "timing_s/update_actor": 40.0}
H100 = UserHardware(gpus=8, gpu="NVIDIA H100 80GB HBM3", parameters=7e9)


def test_an_estimate_is_marked_and_has_formula_and_inputs() -> None:
    """6 N tokens by the peak of all accelerators; the sentence says that it is estimated."""
    found = answer("perf", SERIES, config=Config(hardware={"*": H100}))
    expected = 6 * 7e9 * 1e6 / (40 * 8 * 989e12)
    (one,) = found.ranges
    assert one.middle == pytest.approx(expected)
    assert one.title.startswith("≈") and one.text.startswith("≈")
    assert "estimated" in found.sentence
    assert found.formulas[0] == "MFU of the update = (6 N) × tokens / (seconds of the update × GPUs × peak)"
    assert any(
        "7.00G parameters" in note and "8 GPUs" in note and "989 TFLOP/s" in note for note in found.notes
    )
    assert "≈ MFU of the update" in "\n".join(line.text for line in answer_lines(found, 120))


def test_attention_and_active_parameters_count() -> None:
    """Of a mixture of experts the active parameters count; attention needs layers, width and length."""
    settings = {
        "model": {"path": "/models/Qwen3-30B-A3B"}, "num_hidden_layers": 48, "hidden_size": 2048,
        "trainer": {"nnodes": 1, "n_gpus_per_node": 8}, "gpu_name": "A100-SXM4-80GB",
    }  # fmt: skip
    inputs = AnswerInputs(hparams_of(settings, "config.yaml"))
    known = hardware_of(RunValues(run({}), inputs=inputs))
    assert known.parameters is not None and known.parameters.value == 30e9
    assert known.active_parameters is not None and known.active_parameters.value == 3e9
    found = answer("perf", {**SERIES, "prompt_length/mean": 200.0}, inputs)
    tokens = 6 * 3e9 + 12 * 48 * 2048 * 300
    assert found.ranges[0].middle == pytest.approx(tokens * 1e6 / (40 * 8 * 312e12))
    assert "12 L h T" in found.formulas[0]
    assert any("active parameters" in note for note in found.notes)


def test_what_is_logged_is_not_estimated() -> None:
    """A logged MFU is taken as it is; without an input, or with an impossible result, there is none."""
    logged = answer("perf", {**SERIES, "perf/mfu/actor": 0.4}, config=Config(hardware={"*": H100}))
    assert [one.title for one in logged.ranges] == ["MFU actor"]
    unknown = answer_of(run(SERIES, config=Config(hardware={"*": UserHardware(gpus=8)})), "perf")
    assert unknown is not None and unknown.ranges == ()
    huge = UserHardware(gpus=1, gpu="A10", parameters=7e12)
    impossible = answer_of(run(SERIES, config=Config(hardware={"*": huge})), "perf")
    assert impossible is not None and impossible.ranges == ()


@pytest.mark.parametrize(
    ("name", "tflops"),
    [("NVIDIA H100 80GB HBM3", 989), ("NVIDIA H100 PCIe", 756), ("NVIDIA L4", 121), ("NVIDIA L40S", 362),
     ("Tesla V100-SXM2-32GB", 125), ("NVIDIA H20", 148), ("NVIDIA H200", 989), ("NVIDIA GB200", 2500)],
)  # fmt: skip
def test_names_of_accelerators(name: str, tflops: float) -> None:
    """A name is not taken for another one that it holds."""
    found = peak_of_name(name)
    assert found is not None and found.tflops == tflops


def test_unknown_accelerators_have_no_peak() -> None:
    """Nothing is guessed of a name that nobody knows."""
    assert peak_of_name("cpu") is None
    assert peak_of_name("cuda:0") is None
