"""Translates errors of psycopg2 into errors of the service.

The text of a driver error contains data (in DETAIL, message and context), so the translated error
has neither its text nor its cause: raise the result of `translate` with `from None`.
"""

import psycopg2

from sigservice.db.queries import Statement
from sigservice.errors import AppError, BadDataError, ConflictError, UnavailableError

# Class 22: data that jsonb or a column can't store, if the check of the body missed it.
_BAD_DATA = "22"
_UNIQUE, _FOREIGN_KEY, _CHECK = "23505", "23503", "23514"
_TIMEOUT = "57014"
_RETRY = {"40001", "40P01"}
# 53 no resources, 55P03 lock timeout, 57014 statement timeout, 57P shutdown, 08 connection,
# 25006 read-only (a standby), 58 system error such as a failing disk.
_UNAVAILABLE = ("53", "55P03", "57014", "57P", "08", "25006", "58")


class UniqueViolation(ConflictError):
    """`constraint` names the index; services turn it into a NameExistsError."""

    def __init__(self, constraint: str) -> None:
        super().__init__("It already exists.")
        self.constraint = constraint


class DatabaseError(Exception):
    """A bug, answered with 500. Its text is for the log: SQLSTATE, names of the affected table and
    constraint, and the name of the statement."""


class DatabaseUnavailable(UnavailableError):
    """The database is unreachable or busy, or the connection broke; `sqlstate` is for the log."""

    def __init__(self, sqlstate: str = "") -> None:
        super().__init__("The database is not available. Try again.")
        self.sqlstate = sqlstate

    @property
    def is_timeout(self) -> bool:
        """Whether a statement exceeded its timeout; a retry may fail too."""
        return self.sqlstate == _TIMEOUT


class UnconfirmedCommit(DatabaseUnavailable):
    """The commit succeeded, but PostgreSQL warned that no standby may have it. The outcome is
    unknown, as after a connection loss during a commit."""


def translate(error: psycopg2.Error, statement: str = "") -> AppError | DatabaseError:
    """The exception to raise instead of `error` of the named `statement`."""
    state = error.pgcode or ""
    if state == _UNIQUE:
        return UniqueViolation(error.diag.constraint_name or "")
    if state in (_FOREIGN_KEY, _CHECK):
        return ConflictError("It refers to something that doesn't exist, or is in use.")
    if state.startswith(_BAD_DATA) or isinstance(error, psycopg2.DataError):
        return BadDataError("A value can't be stored in the database.")
    if state.startswith(_UNAVAILABLE) or state in _RETRY:
        return DatabaseUnavailable(state)
    # A connection loss during a statement can be a plain DatabaseError.
    lost = isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError)
    if not state and (lost or type(error) is psycopg2.DatabaseError):
        return DatabaseUnavailable()
    return DatabaseError(_summary(error, statement))


def _summary(error: psycopg2.Error, statement: str) -> str:
    """Class, SQLSTATE and names, without values."""
    parts = [type(error).__name__, error.pgcode or ""]
    for kind in ("constraint", "table", "column"):
        name = getattr(error.diag, f"{kind}_name")
        parts.append(f"{kind} {name}" if name else "")
    if isinstance(statement, Statement):
        parts.append(f"in {statement.store}.{statement.action}")
    return " ".join(filter(None, parts))
