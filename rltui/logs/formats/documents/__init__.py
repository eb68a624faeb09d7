"""Files that are written anew as a whole: JSON documents, arrays of evaluations."""
