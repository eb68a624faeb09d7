"""What is known of file systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.file_systems import UNKNOWN, kind_in, kind_of, named

MOUNTS = b"""\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
25 27 0:23 / /dev/shm rw,relatime shared:3 master:1 - tmpfs tmpfs rw,size=24684084k
51 27 0:44 / /scratch rw,relatime shared:30 - lustre 10.0.0.1@o2ib:/scratch rw
52 51 0:45 / /scratch/me rw,relatime - nfs4 server:/me rw,vers=4.2
60 27 0:50 / /mnt/my\\040disk rw,relatime - autofs systemd-1 rw
61 60 0:51 / /mnt/my\\040disk rw,relatime - fuse.sshfs host:/ rw
torn line
"""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/runs", "ext4"),
        ("/dev/shm/runs", "tmpfs"),
        ("/scratch", "lustre"),
        ("/scratch/you/runs", "lustre"),
        ("/scratch/me/runs", "nfs4"),
        ("/scratch/melon", "lustre"),
        ("/mnt/my disk/runs", "fuse.sshfs"),  # the later of two mounts at one place
    ],
)
def test_the_innermost_mount_decides(path: str, name: str) -> None:
    """A path lies on the mount with the longest folder above it; blanks in folders are escaped."""
    assert kind_in(MOUNTS, path).name == name


@pytest.mark.parametrize(
    ("name", "remote"),
    [("ext4", False), ("tmpfs", False), ("nfs", True), ("lustre", True), ("beegfs", True), ("fuse", True)],
)
def test_known_kinds(name: str, remote: bool) -> None:
    """Network file systems report no events and are opened at each look; local disks do and are not."""
    system = named(name)
    assert (system.name, system.remote, system.events, system.attributes) == (
        name,
        remote,
        not remote,
        not remote,
    )


def test_overlay_is_local_but_not_trusted() -> None:
    """An overlay is as fast as the disk below, but copy-up changes files under a held descriptor."""
    system = named("overlay")
    assert not system.remote
    assert not system.attributes


def test_unknown_kind_is_treated_as_remote() -> None:
    """What is not known promises nothing."""
    assert kind_in(b"", "/home") == UNKNOWN
    assert named("newfs").remote and not named("newfs").events


def test_missing_path_is_where_its_parent_is(tmp_path: Path) -> None:
    """A LOGDIR that does not exist yet lies on the file system of the nearest folder that does."""
    assert kind_of(tmp_path / "not" / "yet") == kind_of(tmp_path)
    assert kind_of(tmp_path).name
