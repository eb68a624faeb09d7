"""Charts of one metric as data: curves, spreads, limits, axes."""
