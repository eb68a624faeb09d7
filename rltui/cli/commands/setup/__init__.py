"""Commands about rltui itself: its configuration, alerts, machine, shell, keys and the server for agents."""
