"""From another process's write to a follower's delivery: files that grow, are cut, rotated, removed and made.

Time is counted in looks: what the writer says is done must be delivered within so many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.logs.live_logs import Delivered, Live, Point, lines, points
from tests.support.logs.writer_process import Training

POLL = 0.1  # seconds of the follower's clock between two looks
SOON = 4  # looks after which growth must have been seen
SETTLED = 40  # the same for a file that is empty for a moment, or a new one


class Watched:
    """A follower over a folder, whose clock goes on by one look at a time."""

    def __init__(self, folder: Path) -> None:
        self.live = Live(folder, poll=POLL)
        self.delivered = self.live.delivered

    def within(self, looks: int, so: Callable[[Delivered], bool]) -> None:
        """Look until something is so, which must not take more looks than that."""
        for _ in range(looks):
            if so(self.delivered):
                return
            self.live.after(POLL)
        assert so(self.delivered), self.delivered.points

    def says(self, looks: int, path: str, said: Sequence[Point]) -> None:
        """Wait until a source has said exactly this."""
        self.within(looks, lambda delivered: delivered.points[path] == list(said))


@pytest.fixture(scope="module")
def training() -> Iterator[Training]:
    """One process for all tests here: TensorBoard takes half a second to import."""
    with Training() as process:
        yield process


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A follower over `tmp_path`."""
    return Watched(tmp_path)


def _event_file(delivered: Delivered, run: str) -> str | None:
    return next((path for path in delivered.points if path.startswith(f"{run}/events.out.tfevents")), None)


def test_event_files_of_tensorboards_own_writer(tmp_path: Path, watched: Watched, training: Training) -> None:
    """Steps that TensorBoard's writer flushes arrive within a few looks, each once, in one file."""
    training.events(tmp_path / "run", range(3))
    watched.within(SETTLED, lambda delivered: len(delivered.points) == 1)
    path = _event_file(watched.delivered, "run")
    assert path is not None
    watched.says(SOON, path, points(range(3)))
    for step in range(3, 7):
        training.events(tmp_path / "run", [step])
        watched.says(SOON, path, points(range(step + 1)))
    assert watched.delivered.codes == []


def test_json_lines_in_torn_pieces(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A line arrives when it is whole, and its first half gives nothing."""
    log = tmp_path / "metrics.jsonl"
    training.text(log, lines(range(3)))
    watched.says(SETTLED, "metrics.jsonl", points(range(3)))
    line = lines([3])
    training.text(log, line[:9])
    training.text(log, line[9:] + lines([4]))
    watched.says(SOON, "metrics.jsonl", points(range(5)))
    assert watched.delivered.codes == []


def test_cut_to_nothing_and_written_anew(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A log that is cut and begins anew with other values is a restart; what it said before is kept."""
    log = tmp_path / "metrics.jsonl"
    training.text(log, lines(range(20)))
    watched.says(SETTLED, "metrics.jsonl", points(range(20)))
    training.tell("truncate", log)
    training.text(log, lines(range(2), scale=0.75))
    again = points(range(2), scale=0.75)
    watched.says(SETTLED, "metrics.jsonl", points(range(20)) + again)
    assert "restarted" in watched.delivered.kinds["metrics.jsonl"]
    training.text(log, lines([2], scale=0.75))
    watched.says(SOON, "metrics.jsonl", points(range(20)) + points(range(3), scale=0.75))


@pytest.mark.parametrize("copied", [False, True], ids=["rename", "copytruncate"])
def test_rotated(tmp_path: Path, watched: Watched, training: Training, copied: bool) -> None:
    """What is written right before a rotation is read from where it went; then the new file goes on."""
    log, away = tmp_path / "metrics.jsonl", tmp_path / "metrics.jsonl.1"
    training.text(log, lines(range(10)))
    watched.says(SETTLED, "metrics.jsonl", points(range(10)))
    training.text(log, lines(range(10, 15)))
    if copied:
        training.tell("copy", log, str(away))
        training.tell("truncate", log)
    else:
        training.tell("rename", log, str(away))
    training.text(log, lines(range(15, 20)))
    watched.says(SETTLED, "metrics.jsonl", points(range(20)))
    training.text(log, lines([20]))
    watched.says(SOON, "metrics.jsonl", points(range(21)))
    assert "metrics.jsonl.1" not in watched.delivered.points


def test_removed_and_made_again(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A run that is removed is gone, not forgotten; its next generation and a new run beside it are read."""
    training.text(tmp_path / "a/metrics.jsonl", lines(range(5)))
    watched.says(SETTLED, "a/metrics.jsonl", points(range(5)))
    training.tell("remove", tmp_path / "a")
    watched.within(SETTLED, lambda delivered: delivered.sources["a/metrics.jsonl"].gone)
    assert watched.delivered.points["a/metrics.jsonl"] == points(range(5))
    training.text(tmp_path / "a/metrics.jsonl", lines(range(3), scale=0.75))
    training.events(tmp_path / "b", range(2))
    watched.says(SETTLED, "a/metrics.jsonl", points(range(5)) + points(range(3), scale=0.75))
    watched.within(
        SETTLED, lambda delivered: len(delivered.points.get(_event_file(delivered, "b") or "", ())) == 2
    )
