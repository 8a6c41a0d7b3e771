"""The one-time code for a sign-in with the default password from another machine.

The service prints it at its start. Its hash is in the database, so every process accepts it; only
the code that was printed last is valid.
"""

import msgspec

from sigservice.crypto import secrets
from sigservice.db import Connection, Row
from sigservice.repository.system import settings
from sigservice.services.access.failed_sign_ins import SignInError

_KEY = "sign_in_code"


class CodeError(SignInError):
    name = "OneTimeCodeRequired"


def create_code(conn: Connection) -> str:
    """A new code, which replaces the previous one."""
    code = secrets.generate_code()
    settings.save(conn, _KEY, _encode_hash(code))
    return code


def use_code(conn: Connection, user: Row, code: str) -> None:
    """Raises CodeError for a missing, wrong or used code."""
    if not code.strip():
        text = (
            "A sign-in with the default password from another machine requires the one-time code "
            "that the service printed at its last start."
        )
        raise CodeError(text, "no one-time code", user, "code")
    if not settings.delete(conn, _KEY, _encode_hash(secrets.normalize_code(code))):
        text = "The one-time code is wrong or has been used. Restart the service to get a new one."
        raise CodeError(text, "wrong one-time code", user, "code")


def _encode_hash(code: str) -> str:
    return msgspec.json.encode({"sha256": secrets.sha256(code).hex()}).decode()
