"""Documents about runs for programs, and the same for people: check, compare, runs."""
