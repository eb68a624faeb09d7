"""Files in memory: bytes that arrive in scripted pieces, holes of zeros, errors on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rltui.logs.batch import Batch, concat
from rltui.logs.formats.interface import BLOCK, File, Format, LogReader


class MemFile:
    """A `File` over bytes. It shows what has arrived so far; a test lets more arrive.

    `pieces` are the bytes of each arrival; the first is there at once, `grow` brings the next.
    """

    def __init__(self, path: str = "metrics.jsonl", *pieces: bytes) -> None:
        self._path = path
        self._coming = list(pieces[1:])
        self.data = bytearray(pieces[0] if pieces else b"")
        self.error: OSError | None = None  # raised by every call while set
        self.reads: list[tuple[int, int]] = []  # (offset, length) of every read_at

    @property
    def path(self) -> str:
        """The name given."""
        return self._path

    def size(self) -> int:
        """Bytes that have arrived."""
        if self.error:
            raise self.error
        return len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes that have arrived; fewer only at the end."""
        if self.error:
            raise self.error
        self.reads.append((offset, length))
        return bytes(self.data[offset : offset + length])

    def append(self, more: bytes) -> None:
        """The writer writes on."""
        self.data += more

    def replace(self, content: bytes) -> None:
        """The writer begins the file again with other content."""
        self.data = bytearray(content)

    def truncate(self, size: int = 0) -> None:
        """The file is cut to `size` bytes."""
        del self.data[size:]

    def fill(self, offset: int, content: bytes) -> None:
        """Bytes that had been zeros arrive late."""
        self.data[offset : offset + len(content)] = content

    def grow(self) -> bool:
        """Append the next piece; False if there is none."""
        if not self._coming:
            return False
        self.append(self._coming.pop(0))
        return True


class SparseFile:
    """A file of `size` zeros with `extents` (offset, bytes) of content; the zeros cost no memory."""

    def __init__(self, path: str, size: int, extents: Sequence[tuple[int, bytes]]) -> None:
        self._path, self._size, self._extents = path, size, list(extents)
        self.largest_read = 0

    @property
    def path(self) -> str:
        """The name given."""
        return self._path

    def size(self) -> int:
        """The size declared."""
        return self._size

    def read_at(self, offset: int, length: int) -> bytes:
        """Zeros with the extents laid over them."""
        length = max(0, min(length, self._size - offset))
        self.largest_read = max(self.largest_read, length)
        block = bytearray(length)
        for start, content in self._extents:
            low, high = max(start, offset), min(start + len(content), offset + length)
            if low < high:
                block[low - offset : high - offset] = content[low - start : high - start]
        return bytes(block)


def cut(data: bytes, at: Iterable[int]) -> list[bytes]:
    """The bytes cut into pieces at the given offsets (in any order; those out of range are ignored)."""
    places = [0, *sorted({place for place in at if 0 < place < len(data)}), len(data)]
    return [data[low:high] for low, high in pairwise(places)]


def read_on(log: LogReader, file: File, budget: int = BLOCK) -> list[Batch]:
    """Read until nothing new is read."""
    batches = []
    while True:
        before = log.offset
        batch = log.read(file, budget)
        if batch:
            batches.append(batch)
        if log.offset == before and not batch:
            return batches


def read_whole(form: Format, file: File, budget: int = BLOCK) -> Batch:
    """The content of a file, read once to its end."""
    log = form.open(file.path)
    batches = read_on(log, file, budget)
    batches.append(log.finish(file))
    log.close()
    return concat(batches)


def read_in_pieces(form: Format, path: str, pieces: Sequence[bytes], budget: int = BLOCK) -> Batch:
    """The content of a file that is read while its pieces arrive, then finished."""
    file = MemFile(path, *pieces)
    log = form.open(path)
    batches = read_on(log, file, budget)
    while file.grow():
        batches += read_on(log, file, budget)
    batches.append(log.finish(file))
    log.close()
    return concat(batches)


def points(batch: Batch) -> list[tuple[str, int, float | None, float | None]]:
    """The points of a batch as (tag, step, wall_time, value), in order; NaN as None, to be compared."""
    return [
        (batch.tags[tag], step, _known(wall), _known(value))
        for tag, step, wall, value in zip(
            batch.tag.tolist(),
            batch.step.tolist(),
            batch.wall_time.tolist(),
            batch.value.tolist(),
            strict=True,
        )
    ]


def _known(value: float) -> float | None:
    return None if value != value else value


def rows(batch: Batch) -> list[tuple[str, int, float | None]]:
    """The points of a batch as (tag, step, value), in order; NaN as None."""
    return [(tag, step, value) for tag, step, _, value in points(batch)]
