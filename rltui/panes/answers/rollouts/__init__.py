"""Which share of the rollouts was of use."""
