"""What is known of a run besides its metrics: console, hyperparameters, job, machine, samples, spans."""
