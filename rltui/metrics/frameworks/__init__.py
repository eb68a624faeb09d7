"""How each training framework names its metrics: one TOML file per framework, and what reads it."""
