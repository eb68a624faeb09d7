"""The GPUs of the machine: only the job's own, off the screen's thread, and nothing without a driver."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from rltui.draw.cells import Line
from rltui.panes.context_panes.node_pane import node_sentence, node_table, process_lines
from rltui.panes.render.lines.device_lines import device_lines
from rltui.run_context.node import nvml
from rltui.run_context.node.node_reading import DriverError, NodeReading, Process, is_listed, node_reading
from rltui.run_context.node.node_thread import NodeThread, open_driver
from rltui.run_context.node.nvml import NvmlDriver, SystemProcesses
from tests.run_context.node.recorded import GB, library, own_process
from tests.support.runs.made_run import believable
from tests.support.screen.screens import opened


def _reading(environ: dict[str, str]) -> NodeReading:
    reading = node_reading(NvmlDriver(library()).read(), own_process, environ)
    return reading._replace(host="node07", time=1_700_000_000.0)


def test_a_gpu_is_read_in_plain_units() -> None:
    """Shares, bytes, watts and degrees; reasons of throttling in words; texts cleaned."""
    first, second, third, _ = NvmlDriver(library()).read()
    assert (first.use, first.memory_used, first.memory_total) == (0.97, 61.0 * GB, 80.0 * GB)
    assert (first.power, first.power_limit, first.temperature) == (668.0, 700.0, 71.0)
    assert (first.throttled, second.throttled, third.throttled) == (("power",), (), ("heat",))
    assert first.uuid == "GPU-0a2b" and first.name == "NVIDIA H100\\x1b[31m"
    assert first.processes == (Process(812, 60.0 * GB),)


def test_what_a_gpu_does_not_say_is_unknown() -> None:
    """MIG and old boards lack figures; the others are shown."""
    lacks = (
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetComputeRunningProcesses",
    )
    first = NvmlDriver(library(lacks=lacks)).read()[0]
    assert (first.use, first.power, first.processes) == (None, None, ())
    assert first.memory_used == 61.0 * GB
    table = node_table(NodeReading("n", 0.0, (first,)))
    assert [cell.text for cell in table.devices[0].cells][:3] == ["–", "76.2 %", "–"]


@pytest.mark.parametrize(
    ("environ", "numbers"),
    [
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, [0, 1]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-1a2b"}, [0, 1]),  # 0 has a process of this user
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_GPUS": "0-1"}, [0, 1]),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_GPUS": "1,3"}, [0, 1, 3]),
        ({"SLURM_JOB_ID": "7"}, [0, 1, 2, 3]),  # what the job's cgroup shows is its own
        ({}, [0, 1]),
    ],
)
def test_only_the_jobs_own_gpus_and_processes_are_shown(environ: dict[str, str], numbers: list[int]) -> None:
    """Those that the environment gives, those with own processes; never a process of somebody else."""
    reading = _reading(environ)
    assert [gpu.number for gpu in reading.gpus] == numbers
    assert {process.pid for gpu in reading.gpus for process in gpu.processes} == {812, 813}
    assert reading.others == 4 - len(numbers)


def test_lists_of_gpus_are_understood() -> None:
    """Numbers, ranges, beginnings of identifiers; nothing for an empty list or other words."""
    gpu = NvmlDriver(library()).read()[2]
    assert all(is_listed(gpu, text) for text in ("2", "0,2", "1-3", "GPU-2a", " 2 "))
    assert not any(is_listed(gpu, text) for text in ("", "0,1", "3-7", "GPU-1", "none", "-1"))


def test_the_pane_says_what_is_whose() -> None:
    """Sentence, table and processes, at any width."""
    reading = _reading({"CUDA_VISIBLE_DEVICES": "0,1,3"})
    assert node_sentence(reading) == "Now on node07: 3 GPUs of this job; 1 more is not its own"
    table = node_table(reading)
    assert [cell.text for cell in table.devices[0].cells] == ["97.0 %", "76.2 %", "668 W", "71.0 °C", "power"]
    assert [device.note for device in table.devices] == ["", "", "no process of yours"]
    assert process_lines(reading)[0] == "python 812: 60 GB on GPU 0, 340 % CPU, 82 GB of the host"
    for width in (20, 40, 80, 140):
        lines: list[Line] = device_lines(table, width, None)
        assert all(line.width <= width for line in lines)


def test_without_a_driver_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is opened, imported or said; with one but without the extra one line says what brings it."""
    monkeypatch.setattr(nvml, "has_driver", lambda: False)
    assert open_driver() is None
    thread = NodeThread()
    thread.look(wanted=True)
    assert thread.thread.wait(20)
    assert (thread.reading, thread.thread.error) == (None, "")
    monkeypatch.setattr(nvml, "has_driver", lambda: True)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    thread = NodeThread()
    thread.look(wanted=True)
    assert thread.thread.wait(20)
    assert "pip install 'rltui[gpu]'" in thread.thread.error


def test_a_driver_that_hangs_or_fails_holds_nobody_up() -> None:
    """The thread waits alone; a GPU that is lost is a line."""
    gate = threading.Event()
    driver = NvmlDriver(library(hangs=gate))
    thread = NodeThread(lambda: lambda: node_reading(driver.read(), own_process))
    thread.look(wanted=True)
    assert not thread.thread.wait(0)
    thread.look(wanted=False)
    gate.set()
    assert thread.thread.wait(20)
    assert thread.reading is not None
    thread.thread.stop()
    lost = NvmlDriver(library(fails=True))
    failing = NodeThread(lambda: lambda: node_reading(lost.read(), own_process))
    failing.look(wanted=True)
    assert failing.thread.wait(20)
    assert failing.thread.error == "the driver of the GPUs fails: GPU is lost"
    with pytest.raises(DriverError, match="does not answer: Not Supported"):
        NvmlDriver(library(lacks=("nvmlInit",)))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (140, 45)])
def test_the_screen_shows_the_machine_above_what_the_logs_say(size: tuple[int, int]) -> None:
    """Only in the pane system, and not of an earlier step."""
    screen = opened(believable())
    screen.state.threads.node.thread.stop()  # this machine is not read: that would end within the test
    screen.press("0")
    assert "Now on" not in screen.text(*size)
    screen.state.threads.node.reading = _reading({})
    shown = screen.text(*size)
    assert "Now on node07: 2 GPUs" in shown
    assert all(line.width <= size[0] for line in screen.frame(*size).lines)
    if size[1] > 20:
        assert "97.0 %" in shown and "python 812" in shown
    screen.press("[")
    assert "Now on" not in screen.text(*size)


def test_own_processes_are_those_of_this_user() -> None:
    """This process is one, with its figures; one of another job, or that is gone, is none."""
    pytest.importorskip("psutil")
    processes = SystemProcesses()
    mine = processes.own(Process(os.getpid(), 1.0), None)
    assert mine is not None and mine.memory is not None and mine.memory > 1e6
    assert processes.own(Process(2**22 + 5), None) is None
