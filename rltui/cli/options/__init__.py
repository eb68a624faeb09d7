"""Arguments and options of several commands, their completion, and what `--shard` and `--engine` do."""
