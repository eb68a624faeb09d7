"""The answer of the pane system: whether GPUs are busy, and in which phase of a step they idle.

Trackers measure them during a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, distinct, median
from rltui.common.display_text import count_of, first_of, in_sentence
from rltui.common.regex import regex
from rltui.draw.numbers import format_duration, format_share
from rltui.panes.answers.answer import Answer, Device, DeviceCell, DeviceTable, Fact, device_cell
from rltui.panes.answers.answer_metrics import DeviceColumn, answer_metrics
from rltui.panes.answers.step_time.phase_spans import PhaseSpans, phase_spans
from rltui.panes.answers.values.recent_values import RunValues
from rltui.run_context.jobs.scheduler import look_inside

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

IDLE = 0.05  # use below which a GPU is idle: displays and monitors use less
MIN_IDLE_SAMPLES, MIN_IDLE_SECONDS = 5, 60.0  # from which a GPU is called idle
NOW = 5  # samples that "now" means
MIN_SAMPLES = 20  # in a phase, from which its use is given
INTERVALS = 120  # of the history
STEPS_SHOWN = 8  # in the history, if phases are known
_NODE = regex(r"(?:^|/)node\.(?P<ray>[^/.]+)\.|/l:(?P<label>.+)$")
_NUMBER = regex(r"gpu[._/](?P<number>\d+)")


@dataclass(slots=True)
class _Gpu:
    """The samples of one GPU by quantity: times in seconds since 1970, and values in canonical units."""

    node: str
    number: int
    samples: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)

    def recent(self, quantity: str) -> Floats:
        """The last values."""
        return self.samples[quantity][1][-NOW:] if quantity in self.samples else np.empty(0)

    @property
    def use(self) -> tuple[Floats, Floats] | None:
        """The times and values of its use; None if it is not logged."""
        return self.samples.get(answer_metrics().single.gpu_use)

    @property
    def idle_seconds(self) -> float:
        """How long it has been idle at its last sample; 0 if it is busy."""
        times, use = self.use or (np.empty(0), np.empty(0))
        busy = np.flatnonzero(use >= IDLE)
        first = int(busy[-1]) + 1 if len(busy) else 0
        if len(use) - first < MIN_IDLE_SAMPLES or not np.isfinite(times[first:]).all():
            return 0.0
        seconds = float(times[-1] - times[first])
        return seconds if seconds >= MIN_IDLE_SECONDS else 0.0


def gpu_answer(run: RunValues) -> Answer | None:
    """The answer of the pane system; None for a run that logs no single GPUs."""
    gpus = _gpus(run)
    if not gpus:
        return None
    spans = phase_spans(run)
    nodes = {gpu.node for gpu in gpus}
    in_phases = _use_in_phases(gpus, spans) if spans is not None else []
    notes = [] if spans is None else ["phases are laid out in the order in which trainers run them"]
    if run.at_step is None and (hint := job_hint(run.view)):
        notes.append(hint)
    several = f" on {len(nodes)} nodes" if len(nodes) > 1 else ""
    facts = [Fact("GPUs", len(gpus), f"{count_of(len(gpus), 'GPU')}{several}", plain=True)]
    facts += [
        Fact(title, use, f"{format_share(use)} used during {in_sentence(title)}", plain=True)
        for title, use, _ in in_phases
    ]
    return Answer(
        _sentence(gpus, in_phases), tuple(facts[:4]), devices=_table(gpus, spans, len(nodes) > 1),
        notes=tuple(notes),
    )  # fmt: skip


def job_hint(view: RunView) -> str:
    """The command that shows the machine of a job from outside of it; empty without a job, and inside."""
    command = "" if view.job is None else look_inside(view.job)
    return f"live, from inside the job: {command}" if command else ""


def _gpus(run: RunValues) -> list[_Gpu]:
    """The GPUs in the log, by node and number."""
    gpus: dict[tuple[str, int], _Gpu] = {}
    panes = run.view.tag_index.panes
    throttled = answer_metrics().single.gpu_throttled
    same = {each: column.metric for column in answer_metrics().gpu for each in (column.metric, *column.also)}
    for tag in (*panes.get("system", ()), *panes.get("perf", ())):
        name = run.name(tag)
        quantity = same.get(name.canonical or "")
        number = _NUMBER.search(tag)
        if quantity is None or number is None or not name.comparable:
            continue
        node = _NODE.search(tag)
        key = ((node["ray"] or node["label"]) if node is not None else "", int(number["number"]))
        points = run.points(tag)
        kept = np.isfinite(points.value)
        if not kept.any():
            continue
        values = run.in_canonical_unit(tag, points.value[kept])
        gpu = gpus.setdefault(key, _Gpu(*key))
        times = points.wall_time[kept]
        known = gpu.samples.get(quantity)
        if known is not None and quantity == throttled and len(known[1]) == len(values):
            values = np.maximum(known[1], values)  # for any of several reasons
        gpu.samples[quantity] = (times, values)
    return [gpus[key] for key in sorted(gpus)]


def _use_in_phases(gpus: Sequence[_Gpu], spans: PhaseSpans) -> list[tuple[str, float, float]]:
    """Phases with enough samples, in their order: title, mean use of all GPUs, share of samples that idle."""
    times, values = (
        np.concatenate([gpu.use[at] for gpu in gpus if gpu.use is not None] or [np.empty(0)]) for at in (0, 1)
    )
    phase = spans.at(times)
    use = ((title, values[phase == number]) for number, title in enumerate(spans.titles))
    return [
        (title, float(samples.mean()), float((samples < IDLE).mean()))
        for title, samples in use
        if len(samples) >= MIN_SAMPLES
    ]


def _sentence(gpus: Sequence[_Gpu], in_phases: Sequence[tuple[str, float, float]]) -> str:
    used = [gpu for gpu in gpus if gpu.use is not None]
    if not used:
        return "The log has no use of GPUs, only their memory or power."
    idle = [gpu for gpu in used if gpu.idle_seconds]
    means = {id(gpu): float(gpu.recent(answer_metrics().single.gpu_use).mean()) for gpu in used}
    others = [means[id(gpu)] for gpu in used if not gpu.idle_seconds]
    if idle and others:
        names = first_of([_name(gpu) for gpu in idle], 6)
        verb = "has" if len(idle) == 1 else "have"
        long = format_duration(min(gpu.idle_seconds for gpu in idle))
        rest = f"the other{'s are' if len(others) > 1 else ' is'} {format_share(float(np.mean(others)))} used"
        text = f"{names} {verb} been idle for {long} while {rest}"
        if len(idle) > 1:
            text = f"{len(idle)} of {len(used)} GPUs idle: {text}"
    elif idle:
        text = "All GPUs are idle" if len(used) > 1 else "The GPU is idle"
    elif len(used) == 1:
        text = f"The GPU is {format_share(means[id(used[0])])} used"
    else:
        least = min(used, key=lambda gpu: means[id(gpu)])
        text = f"GPUs are {format_share(float(np.mean(others)))} used"
        text += f"; the least is {_name(least)}, {format_share(means[id(least)])}"
    phase, _, idle_share = max(in_phases, key=lambda one: one[2], default=("", 0.0, 0.0))
    if idle_share >= IDLE:
        text += f". GPUs idle {format_share(idle_share)} during {in_sentence(phase)}"
    return f"{text}."


def _table(gpus: Sequence[_Gpu], spans: PhaseSpans | None, named: bool) -> DeviceTable:
    single = answer_metrics().single
    logged = {quantity for gpu in gpus for quantity in gpu.samples}
    if single.gpu_memory in logged:
        logged.discard(single.gpu_memory_used)
    columns = [column for column in answer_metrics().gpu if column.metric in logged]
    ends = [float(times[-1]) for gpu in gpus for times, _ in gpu.samples.values() if np.isfinite(times[-1])]
    starts = [float(times[0]) for gpu in gpus for times, _ in gpu.samples.values() if np.isfinite(times[0])]
    edges = _edges(min(starts), max(ends), spans) if ends and starts and max(ends) > min(starts) else None
    cells = [_cells(gpus, column) for column in columns]
    devices = tuple(
        Device(
            f"{gpu.node}:{gpu.number}" if named or gpu.node else f"GPU {gpu.number}",
            tuple(of_column[at] for of_column in cells),
            () if edges is None or gpu.use is None else _history(*gpu.use, edges),
            f"idle {format_duration(gpu.idle_seconds)}" if gpu.idle_seconds else "",
        )
        for at, gpu in enumerate(gpus)
    )
    titles = tuple(column.title for column in columns)
    if edges is None:
        return DeviceTable(titles, devices)
    phases = () if spans is None else tuple(spans.at((edges[1:] + edges[:-1]) / 2).tolist())
    return DeviceTable(
        titles, devices, float(edges[-1] - edges[0]), phases, () if spans is None else spans.titles
    )


def _edges(start: float, end: float, spans: PhaseSpans | None) -> Floats:
    """Equal intervals of the time up to the last sample, or of the last steps if their phases are known."""
    if spans is not None and len(spans.begin):
        known = spans.begin[spans.phase == spans.phase[0]]
        end = min(end, float(spans.end[-1]))
        if len(known):
            start = max(start, float(known[-STEPS_SHOWN:][0]))
    return np.linspace(start, max(end, start + 1.0), INTERVALS + 1)


def _history(times: Floats, values: Floats, edges: Floats) -> tuple[float, ...]:
    """The mean use in each interval; one without a sample has that of the next sample, if that is near."""
    known = np.isfinite(times)
    times, values = times[known], values[known]
    if not len(times):
        return ()
    gap = median(np.diff(times)) if len(times) > 1 else 0.0
    middles = (edges[1:] + edges[:-1]) / 2
    after = np.searchsorted(times, middles)
    inside = after < len(times)
    near = times[np.minimum(after, len(times) - 1)] - middles <= max(1.5 * gap, edges[1] - edges[0])
    means = np.where(inside & near, values[np.minimum(after, len(values) - 1)], np.nan)
    position = np.digitize(times, edges) - 1
    for at in distinct(position[(position >= 0) & (position < len(means))]).tolist():
        means[at] = values[position == at].mean()
    return tuple(means.tolist())


def _cells(gpus: Sequence[_Gpu], column: DeviceColumn) -> list[DeviceCell]:
    """The recent means of a column as cells."""
    recent = [gpu.recent(column.metric) for gpu in gpus]
    values = [float(one.mean()) if len(one) else None for one in recent]
    most = max((value for value in values if value is not None), default=1.0)
    low, high = column.scale or (0.0, most or 1.0)
    return [device_cell(value, column.unit, (low, high)) for value in values]


def _name(gpu: _Gpu) -> str:
    return f"GPU {gpu.number}" + (f" of node {gpu.node}" if gpu.node else "")
