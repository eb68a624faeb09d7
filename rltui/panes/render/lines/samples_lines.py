"""The samples pane as lines of cells, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rltui.common.display_text import cell_width, clean, pad, some_of
from rltui.common.markdown_text import in_markdown, markdown_table
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import BLANK, Line, Span, cut, empty_lines, line
from rltui.draw.numbers import format_plain, format_share
from rltui.logs.records.record_keys import ended_at_limit
from rltui.logs.sample_layouts.sample import Evaluation, SampleHead, SampleSummary
from rltui.panes.context_panes.samples_pane import SamplesPane, headline
from rltui.run_context.samples.sample_text import number_text

MIN_RESPONSE_CELLS = 12  # cells of a response's beginning
_RESPONSE_ROOM = 40  # cells of a response's beginning that other columns leave when they grow
_WORD = 20  # cells up to which a column grows to fit its texts; ids are longer
PASS_AT_K = "@k: mean over tasks of 1 - C(n-c, k)/C(n, k), c of n responses right (Chen et al. 2021, eq. 1)"
_DATASET, _CELL = 24, 24  # cells of a data set's name and of one step
ROWS = 200  # in printed output
COMPONENTS = 4  # parts of a reward that have a column
Summaries = Mapping[str, SampleSummary]  # by the key of the sample


class _Column(NamedTuple):
    heading: str
    width: int
    text: Callable[[SampleHead], str]
    right: bool = True


class SamplesLayout:
    """The columns that fit in a width, of those with values the most important ones."""

    def __init__(self, pane: SamplesPane, summaries: Summaries, width: int) -> None:
        self.summaries = summaries
        self.columns: list[_Column] = []
        room = width - 2 - MIN_RESPONSE_CELLS - 2
        for column in self._wanted(pane.rows):
            if column.width + 2 <= room:
                self.columns.append(column)
                room -= column.width + 2
        self.response = room + MIN_RESPONSE_CELLS
        self.sort = pane.sort
        for at, column in enumerate(self.columns):
            if column.right:
                continue
            more = max(map(cell_width, {column.text(head) for head in pane.rows}), default=0) - column.width
            if 0 < more <= min(_WORD - column.width, self.response - _RESPONSE_ROOM):
                self.columns[at] = column._replace(width=column.width + more)
                self.response -= more

    def _wanted(self, rows: Sequence[SampleHead]) -> list[_Column]:
        columns = [_Column("reward", 8, lambda head: number_text(head.reward))]
        if any(head.length is not None for head in rows):
            text = _Column("length", 7, lambda head: "" if head.length is None else f"{head.length:,}")
            columns.append(text)
        if any(head.stop for head in rows):
            columns.append(_Column("stop", 9, lambda head: clean(head.stop), right=False))
        if any(head.advantage is not None for head in rows):
            columns.append(_Column("advantage", 9, lambda head: number_text(head.advantage)))
        if len({head.split for head in rows}) > 1:
            columns.append(_Column("split", 10, lambda head: clean(head.split), right=False))
        if any(head.group for head in rows):
            columns.append(_Column("group", 8, lambda head: clean(head.group or ""), right=False))
        names = dict.fromkeys(name for one in self.summaries.values() for name in one.rewards)
        return [*columns, *(self._component(name) for name in list(names)[:COMPONENTS])]

    def _component(self, name: str) -> _Column:
        def text(head: SampleHead) -> str:
            known = self.summaries.get(head.key)
            return number_text(known.rewards.get(name)) if known is not None else ""

        shown = clean(name)
        return _Column(shown, min(max(len(shown), 8), 14), text)

    def head(self) -> Line:
        """The headings of the columns."""
        spans: list[Span] = [("  ", "faint")]
        for column in self.columns:
            role = "accent" if column.heading == self.sort else "faint"
            spans += [(pad(column.heading, column.width, right=column.right), role), ("  ", "faint")]
        return line(*spans, ("response", "faint"))

    def row(self, head: SampleHead, *, selected: bool = False) -> Line:
        """One sample."""
        spans: list[Span] = [("▸ " if selected else "  ", "accent")]
        for column in self.columns:
            role = "strong" if column.heading == "reward" else "text"
            if column.heading == "stop":
                role = "warn" if ended_at_limit(head.stop) else "dim"
            spans += [(pad(column.text(head), column.width, right=column.right), role), ("  ", "text")]
        known = self.summaries.get(head.key)
        response = "" if known is None else known.response or "(empty)"
        spans.append((cut(response, self.response), "dim" if head.ok else "warn"))
        return line(*spans, back="select" if selected else "")


def top_lines(pane: SamplesPane, width: int, most: int = 4) -> list[Line]:
    """The step, a summary of its samples, and problems with their files."""
    texts = ((headline(pane), "strong"), (" · ".join(pane.facts), "text"), (" · ".join(pane.notes), "mark"))
    lines = [line((f" {cut(text, width - 2)}", role)) for text, role in texts if text][:most]
    by_message: dict[str, list[str]] = {}
    for one in pane.problems:
        by_message.setdefault(one.message, []).append(one.path)
    for message, paths in list(by_message.items())[: max(most - len(lines), 0)]:
        lines.append(line((" ▲ ", "warn"), (cut(f"{some_of(paths, 1)}: {message}", width - 4), "text")))
    return lines


def evaluation_lines(pane: SamplesPane, width: int, most: int = ROWS) -> list[Line]:
    """Evaluations by data set, of the newest steps that fit: pass rate or mean reward, pass@k, count."""
    if not pane.evaluations:
        return []
    by_dataset: dict[str, dict[int, Evaluation]] = {}
    for one in pane.evaluations:
        by_dataset.setdefault(one.dataset, {})[one.step] = one
    room = max(min(_DATASET, width - _CELL - 4), 4)
    steps = sorted({one.step for one in pane.evaluations})
    shown = steps[-max((width - room - 4) // _CELL, 1) :]
    earlier = f", {len(steps) - len(shown):,} earlier steps" if len(shown) < len(steps) else ""
    head = pad(f"evaluations{earlier}", room + 2)
    lines = [
        line((f" {head}", "faint"), *((pad(f"step {step}", _CELL, right=True), "faint") for step in shown))
    ]
    for dataset, known in list(by_dataset.items())[: max(most - 2, 1)]:
        cells = [_evaluation_cell(known.get(step)) for step in shown]
        spans: list[Span] = [(f"   {pad(clean(dataset), room)}", "text")]
        lines.append(line(*spans, *((pad(cell, _CELL, right=True), "strong") for cell in cells)))
    if len(by_dataset) > most - 2:
        lines.append(line((f"   {len(by_dataset) - max(most - 2, 1):,} more data sets", "dim")))
    if any(one.pass_at_k is not None for one in pane.evaluations):
        lines.append(line((f"   {cut(PASS_AT_K, width - 4)}", "faint")))
    return lines


def _evaluation_cell(one: Evaluation | None) -> str:
    if one is None:
        return "–"
    if one.passed is None:
        value = "no reward" if one.reward is None else f"mean {format_plain(one.reward)}"
        return f"{value} n={one.samples:,}"
    at_k = "" if one.pass_at_k is None else f" @{one.k} {format_share(one.pass_at_k)}"
    return f"{format_share(one.passed)}{at_k} n={one.samples:,}"


def samples_lines(pane: SamplesPane, summaries: Summaries, width: int) -> list[Line]:
    """The whole pane as printed, with at most `ROWS` samples."""
    lines = [*top_lines(pane, width, 8), BLANK]
    if pane.evaluations:
        lines += [*evaluation_lines(pane, width), BLANK]
    if not pane.rows:
        return [*lines, *empty_lines(pane.empty, width)]
    layout = SamplesLayout(pane, summaries, width)
    lines.append(layout.head())
    lines += [layout.row(head) for head in pane.rows[:ROWS]]
    if len(pane.rows) > ROWS:
        lines.append(line((f" … {len(pane.rows) - ROWS:,} more; `rltui samples` prints all", "dim")))
    return lines


def samples_markdown(pane: SamplesPane, summaries: Summaries) -> str:
    """The pane as a list of facts and one table."""
    out = [f"- {in_markdown(text)}" for text in (headline(pane), *pane.facts, *pane.notes) if text]
    out += [f"- {in_markdown(one.path)}: {in_markdown(one.message)}" for one in pane.problems]
    if pane.evaluations:
        out += ["", evaluations_markdown(pane)]
    if not pane.rows:
        return "\n".join([*out, "", pane.empty]) + "\n"
    rows = []
    for head in pane.rows[:ROWS]:
        known = summaries.get(head.key)
        length = "" if head.length is None else str(head.length)
        response = cut(known.response, 80) if known is not None else ""
        numbers = number_text(head.reward), number_text(head.advantage), length
        rows.append((*numbers, head.stop, head.split, head.group or "", response))
    heads = ("reward", "advantage", "length", "stop", "split", "group", "response")
    cells = ([in_markdown(clean(cell)) for cell in row] for row in rows)
    return "\n".join([*out, "", *markdown_table(heads, cells, (0, 1, 2))]) + "\n"


def samples_record(pane: SamplesPane, summaries: Summaries) -> dict[str, object]:
    """The pane for JSON: fields may be added, never renamed."""
    return {
        "sample_step": pane.step,
        "sample_steps": len(pane.steps),
        "samples_of_step": pane.of,
        "samples": [_record(head, summaries.get(head.key)) for head in pane.rows[:ROWS]],
        "evaluations": [evaluation_record(one) for one in pane.evaluations],
        "sample_problems": [{"path": one.path, "message": one.message} for one in pane.problems],
    }


def evaluation_record(one: Evaluation) -> dict[str, object]:
    """One evaluation for JSON: fields may be added, never renamed."""
    return {
        "dataset": clean(one.dataset),
        "step": one.step,
        "samples": one.samples,
        "tasks": one.tasks,
        "reward": _finite(one.reward),
        "pass_rate": one.passed,
        "k": one.k,
        "pass_at_k": one.pass_at_k,
    }


def evaluations_markdown(pane: SamplesPane) -> str:
    """The evaluations as a table."""
    heads = ("data set", "step", "pass rate", "pass@k", "mean reward", "responses", "tasks")
    rows = []
    for one in pane.evaluations:
        at_k = "" if one.pass_at_k is None else f"{_share(one.pass_at_k)} (k={one.k})"
        cells = [clean(one.dataset), str(one.step), _share(one.passed), at_k, number_text(one.reward)]
        rows.append([in_markdown(cell) for cell in (*cells, str(one.samples), str(one.tasks))])
    return "\n".join(markdown_table(heads, rows, range(1, 7)))


def _share(value: float | None) -> str:
    return "" if value is None else format_share(value)


def _record(head: SampleHead, known: SampleSummary | None) -> dict[str, object]:
    return {
        "step": head.step,
        "split": clean(head.split),
        "reward": _finite(head.reward),
        "advantage": _finite(head.advantage),
        "rewards": {} if known is None else {clean(k): _finite(v) for k, v in known.rewards.items()},
        "length": head.length,
        "stop": clean(head.stop),
        "group": None if head.group is None else clean(head.group),
        "response": None if known is None else known.response,
    }


def _finite(value: float | None) -> object:
    return value if value is None or value - value == 0 else format_plain(value)
