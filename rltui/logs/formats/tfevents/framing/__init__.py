"""TFRecord framing: where records begin and end, and their checksums."""
