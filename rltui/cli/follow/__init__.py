"""Following logs for commands: printing findings, and waiting for conditions."""

DEFAULT = ("end", "finding>=critical", "stalled")  # conditions without `--until`
TIMEOUT = 540.0  # seconds; many callers have a timeout of ten minutes
