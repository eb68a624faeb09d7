"""The hparams pane as lines of cells, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rltui.common.display_text import cell_width, count_of, fit, pad
from rltui.common.markdown_text import code_in_markdown, in_markdown, markdown_table
from rltui.draw.cells import BLANK, Line, Span, cut, empty_lines, line, wrap
from rltui.panes.context_panes.hparams_pane import HParamsColumn, HParamsPane, HParamsRow
from rltui.panes.runs.short_names import short_run_names
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.hparams.known_hparams import KEY

MIN_KEY, MAX_KEY = 16, 44
MIN_VALUE, MAX_VALUE = 12, 56
SOURCE = 26  # cells of the source of a value, if there is room


def labels(columns: Sequence[HParamsColumn]) -> list[str]:
    """The short names of the runs of the columns."""
    short = short_run_names([column.label for column in columns])
    return [short[column.label] for column in columns]


class HParamsLayout:
    """Which columns fit at a width, and how wide they are."""

    def __init__(self, pane: HParamsPane, width: int) -> None:
        self.pane = pane
        self.width = width
        longest = max((cell_width(row.key) for row in pane.hparams), default=MIN_KEY)
        count = max(len(pane.columns), 1)
        share = width // 2 if count == 1 else max(width * 2 // 5, width - 3 - count * (MAX_VALUE + 2))
        self.key = max(min(longest, MAX_KEY, share), min(MIN_KEY, width // 2))
        room = width - 3 - self.key
        self.count = max(min(count, room // (MIN_VALUE + 2)), 1)
        self.source = 0
        if count == 1 and room > SOURCE + 2 + MAX_VALUE:
            self.source = min(room - MAX_VALUE - 4, 60)
            room -= self.source + 2
        self.value = max(min(room // self.count - 2, MAX_VALUE if count > 1 else room - 2), 4)
        self.value = min(self.value, max(self._widest(), MIN_VALUE))

    def _widest(self) -> int:
        """Cells of the widest value or name."""
        values = [cell.text for row in self.pane.hparams for cell in row.cells if cell is not None]
        return max(map(cell_width, [*values, *labels(self.pane.columns)]), default=MIN_VALUE)

    @property
    def hidden(self) -> int:
        """Columns that do not fit."""
        return len(self.pane.columns) - self.count

    def head(self) -> list[Line]:
        """The headings of the columns: their notes, if there are any, and their names."""
        alone = len(self.pane.columns) == 1
        names = ["value"] if alone else labels(self.pane.columns)[: self.count]
        notes = [column.note for column in self.pane.columns[: self.count]]
        notes = ["" if note == name else note for note, name in zip(notes, names, strict=False)]
        lines = []
        if any(notes):
            spans: list[Span] = [(" " * (self.key + 3), "text")]
            spans += [("  " + pad(note, self.value), "dim") for note in notes]
            lines.append(line(*spans))
        spans = [("   " + pad("setting", self.key), "faint")]
        spans += [("  " + pad(name, self.value), "faint" if alone else "strong") for name in names]
        if self.source:
            spans.append(("  said by", "faint"))
        return [*lines, line(*spans)]

    def row(self, row: HParamsRow, *, selected: bool = False) -> Line:
        """A setting, or a heading."""
        back = "select" if selected else ""
        if row.kind == "heading":
            return line((" " + cut(row.key, self.width - 2), "strong"))
        glyph = "◆ " if row.differs else "  "
        spans: list[Span] = [
            (f" {glyph}", "mark"),
            (pad(row.key, self.key), "text" if row.first is not None and not row.first.unset else "dim"),
        ]
        for index, cell in enumerate(row.cells[: self.count]):
            text = "·" if cell is None else cell.text
            spans += [("  ", "text"), (pad(text, self.value), self._role(row, cell, index))]
        if self.source and row.first is not None:
            more = f" (and {len(row.others)} otherwise)" if row.others else ""
            spans.append(("  " + fit(row.first.source + more, self.source), "faint"))
        return line(*spans, back=back)

    def _role(self, row: HParamsRow, cell: HParam | None, index: int) -> str:
        if cell is None or cell.unset:
            return "faint"
        if row.differs:
            return "strong" if index == 0 else "mark"
        return "strong" if row.topic == KEY and len(self.pane.columns) == 1 else "text"


def top_lines(pane: HParamsPane, width: int, most: int = 8) -> list[Line]:
    """The attempts and the problems, above the settings; of many attempts the newest that fit as a whole."""
    lines: list[Line] = []
    for text in reversed(pane.history):
        parts = wrap(text, width - 5)
        if not lines and len(parts) > most:
            parts[most - 1 :] = [cut(" ".join(parts[most - 1 :]), width - 5)]
        if len(lines) + len(parts) > most:
            break
        lines[:0] = [line(("   " if at else " ↻ ", "mark"), (part, "text")) for at, part in enumerate(parts)]
    problems = [problem.text for problem in pane.problems[:3]]
    return lines + [line((" ▲ ", "warn"), (cut(text, width - 4), "text")) for text in problems]


def hparams_lines(pane: HParamsPane, width: int) -> list[Line]:
    """The whole pane as printed."""
    lines = top_lines(pane, width)
    if lines:
        lines.append(BLANK)
    if not pane.hparams:
        return [*lines, *empty_lines(pane.empty, width)]
    layout = HParamsLayout(pane, width)
    lines += layout.head()
    for index, row in enumerate(pane.rows):
        if row.kind == "heading" and index:
            lines.append(BLANK)
        lines.append(layout.row(row))
    notes = list(pane.notes)
    if layout.hidden:
        notes.append(f"{count_of(layout.hidden, 'more run')} not shown: {width} columns are too few")
    if notes:
        lines += [BLANK, *(line((" " + part, "dim")) for part in wrap(" · ".join(notes), width - 2))]
    return lines


def hparams_markdown(pane: HParamsPane) -> str:
    """One table; headings as rows, values that differ in bold."""
    out = [f"- {in_markdown(text)}" for text in pane.history]
    out += [f"- ▲ {in_markdown(problem.text)}" for problem in pane.problems]
    out += [""] if out else []
    if not pane.hparams:
        return "\n".join([*out, pane.empty, ""])
    several = len(pane.columns) > 1
    names = labels(pane.columns) if several else ["value"]
    heads = [
        in_markdown(f"{name} ({column.note})" if several and column.note not in ("", name) else name)
        for name, column in zip(names, pane.columns, strict=True)
    ]
    heads += [] if several else ["said by"]
    rows = []
    for row in pane.rows:
        if row.kind == "heading":
            rows.append([f"**{in_markdown(row.key)}**", *[""] * len(heads)])
            continue
        cells = ["·" if cell is None else in_markdown(cell.text) for cell in row.cells]
        if several and row.differs and not pane.only_differences:
            cells = [f"**{cell}**" for cell in cells]
        if not several:
            cells.append(in_markdown(row.first.source) if row.first is not None else "")
        rows.append([code_in_markdown(row.key), *cells])
    out += markdown_table(["setting", *heads], rows)
    if pane.notes:
        out += ["", in_markdown(" · ".join(pane.notes))]
    return "\n".join(out) + "\n"


def hparams_record(pane: HParamsPane) -> dict[str, object]:
    """Hyperparameters for JSON: values as they were written, `null` if a run has none."""
    return {
        "columns": [
            {"run": column.label, "note": column.note, "sources": list(column.hparams.sources)}
            for column in pane.columns
        ],
        "settings_known": pane.total,
        "settings_different": pane.different,
        "only_differences": pane.only_differences,
        "settings": [_record(row) for row in pane.hparams],
        "attempts": list(pane.history),
        "problems": [one.as_json() for one in pane.problems],
    }


def _record(row: HParamsRow) -> dict[str, object]:
    return {
        "key": row.key,
        "topic": row.topic,
        "differs": row.differs,
        "values": [None if cell is None else cell.value for cell in row.cells],
        "said": [cell is not None for cell in row.cells],
        "sources": [None if cell is None else cell.source for cell in row.cells],
        "otherwise": [{"value": one.value, "source": one.source} for one in row.others],
    }
