"""Sentences that commands print on a narrow terminal."""

from __future__ import annotations

import io
import sys

import pytest

from rltui.cli.commands.setup import doctor
from rltui.cli.output.printing import emit_text
from rltui.common.display_text import cell_width


class _Terminal(io.StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def _terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    """A terminal of 40 columns, set in the test: pytest replaces the output between fixture and test."""
    terminal = _Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", terminal)
    return terminal


def test_the_report_of_doctor_fits_in_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide characters take two cells each: no line of a message with them is wider than the terminal."""
    terminal = _terminal(monkeypatch)
    doctor._say("  notes: " + " ".join(["奖励下降", "熵塌陷"] * 8))
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 2 and max(map(cell_width, lines)) <= 40
    assert lines[0].startswith("  notes: ") and all(each.startswith("      ") for each in lines[1:])


def test_paths_in_the_report_of_doctor_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is longer than a line can still be copied; in other sentences words are shortened."""
    terminal = _terminal(monkeypatch)
    path = "/scratch/" + "a" * 50
    doctor._say(f"  config file: {path}")
    assert path in terminal.getvalue().split()
    emit_text(f"  config file: {path}", "    ")
    assert path not in terminal.getvalue().split("config")[-1]
