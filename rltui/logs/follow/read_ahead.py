"""Small logs read before their turn, many at a time, for formats that decode many faster than one by one.

Whatever is wrong with a file, its visit says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, takewhile

from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import BLOCK, LogReader
from rltui.logs.local_file import ENDS
from rltui.logs.log_file.log_file import LogFile

_MOST = 256  # logs in one go, of a BLOCK together
_LARGEST = BLOCK // 4  # bytes of a log; beyond, decoding it takes longer than all calls


class ReadAhead:
    """Reads logs ahead, and leaves that for a while where their contents do not allow it.

    once: logs are read to their end, and nothing that comes later: none is opened twice.
    """

    def __init__(self, *, once: bool) -> None:
        self._once = once
        self._pause = _MOST  # logs to be read singly after some that were read ahead in vain
        self._left = 0  # of them
        self._logs: list[LogFile] = []  # of the last time

    def read(self, coming: Iterable[LogFile], calls: Calls) -> None:
        """Read the next logs up to one that does not fit, if the first does. Raises GivenUpError."""
        logs = list(_within_block(islice(takewhile(_fits, coming), 1 if self._left else _MOST)))
        if self._left or len(logs) < 2:
            self._left -= len(logs) if self._left else 0
            return
        for log in self._logs:
            if not log.opened:
                log.close()  # a duplicate, perhaps, that is not read at all: its contents need not stay
        self._logs = logs
        readers: list[LogReader] = []
        contents: list[bytes] = []
        expect = logs[0].format.expect if logs[0].format else None
        for log in logs:
            if log.reader is None or log.format is None or log.format.expect is not expect:
                break
            content = log.read_ahead(calls, once=self._once)
            if content is not None:
                contents.append(content)
                readers.append(log.reader)
        if expect is not None and expect(readers, contents):
            self._pause = _MOST
        else:
            self._left, self._pause = self._pause, 2 * self._pause


def _within_block(logs: Iterable[LogFile]) -> Iterator[LogFile]:
    """The first of them, of a BLOCK together."""
    room = BLOCK
    for log in logs:
        room -= log.size
        if room < 0:
            return
        yield log


def _fits(log: LogFile) -> bool:
    presumed = log.presumed is not None and log.presumed.expect is not None
    new = not (log.ahead or log.opened) and log.found.place not in ENDS
    return presumed and new and log.readable and 0 < log.size <= _LARGEST
