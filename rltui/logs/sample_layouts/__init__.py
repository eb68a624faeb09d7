"""Files of samples: where frameworks write them, and what their records say."""
