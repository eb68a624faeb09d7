"""Commands on logs with numbers near the ends of int64 and float64."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.commands.child_process import running
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.runs.checked_runs import environment

TOP = 2**63 - 1


def log(folder: Path, rows: Iterable[tuple[int, float]]) -> None:
    """A log of a reward and its best and worst sample, and of the time of a step."""
    names = ("reward", *(f"critic/score/{name}" for name in ("mean", "max", "min")))
    lines = ({"step": step, "timing_s/step": 1.5, **dict.fromkeys(names, value)} for step, value in rows)
    write_rows(folder / "metrics.jsonl", lines)


@pytest.mark.parametrize("steps", [range(TOP - 299, TOP + 1), range(-TOP - 1, -TOP + 299)])
def test_steps_that_share_a_float_are_read(tmp_path: Path, steps: range) -> None:
    """Neighbouring steps near 2^63 are one number as floats: no command divides by their distance."""
    log(tmp_path / "logs", ((step, float(at)) for at, step in enumerate(steps)))
    assert rltui("check", "logs").code in (0, 1)
    assert f"{steps[-1]:,}" in rltui("runs", "logs").out
    for pane in ("all", "timing"):
        shown = rltui("snapshot", "logs", "--pane", pane)
        assert shown.code == 0 and "1.50 s" in shown.out
    assert rltui("snapshot", "logs", "--pane", "reward").code == 0
    assert rltui("report", "logs").code == 0


def test_steps_from_one_end_to_the_other_are_read(tmp_path: Path) -> None:
    """A distance of steps beyond int64 says no more than the largest one."""
    log(tmp_path / "logs", (((-1) ** at * (TOP - 1 - at), float(at)) for at in range(300)))
    assert rltui("check", "logs").code in (0, 1)
    assert rltui("export", "logs", "--format", "jsonl").out.count('"reward"') == 300


def test_no_warning_of_numpy_is_printed(tmp_path: Path) -> None:
    """Sums of values near the largest float overflow, which is nothing to tell with a path and a line."""
    log(tmp_path / "logs", ((at, (-1.0) ** at * 1.7e308) for at in range(300)))
    for words in (("check", "--no-cache"), ("snapshot", "--pane", "reward")):
        with running(words[0], "logs", *words[1:], cwd=tmp_path, env=environment(tmp_path)) as process:
            out, err = process.communicate()
            assert process.returncode in (0, 1) and "Warning" not in err
        assert out


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # commands hide them
@pytest.mark.parametrize("values", [(1.7e308,), (-1.7e308,), (1.7e308, -1.7e308)])
def test_values_near_the_largest_float_are_drawn(tmp_path: Path, values: tuple[float, ...]) -> None:
    """The margin around a constant ends where floats end, as does the line at the onset of a finding."""
    log(tmp_path / "logs", ((at, values[at % len(values)]) for at in range(300)))
    shown = rltui("snapshot", "logs", "--chart", "critic/score/mean")
    assert shown.code == 0 and "1.7e" in shown.out
