"""Threads for what may block: consoles, files of hyperparameters and of samples."""
