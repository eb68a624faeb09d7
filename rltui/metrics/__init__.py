"""Resolving tags to metrics, from the user's configuration, the frameworks and the glossary.

`MetricNames(framework, config).name(tag)` never fails: an unknown tag is placed by the parts of its name.
"""
