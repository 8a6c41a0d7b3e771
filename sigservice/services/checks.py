"""What many columns check of what people write; each check tells its problems, `refuse` raises."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sigservice.errors import BadDataError, NameExistsError

Problems = list[dict[str, str]]
_NAME = re.compile(r"[A-Za-z0-9._~-]+")


def problem(path: str, message: str) -> Problems:
    return [{"path": path, "message": message}]


def name(value: str, path: str = "name", *, shortest: int = 1, longest: int = 100) -> Problems:
    """A name that stands in addresses as it is."""
    if not value:
        return problem(path, f"A {path} is needed.")
    if not (shortest <= len(value) <= longest and _NAME.fullmatch(value)) or value in (".", ".."):
        return problem(
            path,
            f"A {path} has {shortest} to {longest} letters, digits, - . _ ~ and is not . or ..",
        )
    return []


def text(value: str | None, path: str, *, longest: int) -> Problems:
    if value and len(value) > longest:
        return problem(path, f"The {path} has at most {longest} characters.")
    return []


def one_of(value: str, path: str, allowed: Sequence[str]) -> Problems:
    return [] if value in allowed else problem(path, f"The {path} is one of {', '.join(allowed)}.")


def refuse(problems: Problems) -> None:
    """Raises BadDataError with all of them, if there are any."""
    if problems:
        raise BadDataError(problems[0]["message"], details=problems)


def taken(value: str, path: str = "name") -> NameExistsError:
    message = f"The {path} {value} is taken."
    return NameExistsError(message, details=problem(path, message))
