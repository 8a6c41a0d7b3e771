"""What is wrong with what people write, gathered so that they are told everything at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

from sigservice.errors import BadDataError, NameExistsError

MOST_PROBLEMS = 100
_NAME = re.compile(r"[A-Za-z0-9._~-]+")


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

    def name(
        self, value: str, path: str = "name", *, shortest: int = 1, longest: int = 100
    ) -> Self:
        """A name that stands in addresses as it is."""
        if not value:
            self.add(path, f"The {_what(path)} is needed.")
        elif (
            not shortest <= len(value) <= longest
            or not _NAME.fullmatch(value)
            or value in (".", "..")
        ):
            allowed = f"{shortest} to {longest} letters, digits, - . _ ~ and is not . or .."
            self.add(path, f"The {_what(path)} has {allowed}")
        return self

    def text(self, value: str | None, path: str, *, shortest: int = 0, longest: int) -> Self:
        if value is not None and not shortest <= len(value) <= longest:
            size = f"{shortest} to {longest}" if shortest else f"at most {longest}"
            self.add(path, f"The {_what(path)} has {size} characters.")
        return self

    def one_of(self, value: str, path: str, allowed: Sequence[str]) -> Self:
        if value not in allowed:
            self.add(path, f"The {_what(path)} is one of {', '.join(allowed)}.")
        return self

    def end(self) -> None:
        if self._found:
            raise BadDataError(self._found[0]["message"], details=self._found)


def taken(value: str, path: str = "name") -> NameExistsError:
    return NameExistsError(f"The {path} {value} is taken.", path=path)


def _what(path: str) -> str:
    return path.rpartition(".")[2]
