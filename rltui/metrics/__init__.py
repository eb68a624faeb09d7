"""What a metric name means: framework data, glossary and the user's own knowledge joined.

`MetricNames(framework, config).name(tag)` never fails: a tag that nobody knows is placed by its own parts.
"""
