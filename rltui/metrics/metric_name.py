"""One metric name, resolved: what the rest of the program knows of a tag."""

from __future__ import annotations

from rltui.common.named_tuple import NamedTuple
from rltui.schema.metric import Metric, Statistic


class MetricName(NamedTuple):
    """A tag and what it means.

    `unit` is that of the value as written; `to_canonical(value)` is the value on the canonical scale, in
    `metric.unit`. Where the two units have no factor between them (a sum per response against a mean per
    token), `comparable` is false and absolute limits do not apply. `held_out` marks evaluation: such a
    series must not be judged as training, even where `canonical` is an id of training. `part` is what
    the wildcards of the name stood for (a data source, a reward function). `group`, `part`, `held_out`
    and `computed` together gather the statistics of one distribution.
    """

    tag: str
    title: str
    pane: str
    canonical: str | None = None
    metric: Metric | None = None
    group: str = ""
    unit: str = ""
    importance: int = 1_000
    framework: str | None = None  # whose meaning it is; None where no framework's
    guessed: bool = False
    held_out: bool = False
    part: str = ""
    statistic: Statistic = ""
    caveat: str = ""
    scale: float = 1.0
    offset: float = 0.0
    comparable: bool = True
    declared_range: tuple[float, float] | None = None  # as written; the scale of charts only
    computed: bool = False  # rltui made it of samples; the trainer may write the same metric itself

    @property
    def shown_title(self) -> str:
        """The title, and that the values as written have the other sign."""
        return f"{self.title}, negated" if self.scale < 0 else self.title

    @property
    def recognised(self) -> bool:
        """Whether anyone knows what it means."""
        return self.canonical is not None

    @property
    def main(self) -> bool:
        """Whether it is the metric itself, not the extreme or spread of a metric that has no such part."""
        own = self.metric.statistic if self.metric is not None else ""
        return self.statistic == own or (own == "" and self.statistic == "mean")

    def to_canonical(self, value: float) -> float:
        """A value as written, on the canonical scale."""
        return value * self.scale + self.offset

    def as_written(self, value: float | None) -> float | None:
        """A value on the canonical scale, such as a finding's, as the log writes it; None for None."""
        return value if value is None or not self.scale else (value - self.offset) / self.scale
