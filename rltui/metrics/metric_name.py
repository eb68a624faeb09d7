"""The meaning of a tag."""

from __future__ import annotations

from rltui.common.display_text import in_sentence
from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.schema.metric import Metric, Statistic

ROUNDING = 1e-4  # relative, of values in single precision
# Of a metric that may be `beyond`: percentages soon exceed it, and lower values above one are no shares.
LEAST_PERCENT = 10.0


class MetricName(NamedTuple):
    """A tag and its meaning.

    unit: of the value as written; `to_canonical` converts a value to `metric.unit`. comparable: false if
    there is no factor between the two units (sum per response and mean per token); absolute limits do not
    apply then. held_out: whether it is from an evaluation; such a series must not be judged as training, even
    if `canonical` is a metric of training. part: the text matched by wildcards, such as a data source. The
    statistics of a distribution have the same `group`, `part`, `held_out` and `computed`.
    """

    tag: str
    title: str
    pane: str
    canonical: str | None = None
    metric: Metric | None = None
    group: str = ""
    unit: str = ""
    importance: int = 1_000
    framework: str | None = None  # label of the framework that defines the meaning, if any
    guessed: bool = False
    held_out: bool = False
    part: str = ""
    statistic: Statistic = ""
    caveat: str = ""
    scale: float = 1.0
    offset: float = 0.0
    comparable: bool = True
    declared_range: tuple[float, float] | None = None  # as written; for the scale of charts only
    computed: bool = False  # by rltui from samples; the trainer may write the same metric itself

    @property
    def shown_title(self) -> str:
        """The title of the values as written: `Minus entropy` of a key that has the opposite sign."""
        if self.scale >= 0:
            return self.title
        return f"{'One minus' if self.offset == 1 else 'Minus'} {in_sentence(self.title)}"

    @property
    def bounded(self) -> bool:
        """Whether values may contradict its title."""
        return self.metric is not None and bool(self.metric.beyond)

    def title_up_to(self, highest: float) -> str:
        """The title of values as written of which this is the highest: a share of 1.7 is none.

        Values in percent keep the title of a share.
        """
        metric = self.metric
        if metric is None or metric.bounds is None or not self.bounded or self.scale != 1.0:
            return self.shown_title
        if not metric.bounds[1] * (1 + ROUNDING) < highest < LEAST_PERCENT:
            return self.shown_title
        other = glossary().metrics[metric.beyond].title
        return self.title.replace(metric.title, other, 1)

    @property
    def direction_note(self) -> str:
        """`falls as entropy rises`, of a key that has the opposite sign; else empty."""
        return "" if self.scale >= 0 else f"falls as {in_sentence(self.title)} rises"

    @property
    def recognised(self) -> bool:
        """Whether the meaning is known."""
        return self.canonical is not None

    @property
    def main(self) -> bool:
        """Whether it is the metric itself, not another statistic of it."""
        own = self.metric.statistic if self.metric is not None else ""
        return self.statistic == own or (own == "" and self.statistic == "mean")

    @property
    def is_copy(self) -> bool:
        """Whether it is another series logged again at other steps, such as seconds."""
        return self.statistic == "copy"

    def to_canonical(self, value: float) -> float:
        """Convert a value as written to the canonical scale."""
        return value * self.scale + self.offset

    def as_written(self, value: float | None) -> float | None:
        """Convert a value from the canonical scale to that of the log; None stays None."""
        return value if value is None or not self.scale else (value - self.offset) / self.scale
