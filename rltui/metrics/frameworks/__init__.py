"""How training frameworks name their metrics, from one TOML file per framework."""
