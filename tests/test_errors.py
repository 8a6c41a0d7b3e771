"""copy_error: the error of another caller."""

from __future__ import annotations

import pytest

from sigservice import errors
from sigservice.db.errors import DatabaseError, DatabaseUnavailable, UniqueViolation
from sigservice.errors import copy_error

ERRORS = [
    errors.ExceedsLimitError("m", resource="r", limit=1, path="p", headers={"A": "b"}),
    errors.UnauthorizedError("m", extra={"path": "/x"}),
    DatabaseUnavailable("57014"),
    UniqueViolation("index"),
    DatabaseError("m"),
    OSError(2, "gone"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_copy_is_equal(error: Exception):
    own = copy_error(error)
    assert own is not error
    assert (type(own), str(own), own.args) == (type(error), str(error), error.args)
    assert vars(own) == vars(error)


def test_change_of_a_copy_does_not_change_the_original():
    error = errors.UnavailableError("m", path="p")
    own = copy_error(error)
    assert isinstance(own, errors.AppError)
    own.headers["A"], own.extra["a"] = "b", "b"
    own.details.append({})
    assert "A" not in error.headers
    assert (error.extra, len(error.details)) == ({}, 1)
