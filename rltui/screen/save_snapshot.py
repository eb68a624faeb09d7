"""The `s` key: saves the pane or the chart to files, never in LOGDIR, never over another file."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rltui.common import writable_paths
from rltui.common.display_text import clean
from rltui.draw.chart_svg import NoPngError, as_png, pictures_svg
from rltui.draw.symbols import to_ascii
from rltui.panes.charts.chart_picture import chart_picture
from rltui.panes.charts.sister_band import sister_series
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.render.chart_text import chart_text
from rltui.panes.render.plain_text import as_text, pane_text
from rltui.screen import run_list, shown_run
from rltui.screen.pages.page_registry import page_of
from rltui.screen.state import AppState, ChartOverlay
from rltui.session.run_view import RunView

TEXT_WIDTH = 100  # cells of a chart as text


def save_snapshot(state: AppState) -> None:
    """Write and copy what is shown: a chart as text and pictures, a pane as text."""
    view, pane, at_step = shown_run.run(state), state.selection.pane, state.time.at_step
    chart = next((one for one in reversed(state.overlays) if isinstance(one, ChartOverlay)), None)
    if view is None:
        state.notify("no run to take a snapshot of")
        return
    if chart is not None:
        _save_chart(state, view, chart)
        return
    text_of = page_of(state).text
    lines = pane_text(
        view, pane, state.now, at_step=at_step, then=shown_run.past_findings(state),
        inputs=shown_run.answer_inputs(state, view, pane),
        content=None if text_of is None else partial(text_of, state),
    )  # fmt: skip
    text = _spelled(state, as_text(lines))
    step = view.run.last_step if at_step is None else at_step
    name = file_name(shown_run.short_name(state, view.name), pane, step)
    try:
        path = write(text.encode(errors="replace"), name, folder_outside(state.options.logdirs))
    except OSError as error:
        state.notify(f"snapshot not written: {error.strerror or 'error'}; it is on the clipboard")
    else:
        state.notify(f"copied, and wrote {_short(path)}")
    state.requests.append(("copy", text))


def _save_chart(state: AppState, view: RunView, chart: ChartOverlay) -> None:
    """Write the visible part of the chart with the compared runs, as text, SVG and PNG."""
    row, run = chart.row, shown_run.short_name(state, view.name)
    window = window_for(view, at_step=state.time.at_step)
    if chart.zoom is not None and state.saved.axis == "step":
        window = StepWindow(*chart.zoom, restarts=window.restarts)
    sisters = sister_series(view, row.tag, run_list.sisters(state, view, everywhere=True))
    text = _spelled(state, chart_text(row, run, window, TEXT_WIDTH, sisters=sisters))
    beside = [
        (shown_run.short_name(state, other.name), other.run.series[tag])
        for other in shown_run.compared_runs(state, view)
        if (tag := view.tag_index.counterpart(row.tag, other.tag_index)) is not None
    ]
    picture = chart_picture(row, run, window, log=chart.log, others=beside, sisters=sisters)
    step = view.run.last_step if state.time.at_step is None else state.time.at_step
    name, missing = file_name(run, row.tag, step), ""
    state.requests.append(("copy", text))
    try:
        folder = folder_outside(state.options.logdirs)
        path = write(text.encode(errors="replace"), name, folder)
        endings = [path.suffix]
        if picture is not None:
            svg = pictures_svg([picture], state.theme)
            _write_beside(path, ".svg", svg.encode(), endings)
            try:
                _write_beside(path, ".png", as_png(svg), endings)
            except NoPngError as error:
                missing = f"; {error}"
    except OSError as error:
        state.notify(f"chart not written: {error.strerror or 'error'}; it is on the clipboard as text")
    else:
        state.notify(
            f"copied as text, and wrote {_short(path.with_suffix(''))}{{{','.join(endings)}}}{missing}"
        )


def _spelled(state: AppState, text: str) -> str:
    """Text in the characters of this terminal."""
    return to_ascii(text) if state.options.ascii_only else text


def _write_beside(path: Path, ending: str, data: bytes, endings: list[str]) -> None:
    """The same name with another ending. Raises OSError."""
    endings.append(write(data, path.with_suffix(ending).name, path.parent).suffix)


def file_name(run: str, pane: str, step: int | None) -> str:
    """`rltui-<run>-<pane>-step812.txt` without characters that are special to shells or file systems."""
    words = re.sub(r"[^A-Za-z0-9._=-]+", "-", run).strip("-.") or "run"
    pane = re.sub(r"[^A-Za-z0-9._-]+", "-", pane).strip("-.") or "pane"
    return f"rltui-{words[-60:]}-{pane[:30]}" + (f"-step{step}" if step is not None else "") + ".txt"


def folder_outside(logdirs: Sequence[str]) -> Path:
    """The working directory, or the user's state folder if that is inside a LOGDIR.

    Raises OSError without either.
    """
    current = Path.cwd()
    if writable_paths.enclosing_logdir(current, logdirs) is None:
        return current
    state = writable_paths.state()
    if state is None:
        raise FileNotFoundError(None, "no folder outside the logs is known")
    return state / "snapshots"


def write(data: bytes, name: str, folder: Path) -> Path:
    """Write a new file atomically; a number is added to a name that exists. Raises OSError."""
    writable_paths.make_private(folder)
    stem, dot, ending = name.rpartition(".")
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{stem}-{number}{dot}{ending}")
        with contextlib.suppress(FileExistsError), writable_paths.atomic_file(path, replace=False) as file:
            file.write(data)
            return path
    raise FileExistsError(f"{name} exists too often")


def _short(path: Path) -> str:
    with contextlib.suppress(ValueError, OSError, RuntimeError):
        return clean(f"~/{path.relative_to(Path.home())}")
    return clean(str(path))
