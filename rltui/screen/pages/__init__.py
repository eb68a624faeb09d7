"""What is drawn: pages as lines of cells."""
