"""The large chart."""
