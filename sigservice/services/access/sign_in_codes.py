"""The one-time code that a sign-in with the built-in password needs when it comes from a public
address. The service prints it at its start; its hash is in the database, so that it counts in every
process, and the code that was printed last is the valid one.
"""

from __future__ import annotations

import msgspec

from sigservice import secrets
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.system import settings
from sigservice.services.access.failed_sign_ins import SignInError

_KEY = "sign_in_code"


class CodeError(SignInError):
    name = "OneTimeCodeRequired"


def create_code(conn: Connection) -> str:
    """A new code, which replaces the one before it."""
    code = secrets.generate_code()
    settings.save(conn, _KEY, _stored(code))
    return code


def use_code(conn: Connection, user: Row, code: str) -> None:
    """Raises CodeError for a missing, wrong or used one."""
    if not code.strip():
        raise CodeError(
            "A sign-in with the built-in password from a public address needs the one-time code "
            "that the service printed at its last start.",
            "no one-time code",
            user,
            path="code",
        )
    if not settings.delete(conn, _KEY, _stored(secrets.normalize_code(code))):
        raise CodeError(
            "The one-time code is wrong or was used. A restart of the service prints another one.",
            "wrong one-time code",
            user,
            path="code",
        )


def _stored(code: str) -> str:
    return msgspec.json.encode({"sha256": secrets.sha256(code).hex()}).decode()
