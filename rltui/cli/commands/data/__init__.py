"""Commands that read runs: as lists, reports, comparisons, points and samples."""
