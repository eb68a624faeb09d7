"""Hostile configuration files: no bytes, no size and no kind of file hangs or breaks the program."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.config import load_config
from rltui.config.config_schema import DISPLAY, PRIVATE
from rltui.schema.fields import dotted_key
from tests.support.commands.config_files import logs, own, told

__all__ = ["logs", "own"]  # fixtures


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        b"\x00" * 10,
        b"x = " + b"[" * 100_000,
        b"a." * 50_000 + b"b = 1",
        b"theme = '\x1b]0;pwned\x07'",
        b"\xef\xbb\xbftheme = 'paper'\r\n",
        b"#" * (2 << 20),
        b"",
    ],
    ids=["utf-16", "zeros", "brackets", "dots", "escapes", "bom", "large", "empty"],
)
def test_odd_bytes_do_no_harm(own: Path, content: bytes) -> None:
    """Binary, BOM, deep nesting, escapes, size: defaults or words hold, and nothing unsafe is quoted."""
    own.write_bytes(content)
    config = load_config()
    for problem in config.problems:
        assert problem.message.isprintable()
    if content.startswith(b"\xef"):
        assert config.theme == "paper"


def test_a_flood_of_faults_is_cut_short(own: Path) -> None:
    """Tens of thousands of faults take no time and are not all quoted."""
    own.write_text("\n".join(f"zork{number} = 1" for number in range(20_000)))
    messages = told(load_config())
    assert len(messages) < 60
    assert any("more faults" in message for message in messages)


def test_things_that_are_no_files(own: Path, logs: Path) -> None:
    """A folder or a pipe of that name is told at once, never waited for."""
    own.mkdir()
    os.mkfifo(logs / "rltui.toml")
    begun = time.monotonic()
    config = load_config([logs])
    assert time.monotonic() - begun < 5
    assert len(config.problems) == 2
    assert all("cannot be read" in message for message in told(config))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_no_value_breaks_a_check(value: Any) -> None:
    """Every kind of value at every key is taken or told, never raised."""
    for key, kind in {**DISPLAY, **PRIVATE}.items():
        faults: list[str] = []
        kind.check(
            value, (key,), lambda path, message, faults=faults: faults.append(dotted_key(path) + message)
        )
        kind.json_schema()
