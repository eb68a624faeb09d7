"""Where an export may go."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from rltui.cli.output_file import binary_output


def test_what_is_no_plain_file_is_never_replaced(tmp_path: Path) -> None:
    """A FIFO named as the target is written into and still a FIFO afterwards; a device likewise."""
    target = tmp_path / "pipe"
    os.mkfifo(target)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(target.read_bytes()))
    reader.start()
    with binary_output(str(target), []) as file:
        file.write(b"points")
    reader.join(10)
    assert got == [b"points"]
    assert target.is_fifo()
    assert sorted(tmp_path.iterdir()) == [target]
