"""Numbers with their nouns in messages and pages."""


def plural(count: int, noun: str) -> str:
    """For example `1 flag` or `1,234 flags`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
