"""The drawing core: numpy arrays in, lines of cells out. No widget toolkit, no colours, no files."""
