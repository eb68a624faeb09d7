"""The shipped glossary and frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from rltui.common.problem import Problem
from rltui.metrics.frameworks.framework_files import Frameworks, frameworks
from rltui.metrics.frameworks.framework_schema import Conventions
from rltui.metrics.glossary_files import Glossary, glossary
from rltui.schema.metric import Metric


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The glossary, and how frameworks name its metrics."""

    glossary: Glossary
    frameworks: Frameworks

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics by canonical id."""
        return self.glossary.metrics

    @property
    def conventions(self) -> Conventions:
        """The conventions for all frameworks."""
        return self.frameworks.conventions

    @cached_property
    def area_panes(self) -> Mapping[str, str]:
        """By first part of canonical ids (`timing`), the pane of the first metric with it."""
        panes: dict[str, str] = {}
        for metric in self.metrics.values():
            panes.setdefault(metric.id.split(".", 1)[0], metric.pane)
        return panes

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the data files, including names of unknown metrics."""
        unknown = [
            (framework.id, f'"{name}" leads to no metric: {entry.canonical}')
            for framework in self.frameworks
            for name, entry in framework.names.items()
            if entry.canonical not in self.metrics
        ]
        problems = [Problem("error", "framework-data", f"{id_}.toml", message) for id_, message in unknown]
        return (*self.glossary.problems, *self.frameworks.problems, *problems)


@cache
def catalogue() -> Catalogue:
    """The shipped catalogue."""
    return Catalogue(glossary(), frameworks())
