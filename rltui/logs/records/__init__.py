"""Scalars from the records of text logs."""
