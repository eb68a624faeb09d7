"""What programs print: metrics among other lines of a console."""
