"""What is known of file systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.file_systems import kind_of, of_magic


@pytest.mark.parametrize(
    ("magic", "name", "remote", "events"),
    [
        (0xEF53, "ext4", False, True),
        (0x01021994, "tmpfs", False, True),
        (0x6969, "nfs", True, False),
        (0x0BD00BD0, "lustre", True, False),
        (0x47504653, "gpfs", True, False),
        (0x19830326, "beegfs", True, False),
        (0x65735546, "fuse", True, False),
        (0xFF534D42, "cifs", True, False),
        (0x01021997, "9p", True, False),
        (0xFFFFFFFFFF534D42, "cifs", True, False),  # sign-extended by a 64-bit long
    ],
)
def test_known_kinds(magic: int, name: str, remote: bool, events: bool) -> None:
    """Network file systems ring no bell and are opened at each look; local disks do and are not."""
    system = of_magic(magic)
    assert (system.name, system.remote, system.events, system.hold) == (name, remote, events, not remote)


def test_overlay_is_local_but_not_trusted() -> None:
    """An overlay is as fast as the disk below, but copy-up changes files under a held descriptor."""
    system = of_magic(0x794C7630)
    assert not system.remote
    assert not system.hold


def test_unknown_kind_is_treated_as_remote() -> None:
    """What is not known promises nothing."""
    system = of_magic(0x12345678)
    assert system.remote
    assert not system.events
    assert system.name == "unknown (0x12345678)"


def test_missing_path_is_where_its_parent_is(tmp_path: Path) -> None:
    """A LOGDIR that does not exist yet lies on the file system of the nearest folder that does."""
    assert kind_of(tmp_path / "not" / "yet") == kind_of(tmp_path)
    assert kind_of(tmp_path).name
