"""Files that experiment trackers write: Weights & Biases, SwanLab."""
