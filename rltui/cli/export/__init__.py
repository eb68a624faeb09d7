"""Exporting points, findings and other records."""
