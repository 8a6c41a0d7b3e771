"""Pages that export and import the flags of a project."""
