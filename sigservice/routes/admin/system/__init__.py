"""Events, settings, mail, version check, health."""
