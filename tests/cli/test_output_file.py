"""Where an export may go."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rltui.cli.output.output_file import binary_output
from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import WELL, write


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


@pytest.mark.parametrize(
    "words", [["snapshot"], ["report"], ["export"], ["export", "--format", "csv"]], ids=" ".join
)
def test_missing_folders_of_an_output_are_named_and_not_made(tmp_path: Path, words: list[str]) -> None:
    """A mistyped or unmounted path must not get folders; the message says what is missing."""
    write(tmp_path / "logs", WELL)
    done = rltui(words[0], tmp_path / "logs", *words[1:], "--output", tmp_path / "no" / "such" / "out")
    assert done.code == 2
    assert "such: no such folder; create it first" in done.err
    assert not (tmp_path / "no").exists()
