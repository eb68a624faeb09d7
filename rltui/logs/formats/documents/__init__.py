"""Files that are rewritten completely: JSON documents, arrays of evaluations."""
