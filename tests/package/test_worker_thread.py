"""Work in threads of its own: no wake-up is lost, an error ends it with one line, a stop ends it at once."""

import threading
from pathlib import Path

import pytest

from rltui.common.worker_thread import WorkerThread

SECONDS = 20.0  # that a thread has on a busy machine


class Doubling:
    """Doubles what it is given, one number a step."""

    def __init__(self) -> None:
        self.thread = WorkerThread("doubling", self.step, self.answered, self.failed)
        self.given: list[int] = []
        self.made: list[int] = []
        self.gate = threading.Event()
        self.told: list[str] = []

    def answered(self) -> bool:
        return bool(self.told) or len(self.made) == len(self.given)

    def step(self) -> float | None:
        taken = list(self.given)
        assert self.gate.wait(SECONDS)
        if 0 in taken:
            raise ValueError("zero")
        self.made += [2 * number for number in taken[len(self.made) :]]
        return None

    def failed(self) -> None:
        self.told.append(self.thread.error)


def test_what_is_given_during_a_step_is_worked_on_after_it() -> None:
    """Although nothing is due by itself."""
    worker = Doubling()
    worker.given.append(1)
    assert not worker.thread.wait(0)  # nothing has begun
    worker.thread.start()
    worker.thread.start()
    assert not worker.thread.wait(0)
    worker.given.append(2)
    worker.thread.wake()
    worker.gate.set()
    assert worker.thread.wait(SECONDS)
    assert worker.made == [2, 4]
    worker.thread.stop()
    worker.given.append(3)
    worker.thread.start()
    worker.thread.wake()
    assert worker.made == [2, 4]


def test_an_unforeseen_error_ends_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one line that names the file of the traceback."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    told = threading.Event()
    worker = Doubling()
    worker.gate.set()
    worker.thread.ready = told.set
    worker.given.append(0)
    worker.thread.start()
    assert worker.thread.wait(SECONDS)
    assert worker.thread.stopped
    assert worker.thread.error.startswith("internal error (ValueError); please report it with")
    assert worker.told == [worker.thread.error]
    assert not told.is_set()
