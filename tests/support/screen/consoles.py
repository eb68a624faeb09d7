"""A console beside a run, on the screen: written, attached to the run that is shown, read to its end."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.failure_search import scan
from tests.support.screen.screens import Screen, press_and_draw

SECONDS = 20.0  # that a thread has on a busy machine
TRACE = """\
Traceback (most recent call last):
  File "/opt/train/ppo.py", line 88, in fit
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.
"""
# A console without times of this machine's zone, of a run that failed.
FAILED = (
    "".join(
        f"(TaskRunner pid=812) step:{step} - critic/score/mean:0.{step % 10} - actor/entropy:1.1\n"
        + "\r".join(f"rollout: {n:3}%|{'#' * (n // 10)}| {n}/100 [00:01]" for n in range(0, 101, 20))
        + "\n"
        + "(WorkerDict pid=901) UserWarning: no sync\n" * (step % 3)
        for step in range(60)
    )
    + TRACE
    + "srun: error: node01: task 0: Exited with exit code 1\n"
)


def clock(seconds: float) -> str:
    """A time as consoles write it; seconds since 1970."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def console_text(steps: int, start: float, gap: float = 10.0) -> str:
    """A line for each step, a progress bar, and a warning at every tenth step."""
    lines = []
    for step in range(steps):
        lines.append(f"{clock(start + gap * step)} INFO step {step} begins")
        lines += [f"rollout: {n}%|# | {n}/100 [00:01]" for n in range(0, 100, 25)]
        lines.append("UserWarning: slow" if step % 10 == 9 else "\x1b[32mfine\x1b[0m")
    return "\n".join(lines) + "\n"


def attach(screen: Screen, folder: Path, text: str, name: str = "slurm-7.out") -> Screen:
    """The screen with a console of the run that is shown."""
    place = folder / name
    place.write_text(text)
    file = ConsoleFile(str(place), name)
    file.look()
    view = screen.view
    assert view is not None
    view.set_consoles((scan(file),), screen.state.now)
    return screen


def read_and_draw(screen: Screen, width: int = 100, height: int = 30) -> str:
    """What is shown when all that the screen asks for has been read."""
    for _ in range(4):  # a moment that was found is shown by the next frame, which asks for its lines
        screen.frame(width, height)
        assert screen.state.threads.console.thread.wait(SECONDS)
    return screen.text(width, height)


press = partial(press_and_draw, read_and_draw)
