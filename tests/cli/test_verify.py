"""`--verify`: a single changed bit of an event file is found, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands.in_process import rltui
from tests.support.logs import tfwriter

STEPS = 3000  # enough for columns, where only the shape of a record is proved otherwise


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    """A run whose value at one step in its middle has another exponent, under the old checksum."""
    records = [tfwriter.event(step, tfwriter.simple("loss", 0.5), wall=1.7e9 + step) for step in range(STEPS)]
    head = tfwriter.version()
    at = len(head) + sum(map(len, records[: STEPS // 2 + 1])) - 5  # the last byte of its float
    data = bytearray(head + b"".join(records))
    data[at] ^= 0x01
    (tmp_path / "events.out.tfevents.1.host").write_bytes(data)
    return tmp_path


def test_a_changed_bit_is_found_when_asked_for(flipped: Path) -> None:
    """`check --verify` tells the record, `export --verify` leaves it out; unasked it stands as read."""
    assert rltui("check", flipped, "--json").json()["diagnostics"] == []
    (told,) = rltui("check", flipped, "--json", "--verify").json()["diagnostics"]
    assert told["code"] == "corrupt-record"
    steps = [line["step"] for line in rltui("export", flipped, "--verify").lines()]
    assert steps == [step for step in range(STEPS) if step != STEPS // 2]
    assert len(rltui("export", flipped).lines()) == STEPS


def test_what_is_followed_is_not_verified(flipped: Path) -> None:
    """Following reads ends record by record anyway; the option beside `--follow` is refused."""
    for command in ("check", "export"):
        assert rltui(command, flipped, "--follow", "--verify").code == 2
