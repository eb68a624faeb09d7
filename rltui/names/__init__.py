"""What a metric name means: framework data, glossary and the user's own knowledge joined.

`Names(framework, config).name(tag)` never fails: a tag that nobody knows is placed by its own parts.
"""

from __future__ import annotations

from rltui.frameworks.recognise import UNKNOWN, Recogniser, Recognition
from rltui.names.catalogue import Catalogue, catalogue, recognise
from rltui.names.explain import Explanation, explain, nearest
from rltui.names.name import Name
from rltui.names.resolve import Names
from rltui.names.snippet import snippet

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
