"""Personal tokens: access to the admin API for users and service accounts without a session.

A token has the current role of its owner. Callers check that the user may access the owner's
tokens."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sigservice.clock import format_iso, format_optional, parse_iso
from sigservice.crypto import secrets
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import NameExistsError, NotFoundError, PasswordMismatch
from sigservice.repository.access import personal_tokens, users
from sigservice.services.identity import Identity, make_identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events
from sigservice.wording import plural

MAX_TOKENS = 10
PREFIX = "user:"
# No API token has this form, not even one for a project named user, which contains a dot.
_SECRET = re.compile(rf"{PREFIX}[0-9a-f]{{56}}")


@dataclass(frozen=True)
class PersonalTokenFields:
    description: str
    expires_at: datetime


def check_fields(
    description: str, expires_at: str, *, now: datetime, max_days: int | None = None
) -> PersonalTokenFields:
    """Raises BadDataError with each invalid field."""
    description = description.strip()
    problems = Problems().check_text(description, "description", min_length=1, max_length=255)
    expiry = parse_iso(expires_at) or now
    if expiry <= now:
        message = "expiresAt must be a date in the future, such as 2030-12-31T23:59:59Z."
        problems.add("expiresAt", message)
    elif max_days is not None and expiry - now > timedelta(days=max_days):
        latest = format_iso(now + timedelta(days=max_days))
        message = f"expiresAt must be within {plural(max_days, 'day')}: {latest} or earlier."
        problems.add("expiresAt", message)
    problems.raise_if_any()
    return PersonalTokenFields(description, expiry)


def is_personal_token(secret: str) -> bool:
    """Whether the secret has the form of a personal token."""
    return _SECRET.fullmatch(secret) is not None


def find_identity(
    conn: Connection, secret: str, *, now: datetime, ip: str, authentication_scope: str = ""
) -> tuple[Identity | None, int]:
    """The token's owner, None if the token is unknown in this authentication scope or has expired;
    and the token's ID."""
    user = personal_tokens.find_owner(
        conn, secrets.hash_in_scope(secret, authentication_scope), now
    )
    if user is None:
        return None, 0
    return make_identity(user, ip=ip), user["token_id"]


def create(
    conn: Connection,
    owner_id: int,
    new: PersonalTokenFields,
    by: Identity,
    *,
    authentication_scope: str = "",
    verified_hash: str | None = None,
) -> tuple[Row, str]:
    """The token and its secret, which isn't stored. The token is valid in one authentication scope,
    so a user who signed in by email address alone loses it when passwords are required.

    Raises NotFoundError, ExceedsLimitError, NameExistsError, and PasswordMismatch if
    `verified_hash` is no longer the owner's password hash.
    """
    owner = users.lock_user(conn, owner_id)  # keeps concurrent requests within the limit
    if owner is None:
        raise NotFoundError("User not found.")
    if verified_hash is not None and owner["password_hash"] != verified_hash:
        raise PasswordMismatch("The password was changed meanwhile.", path="password")
    secret = PREFIX + secrets.generate_hex_secret()
    try:
        row = personal_tokens.insert(
            conn,
            user_id=owner_id,
            description=new.description,
            secret_hash=secrets.hash_in_scope(secret, authentication_scope),
            secret_prefix=secret[: len(PREFIX) + 4],
            expires_at=new.expires_at,
            limit=MAX_TOKENS,
        )
    except UniqueViolation as error:
        raise NameExistsError(
            "A token with this description already exists.", path="description"
        ) from error
    if row is None:
        raise build_limit_error(MAX_TOKENS, "personal token", "personalTokens")
    events.record(conn, "pat-created", by, data=to_json(row))
    return row, secret


def get(conn: Connection, owner_id: int, id: int) -> Row:
    """Raises NotFoundError, also for the token of another owner."""
    for row in personal_tokens.list_of_users(conn, [owner_id]):
        if row["id"] == id:
            return row
    raise NotFoundError("Token not found.")


def delete(conn: Connection, owner_id: int, id: int, by: Identity) -> None:
    """Raises NotFoundError."""
    before = get(conn, owner_id, id)
    if personal_tokens.delete(conn, owner_id, id):
        events.record(conn, "pat-deleted", by, pre_data=to_json(before))


def to_json(row: Row) -> dict[str, Any]:
    """The token in the API; `secretPrefix` is the beginning of the secret."""
    return {
        "id": row["id"],
        "userId": row["user_id"],
        "description": row["description"],
        "secretPrefix": row["secret_prefix"],
        "createdAt": format_iso(row["created_at"]),
        "expiresAt": format_iso(row["expires_at"]),
        "seenAt": format_optional(row["seen_at"]),
    }
