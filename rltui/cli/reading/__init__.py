"""Reading the runs that commands are about: configuration, logs, verdicts, jobs, samples."""
