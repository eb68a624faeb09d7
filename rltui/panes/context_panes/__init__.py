"""Panes that are no list of metrics: consoles, hyperparameters, samples, GPUs and hosts."""
