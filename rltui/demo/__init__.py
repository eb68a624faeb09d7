"""Recordings of real runs, and a writer that replays them as if they were being written now."""
