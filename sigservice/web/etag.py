"""If-None-Match (RFC 9110, 13.1.2) with weak comparison, lists and *."""


def matches(header: str, etag: str) -> bool:
    """Whether the header matches `etag`, which includes its quotes."""
    if header == etag:
        return True
    if not header:
        return False
    plain = etag.removeprefix("W/")
    return any(
        part == "*" or part.removeprefix("W/") == plain
        for part in (text.strip() for text in header.split(","))
    )
