"""Recordings of real runs, and a writer that replays them live."""
