"""From another process's write to the feed's delivery: files that grow, are cut, rotated, removed and made.

Time is counted in looks: what the writer says is done must be delivered within so many looks of the feed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.reader_thread import ReaderThread
from tests.support.listening import Listener
from tests.support.livelogs import LOCAL, Heard, Point, lines, points
from tests.support.writer import Training

SOON = 4  # looks after which growth must have been seen
SETTLED = (
    40  # the same for a file that is empty for a moment, or a new one: a second at the pace of these tests
)


class Watched:
    """A feed over a folder, and how many looks it has taken."""

    def __init__(self, folder: Path) -> None:
        self.listener = Listener()
        self.looks = 0
        follower = Follower([folder], poll=0.1, system=LOCAL)
        look = follower.look

        def counted(now: float | None = None) -> Iterator[Delivery]:
            self.looks += 1
            return look(now)

        follower.look = counted  # type: ignore[method-assign]
        self.feed = ReaderThread(follower, self.listener, fs_events=False)
        self.feed.start()

    def within(self, looks: int, so: Callable[[Heard], bool]) -> None:
        """Wait until something is so, which must not take more looks than that."""
        before = self.looks
        assert self.listener.until(so), self.listener.heard.points
        assert self.looks - before <= looks

    def says(self, looks: int, path: str, said: Sequence[Point]) -> None:
        """Wait until a source has said exactly this."""
        self.within(looks, lambda heard: heard.points[path] == list(said))


@pytest.fixture(scope="module")
def training() -> Iterator[Training]:
    """One process for all tests here: TensorBoard takes half a second to import."""
    with Training() as process:
        yield process


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A feed over `tmp_path`."""
    watched = Watched(tmp_path)
    yield watched
    watched.feed.stop()


def _event_file(heard: Heard, run: str) -> str | None:
    return next((path for path in heard.points if path.startswith(f"{run}/events.out.tfevents")), None)


def test_event_files_of_tensorboards_own_writer(tmp_path: Path, watched: Watched, training: Training) -> None:
    """Steps that TensorBoard's writer flushes arrive within a few looks, each once, in one file."""
    training.events(tmp_path / "run", range(3))
    watched.within(SETTLED, lambda heard: len(heard.points) == 1)
    path = _event_file(watched.listener.heard, "run")
    assert path is not None
    watched.says(SOON, path, points(range(3)))
    for step in range(3, 7):
        training.events(tmp_path / "run", [step])
        watched.says(SOON, path, points(range(step + 1)))
    assert watched.listener.heard.codes == []


def test_json_lines_in_torn_pieces(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A line arrives when it is whole, and its first half gives nothing."""
    log = tmp_path / "metrics.jsonl"
    training.text(log, lines(range(3)))
    watched.says(SETTLED, "metrics.jsonl", points(range(3)))
    line = lines([3])
    training.text(log, line[:9])
    training.text(log, line[9:] + lines([4]))
    watched.says(SOON, "metrics.jsonl", points(range(5)))
    assert watched.listener.heard.codes == []


def test_cut_to_nothing_and_written_anew(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A log that is cut and begins anew with other values is a restart; what it said before is kept."""
    log = tmp_path / "metrics.jsonl"
    training.text(log, lines(range(20)))
    watched.says(SETTLED, "metrics.jsonl", points(range(20)))
    training.tell("truncate", log)
    training.text(log, lines(range(2), scale=0.75))
    again = points(range(2), scale=0.75)
    watched.says(SETTLED, "metrics.jsonl", points(range(20)) + again)
    assert "restarted" in watched.listener.heard.kinds["metrics.jsonl"]
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
    assert "metrics.jsonl.1" not in watched.listener.heard.points


def test_removed_and_made_again(tmp_path: Path, watched: Watched, training: Training) -> None:
    """A run that is removed is gone, not forgotten; its next generation and a new run beside it are read."""
    training.text(tmp_path / "a/metrics.jsonl", lines(range(5)))
    watched.says(SETTLED, "a/metrics.jsonl", points(range(5)))
    training.tell("remove", tmp_path / "a")
    watched.within(SETTLED, lambda heard: heard.sources["a/metrics.jsonl"].gone)
    assert watched.listener.heard.points["a/metrics.jsonl"] == points(range(5))
    training.text(tmp_path / "a/metrics.jsonl", lines(range(3), scale=0.75))
    training.events(tmp_path / "b", range(2))
    watched.says(SETTLED, "a/metrics.jsonl", points(range(5)) + points(range(3), scale=0.75))
    watched.within(SETTLED, lambda heard: len(heard.points.get(_event_file(heard, "b") or "", ())) == 2)
