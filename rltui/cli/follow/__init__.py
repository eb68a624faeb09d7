"""Commands that go on reading: findings as they fire, and waiting for conditions."""

DEFAULT = ("end", "finding>=critical", "stalled")  # what is waited for where nothing is said
TIMEOUT = 540.0  # seconds: below the ten minutes after which many callers give up
