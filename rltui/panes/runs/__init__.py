"""Lists of runs: short names, properties of runs, expressions that select them, columns, groups, tables."""
