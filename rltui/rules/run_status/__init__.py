"""The status of a run apart from its metrics: liveness, problems of its data and files, planned steps."""
