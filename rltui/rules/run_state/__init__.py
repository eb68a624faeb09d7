"""What is judged of a run apart from its metrics: liveness, data quality, progress."""
