"""Client metrics, applications, statistics."""
