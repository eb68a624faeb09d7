"""What a key means, laid out for people (wrapped text) and for programs (a JSON object)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width
from rltui.draw.cells import wrap
from rltui.schema.metric import DIRECTIONS, Metric
from rltui.schema.units import units

LABEL = 12  # cells of the labels' column


class JudgedBy(NamedTuple):
    """A rule that judges the metric: its id, severity and when it fires."""

    id: str
    severity: str
    when: str


class GlossaryEntry(NamedTuple):
    """One meaning of a key: its metric, and how frameworks and rules refer to it.

    `framework` is the label of the only framework that means this by the key, None for a canonical id and
    where several do (`frameworks` has them all). `unit` is that of the values as written, `scale` and
    `offset` bring them to the metric's own (`value * scale + offset`). `held_out`: evaluation writes it.
    `aliases` are names by framework label; `titles` are those of the metrics in `check_next`, by id; both,
    `writer` and `rules` are filled in by who shows the entry.
    """

    key: str
    metric: Metric
    framework: str | None = None
    frameworks: tuple[str, ...] = ()
    pattern: str = ""  # the name as the framework's file has it
    pane: str = ""
    unit: str = ""
    scale: float = 1.0
    offset: float = 0.0
    held_out: bool = False
    older: bool = False  # only older releases write it
    caveat: str = ""
    writer: tuple[str, str] | None = None  # the framework's title, and what holds for all that it writes
    rules: tuple[JudgedBy, ...] = ()
    aliases: Mapping[str, Sequence[str]] | None = None
    titles: Mapping[str, str] | None = None

    @property
    def canonical(self) -> str:
        """The canonical id of the metric."""
        return self.metric.id

    def as_json(self) -> dict[str, object]:
        """The fields that other programs rely on; new ones come at the end."""
        metric = self.metric
        return {
            "key": self.key,
            "framework": self.framework,
            "canonical": metric.id,
            "title": metric.title,
            "pane": self.pane or metric.pane,
            "unit": self.unit or metric.unit,
            "direction": metric.direction,
            "meaning": metric.meaning,
            "healthy": metric.healthy,
            "watch_for": metric.watch_for,
            "rules": [{"id": rule.id, "severity": rule.severity, "when": rule.when} for rule in self.rules],
            "check_next": list(metric.check_next),
            "aliases": {name: list(keys) for name, keys in (self.aliases or {}).items()},
            "sources": list(metric.sources),
            "caveats": [self.caveat] if self.caveat else [],
            "frameworks": list(self.frameworks),
            "held_out": self.held_out,
        }

    def as_lines(self, width: int = 80) -> list[str]:
        """The card as lines of at most `width` cells; a longer word (a key) stands on a line of its own."""
        metric = self.metric
        lines = [metric.title, "=" * cell_width(metric.title)]
        lines += wrap(self._whence(), width, cut_words=False)
        unit = units().words.get(metric.unit, metric.unit)
        lines += wrap(
            f"{self.pane or metric.pane} pane · {unit} · {DIRECTIONS[metric.direction]}",
            width,
            cut_words=False,
        )
        lines += ["", *wrap(metric.meaning, width, cut_words=False), ""]
        for label, text in self.parts():
            lines += labelled(label, text, width)
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _whence(self) -> str:
        if self.key == self.metric.id:
            return f"{self.metric.id} (canonical)"
        names = self.frameworks or ((self.framework,) if self.framework else ())
        whose = f" [{', '.join(names[:4])}{', …' if len(names) > 4 else ''}]" if names else ""
        return f"{self.key} → {self.metric.id}{whose}"

    def _notes(self) -> Iterator[str]:
        if self.held_out and not self.metric.id.startswith("validation."):
            yield "Written by evaluation: the same quantity on held-out data."
        if self.older:
            yield "Only older releases write this name."
        if (self.scale, self.offset) != (1.0, 0.0):
            sign = f" {self.offset:+g}" if self.offset else ""
            yield f"Written as {self.unit or 'another scale'}; judged as value × {self.scale:g}{sign}."
        elif self.unit and self.unit != self.metric.unit:
            yield f"Written as {self.unit}: absolute limits may not apply."
        if self.caveat:
            yield self.caveat

    def parts(self) -> Iterator[tuple[str, str]]:
        """What stands below the meaning, in order: a label, empty where it goes on, and a text."""
        metric, titles = self.metric, self.titles or {}
        if metric.healthy:
            yield "healthy", metric.healthy
        if metric.watch_for:
            yield "watch for", metric.watch_for
        yield from listed("derived", metric.derived)
        yield from listed("note", self._notes())
        if self.writer is not None:
            yield "writer", f"{self.writer[0]}: {self.writer[1]}"
        yield from listed("rules", (f"{rule.severity}: {rule.when} ({rule.id})" for rule in self.rules))
        named = (f"{titles[name]} ({name})" if titles.get(name) else name for name in metric.check_next)
        yield from listed("check next", named)
        for at, (name, keys) in enumerate((self.aliases or {}).items()):
            more = f" and {len(keys) - 2} more" if len(keys) > 2 else ""
            yield ("" if at else "written as"), f"{name}: {', '.join(keys[:2])}{more}"
        yield from listed("sources", metric.sources)


def listed(label: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Texts below one label, which is empty where it goes on."""
    for at, text in enumerate(texts):
        yield ("" if at else label), text


def labelled(label: str, text: str, width: int) -> list[str]:
    """A label in a column of its own and the text wrapped beside it."""
    lines = wrap(text, max(width - LABEL, 20), cut_words=False) or [""]
    heads = [label.ljust(LABEL), *[" " * LABEL] * (len(lines) - 1)]
    return [f"{head}{line}".rstrip() for head, line in zip(heads, lines, strict=True)]
