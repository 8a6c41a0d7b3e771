"""Export, import, snapshots, import from another server."""
