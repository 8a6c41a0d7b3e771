"""Driver errors translated once: what is above db/ never sees psycopg2.

The driver's text holds rows (DETAIL, but the message and the context too), so it is never a part of
what is raised: neither its text nor its cause. Raise what `translate` returns `from None`.
"""

from __future__ import annotations

import psycopg2

from sigservice.db.queries import Statement
from sigservice.errors import AppError, BadDataError, ConflictError, UnavailableError

# Class 22: data that jsonb or a column can't take. A second net behind the body reader.
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
        super().__init__("It exists already.")
        self.constraint = constraint


class DatabaseError(Exception):
    """A fault of ours in the database layer: a 500. Its text is for the log: the SQLSTATE, the
    names of what is affected and of our statement."""


class DatabaseUnavailable(UnavailableError):
    """The database was not reached, was busy or went away; `sqlstate` goes to the log."""

    def __init__(self, sqlstate: str = "") -> None:
        super().__init__("The database is not available just now. Try again.")
        self.sqlstate = sqlstate

    @property
    def is_timeout(self) -> bool:
        """A statement of ours was cut, so the next try may well fail too."""
        return self.sqlstate == _TIMEOUT


class UnconfirmedCommit(DatabaseUnavailable):
    """The commit was done, but PostgreSQL warned: no standby may have it. The outcome is unknown,
    as when the connection is lost at the commit."""


def translate(error: psycopg2.Error, statement: str = "") -> AppError | DatabaseError:
    """The exception to raise instead of `error`, which the named `statement` met."""
    state = error.pgcode or ""
    if state == _UNIQUE:
        return UniqueViolation(error.diag.constraint_name or "")
    if state in (_FOREIGN_KEY, _CHECK):
        return ConflictError("It depends on something that does not exist or is in use.")
    if state.startswith(_BAD_DATA) or isinstance(error, psycopg2.DataError):
        return BadDataError("A value can't be stored in the database.")
    if state.startswith(_UNAVAILABLE) or state in _RETRY:
        return DatabaseUnavailable(state)
    # A connection that dies in mid-statement is now and then a bare DatabaseError.
    lost = isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError)
    if not state and (lost or type(error) is psycopg2.DatabaseError):
        return DatabaseUnavailable()
    return DatabaseError(_summary(error, statement))


def _summary(error: psycopg2.Error, statement: str) -> str:
    """No value: class, SQLSTATE, names."""
    parts = [type(error).__name__, error.pgcode or ""]
    for kind in ("constraint", "table", "column"):
        name = getattr(error.diag, f"{kind}_name")
        parts.append(f"{kind} {name}" if name else "")
    if isinstance(statement, Statement):
        parts.append(f"in {statement.store}.{statement.action}")
    return " ".join(filter(None, parts))
