"""The innermost frame of a program's own code."""

from __future__ import annotations

import pytest

from rltui.run_context.console.failure_search import find_failures
from rltui.run_context.console.traceback_frames import innermost_frame

START = "Traceback (most recent call last):"


@pytest.mark.parametrize(
    ("paths", "own"),
    [
        (("train.py", "/home/me/agents/ppo.py"), "f (ppo.py line 2)"),
        (("train.py", "/opt/env/lib/python3.11/site-packages/torch/nn/module.py"), "f (train.py line 1)"),
        (("train.py", "/usr/lib/python3/dist-packages/gym/core.py"), "f (train.py line 1)"),
        (("/home/me/train.py", "/usr/lib/python3.10/abc.py", "<frozen abc>"), "f (train.py line 1)"),
        ((r"C:\work\lib\train.py", r"C:\Users\me\miniconda3\envs\rl\lib\abc.py"), "f (train.py line 1)"),
        (("train.py", "/home/me/rewards/__init__.py"), "f (rewards/__init__.py line 2)"),
        (("/opt/env/bin/torchrun", "/opt/env/lib/python3.11/site-packages/a.py"), "f (a.py line 2)"),
    ],
)
def test_the_innermost_frame_is_that_of_the_programs_own_code(paths: tuple[str, ...], own: str) -> None:
    """Packages, the standard library and starters are passed over, unless there is nothing else."""
    frames = [f'  File "{path}", line {number}, in f' for number, path in enumerate(paths, 1)]
    prefixed = [f"[rank0]: {line}" for line in (START, *frames, "NotImplementedError")]
    assert str(innermost_frame([START, *frames, "NotImplementedError"])) == own
    assert str(innermost_frame(prefixed)) == own


def test_the_code_of_a_module_has_no_function() -> None:
    """Python's word for it says nothing; a traceback without frames has none."""
    assert str(innermost_frame([START, '  File "train.py", line 88, in <module>'])) == "train.py line 88"
    assert innermost_frame([START, "ValueError: no"]) is None


def test_the_frame_is_that_of_the_last_traceback_and_cleaned() -> None:
    """An exception that was raised while another one was handled is the one that ended the program."""
    first = f'{START}\n  File "load.py", line 3, in load\nKeyError: 1\n'
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    second = f'{START}\n  File "tr\x1b[31main.py", line 9, in ru\x07n\nNotImplementedError\n'
    (found,) = find_failures((first + between + second).encode())
    shown = str(found.frame)
    assert shown.startswith("ru") and shown.endswith("n (train.py line 9)")
    assert shown.isprintable()
