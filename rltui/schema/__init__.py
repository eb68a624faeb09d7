"""The one schema layer: fields of TOML files, what reads and checks them, what is kept of them."""
