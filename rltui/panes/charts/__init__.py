"""What a chart of one metric is made of, before it is drawn."""
