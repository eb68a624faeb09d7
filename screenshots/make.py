"""Pictures of the real app on recordings of real runs: `make screenshots`.

Each picture is the app itself, driven by its own keys, at a fixed clock; the cells that it shows are
written as SVG, and as PNG where that can be converted.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rltui.demo import recording
from rltui.demo.replay import ROWS_PER_SECOND, Replay
from rltui.draw.themes import DEFAULT
from rltui.panes.render.lines_svg import as_svg
from rltui.screen.paint import paint
from rltui.screen.start import build
from rltui.session.session import Session

FOLDER = Path(__file__).parent
NOW = 1_795_000_000.0  # any moment will do; the same one gives the same pictures


@dataclass(frozen=True)
class Picture:
    """One picture: which recordings, at which share of the run, which keys, which size and theme."""

    name: str
    recordings: tuple[str, ...]
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)
    theme: str | None = None
    share: float = 1.0


PICTURES = (
    Picture("overview", ("late-collapse",), share=0.68, size=(120, 32)),
    Picture("healthy", ("verl-ppo",), size=(140, 45), share=0.7),
    Picture("reward", ("verl-ppo",), ("2",)),
    Picture("policy", ("kl-runaway",), ("3",), size=(120, 24)),
    Picture("critic", ("verl-ppo",), ("4",)),
    Picture("lengths", ("length-collapse",), ("5",), size=(120, 24)),
    Picture("load", ("verl-ppo",), ("6",), size=(120, 18)),
    Picture("timing", ("verl-ppo",), ("7",)),
    Picture("mfu", ("verl-ppo",), ("8",), size=(120, 24)),
    Picture("validation", ("verl-ppo",), ("v",), size=(120, 24)),
    Picture("preference", ("overfitting",), ("d",), size=(120, 30)),
    Picture("findings", ("late-collapse",), ("f",), size=(120, 36)),
    Picture("chart", ("late-collapse",), ("3", "enter"), size=(120, 32)),
    Picture("explain", ("verl-ppo",), ("3", "down", "e"), size=(120, 32)),
    Picture(
        "runs", ("verl-ppo", "kl-runaway", "forgetting", "overfitting", "slowdown"), ("r",), size=(120, 16)
    ),
    Picture("marked", ("late-collapse", "kl-runaway"), ("r", "down", "x", "escape"), size=(120, 32)),
    Picture(
        "comparison",
        ("late-collapse", "kl-runaway"),
        ("r", "down", "x", "escape", "3", "down", "down", "enter"),
        size=(120, 32),
    ),
    Picture("together", ("late-collapse",), ("3", "down", "down", "M", "up", "up", "enter"), size=(120, 32)),
    Picture("tokens", ("late-collapse",), ("3", "down", "down", "enter", "x", "x", "x"), size=(120, 28)),
    Picture("help", ("verl-ppo",), ("H",), size=(120, 42)),
    Picture("80x24", ("kl-runaway",), size=(80, 24), share=0.8),
    Picture("40x12", ("kl-runaway",), size=(40, 12), share=0.8),
    Picture("light", ("late-collapse",), theme="paper", size=(120, 32)),
    Picture("mono", ("late-collapse",), ("3",), theme="mono", size=(120, 24)),
)


def _session(picture: Picture, folder: Path) -> Session:
    """The runs of a picture, written as logs and read back as any log."""
    for number, name in enumerate(picture.recordings):
        found = recording.read(name)
        rows = int(len(found.rows) * (picture.share if number == 0 else 1.0))
        last = NOW - 1 - number * 900
        replay = Replay(found, folder, speed=ROWS_PER_SECOND / 20, clock=lambda last=last: last)  # type: ignore[misc]
        replay.write_until(rows)
        os.utime(replay.path, (last, last))
    return Session.load([folder])


async def _draw(picture: Picture, folder: Path) -> str:
    app = build(_session(picture, folder), [str(folder)], theme=picture.theme or DEFAULT, clock=lambda: NOW)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause()
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause()
        page = paint(app.state, *picture.size)
        return as_svg(page.lines[: picture.size[1]], picture.size[0], app.state.theme)


def make(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    try:
        from cairosvg import svg2png
    except (ImportError, OSError):
        svg2png = None
        sys.stderr.write("no PNG without cairosvg and the cairo library\n")
    for picture in PICTURES:
        if names and picture.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            svg = asyncio.run(_draw(picture, Path(folder)))
        path = FOLDER / f"{picture.name}.svg"
        path.write_text(svg, encoding="utf-8")
        if svg2png is not None:
            svg2png(bytestring=svg.encode(), write_to=str(path.with_suffix(".png")))
        sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    make(sys.argv[1:])
