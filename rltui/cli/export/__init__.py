"""The parts of the export command."""
