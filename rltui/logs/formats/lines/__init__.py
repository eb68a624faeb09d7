"""Line-based formats: JSON lines, tables, samples; and reading lines from a growing file."""
