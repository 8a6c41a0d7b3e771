"""The relay: serves the flags of an upstream without a database (docs/relay.md)."""
