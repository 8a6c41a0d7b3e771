"""Patterns for LIKE and ILIKE."""


def make_pattern(text: str) -> str | None:
    """The pattern that matches `text` anywhere, None for an empty text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%" if text else None
