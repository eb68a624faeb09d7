"""Logs of any format inside another encoding."""
