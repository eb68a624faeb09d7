"""From records of text logs to scalars."""
