"""The bytes that all records of a tag share: records of a known template are read by comparison."""
