"""TFRecord framing: records, checksums, damage."""
