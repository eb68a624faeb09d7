"""Glossary and frameworks together, loaded once, and who wrote a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property

from rltui.common.data_class import dataclass
from rltui.common.problem import Problem
from rltui.metrics.frameworks.framework_schema import Conventions
from rltui.metrics.frameworks.load import Frameworks, frameworks
from rltui.metrics.frameworks.recognise import FrameworkMatch, FrameworkRecogniser, configured_framework
from rltui.metrics.glossary_files import Glossary, glossary
from rltui.schema.metric import Metric


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Everything that ships: what metrics mean and who writes them how."""

    glossary: Glossary
    frameworks: Frameworks

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics by canonical id."""
        return self.glossary.metrics

    @property
    def conventions(self) -> Conventions:
        """What holds across frameworks."""
        return self.frameworks.conventions

    @cached_property
    def pane_titles(self) -> Mapping[str, str]:
        """Titles of the panes by id, in their order."""
        return {pane.id: pane.title for pane in self.glossary.panes}

    @cached_property
    def area_panes(self) -> Mapping[str, str]:
        """First part of canonical ids (`timing`) -> the pane of its first metric."""
        panes: dict[str, str] = {}
        for metric in self.metrics.values():
            panes.setdefault(metric.id.split(".", 1)[0], metric.pane)
        return panes

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the data files, among them names that lead to no metric."""
        lost = [
            Problem(
                "error",
                "framework-data",
                f"{framework.id}.toml",
                f'"{name}" leads to no metric: {entry.canonical}',
            )
            for framework in self.frameworks
            for name, entry in framework.names.items()
            if entry.canonical not in self.metrics
        ]
        return (*self.glossary.problems, *self.frameworks.problems, *lost)


@cache
def catalogue() -> Catalogue:
    """The shipped catalogue, loaded once."""
    return Catalogue(glossary(), frameworks())


def recognise(tags: Iterable[str], override: str | None = None) -> FrameworkMatch:
    """Who wrote a run with these tags; `override` is what the user's configuration says and wins."""
    known = catalogue().frameworks
    if override is not None:
        configured = configured_framework(known, override)
        if configured is not None:
            return configured
    recogniser = FrameworkRecogniser(known)
    recogniser.add(tags)
    return recogniser.result()
