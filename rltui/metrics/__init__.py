"""What a metric name means: framework data, glossary and the user's own knowledge joined.

`Names(framework, config).name(tag)` never fails: a tag that nobody knows is placed by its own parts.
"""

from __future__ import annotations

from rltui.metrics.catalogue import Catalogue, catalogue, recognise
from rltui.metrics.frameworks.recognise import UNKNOWN, FrameworkMatch, FrameworkRecogniser
from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames

__all__ = [
    "UNKNOWN",
    "Catalogue",
    "FrameworkMatch",
    "FrameworkRecogniser",
    "MetricName",
    "MetricNames",
    "catalogue",
    "recognise",
]
