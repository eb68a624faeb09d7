"""A chart as SVG: axes, curves with their spread, limits, marks and labels, in pixels.

PNG is made from it by cairosvg (extra `rltui[png]`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from rltui.common.arrays import Floats, contiguous_parts
from rltui.common.extras import install_hint
from rltui.common.named_tuple import NamedTuple
from rltui.draw.axis_ticks import y_ticks
from rltui.draw.cells import cut
from rltui.draw.themes import Theme, color_of
from rltui.draw.value_range import share_of

WIDTH, HEIGHT = 720, 300  # pixels of a chart
FONT = 13.0  # pixels
SANS = "Helvetica, Arial, DejaVu Sans, sans-serif"
LETTER = 7.0  # pixels of a letter, on average
LEFT, RIGHT, TOP, BOTTOM = 72.0, 18.0, 66.0, 34.0  # pixels around the plot

Point: TypeAlias = tuple[float, float]
Paint: TypeAlias = Callable[[str], str]  # the colour of a role


@dataclass(frozen=True, slots=True, eq=False)
class PictureCurve:
    """A curve: (n,) x in order, y with NaN where the line breaks, and the ends of the spread around it."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    role: str = "accent"
    label: str = ""
    dotted: bool = False


class ChartPicture(NamedTuple):
    """What a chart shows. y: decimal logarithms if `log`; limits and marks: position, role, label."""

    title: str
    note: str
    x: tuple[float, float]
    y: tuple[float, float]
    curves: Sequence[PictureCurve]
    x_ticks: Sequence[tuple[float, str]] = ()
    x_label: str = "step"
    limits: Sequence[tuple[float, str, str]] = ()
    marks: Sequence[tuple[float, str, str]] = ()
    crosses: Sequence[float] = ()  # x of NaN and infinite values
    log: bool = False


def _chart(picture: ChartPicture, paint: Paint, width: float, height: float, top: float) -> Iterator[str]:
    """The shapes of a chart, in drawing order; top: pixels above it."""
    plot = _Plot(picture, width, height, top)
    title = cut(picture.title, int(width / LETTER))
    yield _text(LEFT, top + 20, title, paint("strong"), size=FONT + 2, bold=True)
    yield from _legend(picture, plot, paint, top + 40)
    for at, text in y_ticks(picture.y, max(int(height // 60), 2), log=picture.log):
        yield _path([(LEFT, plot.y(at)), (width - RIGHT, plot.y(at))], paint("faint"), 0.5, opacity=0.4)
        yield _text(LEFT - 8, plot.y(at) + FONT / 3, text, paint("dim"), "end")
    for at, text in picture.x_ticks:
        yield _path([(plot.x(at), plot.bottom), (plot.x(at), plot.bottom + 4)], paint("faint"))
        yield _text(plot.x(at), plot.bottom + 4 + FONT, text, paint("dim"), "middle")
    yield _text(LEFT - 8, plot.bottom + 4 + FONT, picture.x_label, paint("dim"), "end")
    for at, role, _ in picture.limits:
        if picture.y[0] <= at <= picture.y[1]:
            yield _path([(LEFT, plot.y(at)), (width - RIGHT, plot.y(at))], paint(role), 1.0, dashed=True)
    for at, role, label in picture.marks:
        if picture.x[0] <= at <= picture.x[1]:
            yield _path([(plot.x(at), plot.top), (plot.x(at), plot.bottom)], paint(role), 1.2, dashed=True)
            left = plot.x(at) < (plot.left + plot.right) / 2
            room = plot.right - plot.x(at) if left else plot.x(at) - plot.left
            label = cut(label, int((room - 8) / LETTER))
            x, anchor = (plot.x(at) + 4, "start") if left else (plot.x(at) - 4, "end")
            yield _text(x, plot.top - 3, label, paint(role), anchor, FONT - 1)
    for curve in reversed(picture.curves):
        yield from _curve(curve, plot, paint(curve.role))
    for at in picture.crosses:
        x, y, r = plot.x(at), plot.top + 8, 4
        for end in (r, -r):
            yield _path([(x - r, y - end), (x + r, y + end)], paint("bad"), 1.8)
    yield _path([(LEFT, plot.top), (LEFT, plot.bottom), (width - RIGHT, plot.bottom)], paint("dim"))


class _Plot:
    """Positions of values in the picture, in pixels."""

    def __init__(self, picture: ChartPicture, width: float, height: float, top: float) -> None:
        self.top, self.bottom = top + TOP, top + height - BOTTOM
        self.left, self.right = LEFT, width - RIGHT
        self._x, self._y = picture.x, picture.y

    def x(self, value: float) -> float:
        return self.left + share_of(value, *self._x) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - share_of(value, *self._y) * (self.bottom - self.top)


def _legend(picture: ChartPicture, plot: _Plot, paint: Paint, y: float) -> Iterator[str]:
    x = LEFT
    for curve in picture.curves:
        if curve.label:
            at = y - FONT / 3
            yield _path([(x, at), (x + 16, at)], paint(curve.role), 2.5, dashed=curve.dotted)
            yield _text(x + 20, y, curve.label, paint("text"))
            x += 32 + len(curve.label) * LETTER
    yield _text(x, y, cut(picture.note, int((plot.right - x) / LETTER)), paint("dim"))


def _curve(curve: PictureCurve, plot: _Plot, color: str) -> Iterator[str]:
    known = np.isfinite(curve.y)
    band = known & np.isfinite(curve.low) & np.isfinite(curve.high)
    for part in contiguous_parts(band):
        if (curve.high[part] > curve.low[part]).any():
            up = [(plot.x(float(curve.x[at])), plot.y(float(curve.high[at]))) for at in part]
            down = [(plot.x(float(curve.x[at])), plot.y(float(curve.low[at]))) for at in part[::-1]]
            yield _path([*up, *down], color, fill=True, opacity=0.22)
    for part in contiguous_parts(known):
        points = [(plot.x(float(curve.x[at])), plot.y(float(curve.y[at]))) for at in part]
        if len(points) == 1:
            (x, y) = points[0]
            points = [(x - 1.5, y), (x + 1.5, y)]
        yield _path(points, color, 1.6, dashed=curve.dotted)


def pictures_svg(
    pictures: Sequence[ChartPicture], theme: Theme, width: int = WIDTH, height: int = HEIGHT
) -> str:
    """Charts below each other as one SVG document. Text is escaped; there are no scripts and no links."""
    total, paint = height * len(pictures), partial(color_of, theme=theme)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" '
        f'viewBox="0 0 {width} {total}" font-family="{SANS}">',
        f'<rect width="100%" height="100%" fill="{paint("background")}"/>',
    ]
    for at, picture in enumerate(pictures):
        out += _chart(picture, paint, width, height, at * height)
    return "\n".join([*out, "</svg>", ""])


class NoPngError(Exception):
    """PNG cannot be made here; the message says what is missing, in one line."""


def as_png(svg: str) -> bytes:
    """An SVG document as PNG, at twice its size in pixels. Raises NoPngError."""
    try:
        from cairosvg import svg2png
    except ImportError:
        raise NoPngError(f"PNG {install_hint('png')}") from None
    except OSError:
        raise NoPngError("PNG needs the cairo library: apt install libcairo2, or the like") from None
    return bytes(svg2png(bytestring=svg.encode(), scale=2.0))


def _text(
    x: float,
    y: float,
    text: str,
    color: str,
    anchor: str = "start",
    size: float = FONT,
    *,
    bold: bool = False,
) -> str:
    """Text whose base line is at `y`."""
    from html import escape  # it has a table of 0.4 MB, which the screen does not need

    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{color}" '
        f'text-anchor="{anchor}"{weight}>{escape(text)}</text>'
    )


def _path(
    points: Sequence[Point], color: str, width: float = 1.0, *, dashed: bool = False, fill: bool = False,
    opacity: float = 1.0,
) -> str:  # fmt: skip
    """A line through points, or with `fill` the area that they enclose."""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    see_through = f' opacity="{opacity:g}"' if opacity < 1 else ""
    if fill:
        return f'<path d="{path}Z" fill="{color}"{see_through}/>'
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" '
        f'stroke-linejoin="round"{dashes}{see_through}/>'
    )


def finite_range(curves: Sequence[PictureCurve]) -> tuple[float, float] | None:
    """The lowest and highest value of curves and their spreads; None if all are NaN."""
    values = np.concatenate([part for curve in curves for part in (curve.y, curve.low, curve.high)])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else None
