"""What every canonical metric means: `glossary()`."""

from __future__ import annotations

from rltui.metrics.glossary.load import glossary, load, metric_row
from rltui.metrics.glossary.model import Glossary, Metric, Pane

__all__ = ["Glossary", "Metric", "Pane", "glossary", "load", "metric_row"]
