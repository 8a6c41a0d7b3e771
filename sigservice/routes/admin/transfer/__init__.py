"""Export, import, moving in from another server."""
