"""What any folder may use: types of arrays, problems, safe text, paths, threads, regular expressions."""
