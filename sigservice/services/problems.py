"""Collects the problems of an input, so that one answer reports all of them."""

import re
from collections.abc import Sequence
from typing import Any, Self

from sigservice.errors import BadDataError, ExceedsLimitError, NameExistsError
from sigservice.wording import plural

MAX_PROBLEMS = 100
_NAME = re.compile(r"[A-Za-z0-9._~-]+")


class Problems:
    """Collects problems while checks run; `raise_if_any` raises BadDataError with all of them.

    A body can have thousands of problems; the first hundred are reported.
    """

    def __init__(self) -> None:
        self._details: list[dict[str, Any]] = []

    @property
    def details(self) -> list[dict[str, Any]]:
        """{message, path} of each problem so far."""
        return list(self._details)

    def add(self, path: str, message: str) -> None:
        if len(self._details) < MAX_PROBLEMS:
            self._details.append({"message": message, "path": path.lstrip(".")})

    def check_name(
        self, value: str, path: str = "name", *, min_length: int = 1, max_length: int = 100
    ) -> Self:
        """Checks a name that appears in URLs without quoting."""
        if not value:
            self.add(path, f"The {_label(path)} is required.")
        elif value in (".", ".."):
            self.add(path, f"The {_label(path)} can't be {value}")
        elif not (min_length <= len(value) <= max_length and _NAME.fullmatch(value)):
            size = f"{min_length} to {max_length}"
            self.add(path, f"The {_label(path)} must have {size} letters, digits or - . _ ~")
        return self

    def check_text(
        self, value: str | None, path: str, *, min_length: int = 0, max_length: int
    ) -> Self:
        if value is not None and not min_length <= len(value) <= max_length:
            size = f"{min_length} to {max_length}" if min_length else f"at most {max_length}"
            self.add(path, f"The {_label(path)} must have {size} characters.")
        return self

    def check_choice(self, value: str, path: str, choices: Sequence[str]) -> Self:
        if value not in choices:
            self.add(path, f"The {_label(path)} must be one of {', '.join(choices)}.")
        return self

    def raise_if_any(self) -> None:
        if self._details:
            raise BadDataError(self._details[0]["message"], details=self._details)


def build_duplicate_error(value: str, path: str = "name") -> NameExistsError:
    return NameExistsError(f"The {path} {value} already exists.", path=path)


def build_limit_error(limit: int, noun: str, resource: str, place: str = "") -> ExceedsLimitError:
    """The error for one more `noun` than the limit allows; `place` is, for example, " in a
    project"."""
    text = f"There can't be more than {plural(limit, noun)}{place}."
    return ExceedsLimitError(text, resource=resource, limit=limit)


def _label(path: str) -> str:
    return path.rpartition(".")[2]
