"""Projects, environments, context fields, tags, types, limits."""
