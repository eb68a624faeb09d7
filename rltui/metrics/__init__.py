"""What a metric name means: framework data, glossary and the user's own knowledge joined.

`Names(framework, config).name(tag)` never fails: a tag that nobody knows is placed by its own parts.
"""

from __future__ import annotations

from rltui.metrics.catalogue import Catalogue, catalogue, recognise
from rltui.metrics.config_snippet import snippet
from rltui.metrics.explain_key import Explanation, explain, nearest
from rltui.metrics.frameworks.recognise import UNKNOWN, Recogniser, Recognition
from rltui.metrics.metric_name import Name
from rltui.metrics.resolve import Names

__all__ = [
    "UNKNOWN",
    "Catalogue",
    "Explanation",
    "Name",
    "Names",
    "Recogniser",
    "Recognition",
    "catalogue",
    "explain",
    "nearest",
    "recognise",
    "snippet",
]
