"""Lists over the panes: help, explanation of a metric, runs, palette, a hyperparameter in full."""
