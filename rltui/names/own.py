"""What the user's configuration says of names: aliases, own metrics, panes, titles, ranges."""

from __future__ import annotations

from rltui.config import Config
from rltui.frameworks.model import Resolved
from rltui.glossary.model import Metric
from rltui.names.catalogue import Catalogue
from rltui.scalars import Problem


class Own:
    """The user's own knowledge, ready for look-ups."""

    def __init__(self, config: Config, shipped: Catalogue) -> None:
        self._metrics = shipped.metrics
        self.problems: tuple[Problem, ...] = ()
        self.pane_titles: dict[str, str] = {}
        self.panes: dict[str, str] = {}
        self.titles: dict[str, str] = {}

    def find(self, tag: str) -> Resolved | None:
        """What the user says a tag means."""
        return None

    def metric(self, canonical: str) -> Metric | None:
        """A metric of the glossary or of the user's making."""
        return self._metrics.get(canonical)

    def range_of(self, tag: str, canonical: str | None) -> tuple[float, float] | None:
        """The declared range of a tag, as written."""
        return None
