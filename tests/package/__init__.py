"""Tests of the package as a whole and of its base modules."""
