"""Commands that judge runs: now, in shards, until something holds."""
