"""Which points a restart superseded: the attempts of a run, and how a restart is noticed."""
