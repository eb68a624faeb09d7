"""The explanation of a key, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rltui.common.display_text import cell_width, first_of, some_of
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import wrap
from rltui.schema.metric import DIRECTIONS, Metric
from rltui.schema.units import units

LABEL_WIDTH = 12  # cells


class MetricRule(NamedTuple):
    """A rule on the metric. when: its condition in words."""

    id: str
    severity: str
    when: str


class GlossaryEntry(NamedTuple):
    """A meaning of a key: its metric, and how frameworks and rules refer to it.

    frameworks: labels of the frameworks in which the key has this meaning; framework: the label if there is
    only one. unit: of the values as written; scale, offset: convert them to the metric's unit (`value * scale
    + offset`). held_out: whether it is from an evaluation. aliases: names by framework label. titles: of the
    metrics in `check_next`, by id. `aliases`, `titles`, `writer` and `rules` are set by the caller.
    """

    key: str
    metric: Metric
    framework: str | None = None
    frameworks: tuple[str, ...] = ()
    pattern: str = ""  # the name in the framework's file
    pane: str = ""
    unit: str = ""
    scale: float = 1.0
    offset: float = 0.0
    held_out: bool = False
    older: bool = False  # only older releases write the key
    caveat: str = ""
    writer: tuple[str, str] | None = None  # the framework's title, and a caveat for all its metrics
    rules: tuple[MetricRule, ...] = ()
    aliases: Mapping[str, Sequence[str]] | None = None
    titles: Mapping[str, str] | None = None

    @property
    def canonical(self) -> str:
        """The canonical id of the metric."""
        return self.metric.id

    def as_json(self) -> dict[str, object]:
        """The documented fields; new ones are appended."""
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
        """The entry as lines of at most `width` cells, except for longer words such as keys."""
        metric = self.metric
        unit = units().words.get(metric.unit, metric.unit)
        facts = f"{self.pane or metric.pane} pane · {unit} · {DIRECTIONS[metric.direction]}"
        lines = [metric.title, "=" * cell_width(metric.title)]
        for text in (self._origin(), facts, "", metric.meaning, ""):
            lines += wrap(text, width, cut_words=False) or [""]
        for label, text in self.parts():
            lines += labelled(label, text, width)
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _origin(self) -> str:
        if self.key == self.metric.id:
            return f"{self.metric.id} (canonical)"
        names = self.frameworks or ((self.framework,) if self.framework else ())
        labels = f" [{first_of(names, 4)}]" if names else ""
        return f"{self.key} → {self.metric.id}{labels}"

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
        """The labelled texts below the meaning; a part without a label continues the one before."""
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
        yield from listed("written as", (_aliases(*item) for item in (self.aliases or {}).items()))
        yield from listed("sources", metric.sources)


def _aliases(framework: str, keys: Sequence[str]) -> str:
    return f"{framework}: {some_of(keys, 2)}"


def listed(label: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Texts with the label before the first one only."""
    for number, text in enumerate(texts):
        yield ("" if number else label), text


def labelled(label: str, text: str, width: int) -> list[str]:
    """Lines with the label in the left column and the wrapped text in the right one."""
    lines = wrap(text, max(width - LABEL_WIDTH, 20), cut_words=False) or [""]
    labels = [label, *[""] * (len(lines) - 1)]
    return [f"{head.ljust(LABEL_WIDTH)}{line}".rstrip() for head, line in zip(labels, lines, strict=True)]
