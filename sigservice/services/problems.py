"""What is wrong with a body, gathered so that a person is told everything at once."""

from __future__ import annotations

from typing import Any

from sigservice.errors import BadDataError

MOST_PROBLEMS = 100


class Problems:
    """`add` while checking, `end` when done: raises BadDataError if there was anything. Of the
    thousands that a body can have the first hundred are told."""

    def __init__(self) -> None:
        self._found: list[dict[str, Any]] = []

    @property
    def found(self) -> list[dict[str, Any]]:
        """{message, path} of each so far."""
        return list(self._found)

    def add(self, path: str, message: str) -> None:
        if len(self._found) < MOST_PROBLEMS:
            self._found.append({"message": message, "path": path.lstrip(".")})

    def extend(self, found: list[dict[str, str]]) -> None:
        """What services/checks.py found."""
        self._found += found

    def end(self) -> None:
        if self._found:
            raise BadDataError(self._found[0]["message"], details=self._found)
