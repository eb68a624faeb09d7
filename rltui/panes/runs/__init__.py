"""Runs side by side: short names, what is known of each, filters, columns, groups, tables of them."""
