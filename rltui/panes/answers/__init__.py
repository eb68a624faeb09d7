"""What a pane answers before it lists its metrics, as data: shares, ranges, facts, a sentence."""
