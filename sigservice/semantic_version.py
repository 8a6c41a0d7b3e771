"""The one parser of semantic versions (semver.org 2.0.0)."""

import re
from typing import NamedTuple

MAX_LENGTH = 200
_NUMBER = r"(0|[1-9]\d{0,18})"
_IDENTIFIER = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


class SemanticVersion(NamedTuple):
    """Compares as section 11 says: a release is higher than its pre-releases."""

    major: int
    minor: int
    patch: int
    is_release: bool = True
    pre_release: tuple[tuple[int, int, str], ...] = ()


def parse_version(text: str) -> SemanticVersion | None:
    match = _VERSION.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    parts = match[4].split(".") if match[4] else []
    ranks = tuple((0, int(p), "") if p.isdigit() and len(p) < 19 else (1, 0, p) for p in parts)
    return SemanticVersion(int(match[1]), int(match[2]), int(match[3]), not parts, ranks)
