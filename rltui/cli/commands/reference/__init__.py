"""Commands that explain metrics, terms and problems."""
