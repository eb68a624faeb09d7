"""From log files to batches of points: formats, discovery, following."""
