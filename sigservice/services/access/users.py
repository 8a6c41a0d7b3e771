"""Users with their roles and passwords. The last admin can't be removed.

Passwords are hashed outside of transactions, because that takes 20 ms and 19 MiB.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sigservice.clock import format_iso, format_optional
from sigservice.crypto.secrets import Passwords
from sigservice.db import Connection, Database, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import (
    BadDataError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PasswordMismatch,
    PasswordPreviouslyUsedError,
    require_found,
)
from sigservice.repository.access import personal_tokens, reset_tokens, sessions, users
from sigservice.repository.system import mails
from sigservice.services.access import passwords
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

ROLE_IDS = {"admin": 1, "editor": 2, "viewer": 3}
ADMIN_ROLE = 1
MAX_PASSWORD = 1024
FORMER_PASSWORDS = 4  # besides the current one
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_USERNAME = re.compile(r"[^\s@]{1,200}")


@dataclass(frozen=True)
class Profile:
    """The checked fields of a user, without the password."""

    username: str | None
    email: str | None
    name: str | None
    role_id: int


def check_profile(
    *, username: str | None, email: str | None, name: str | None, root_role: str | int
) -> Profile:
    """Raises BadDataError with each invalid field."""
    username, email, name = (text.strip() if text else None for text in (username, email, name))
    problems = Problems()
    if not username and not email:
        problems.add("username", "Username or email is required.")
    if username and not _USERNAME.fullmatch(username):
        message = "The username must have at most 200 characters, without spaces and @."
        problems.add("username", message)
    if email and not (_EMAIL.fullmatch(email) and len(email) <= 320):
        problems.add("email", "Enter a valid email address.")
    problems.check_text(name, "name", max_length=200)
    role = root_role if isinstance(root_role, int) else ROLE_IDS.get(root_role.strip().lower(), 0)
    if role not in ROLE_IDS.values():
        problems.add("rootRole", "The role must be Admin, Editor or Viewer.")
    problems.raise_if_any()
    return Profile(username or None, email or None, name or None, role)


def role_to_json(row: Row) -> dict[str, Any]:
    """The role in the API; every role applies to all projects."""
    return {"id": row["id"], "type": "root", "name": row["name"], "description": row["description"]}


def parse_login(login: str) -> dict[str, str | None]:
    """The login as `username`, or as `email` if it contains @."""
    is_email = "@" in login
    return {"username": None if is_email else login, "email": login if is_email else None}


def is_same_login(stored_login: str | None, login: str | None) -> bool:
    """Ignores the case of ASCII letters only. A database with a locale lower-cases other letters to
    ASCII ones (the Kelvin sign to k), but such an address belongs to someone else."""
    return (stored_login or "").encode().lower() == (login or "").encode().lower()


def create(conn: Connection, profile: Profile, password_hash: str | None, by: Identity) -> Row:
    """The new user; raises BadDataError if the username or the email already exists."""
    with name_duplicate():
        id = users.insert(conn, **asdict(profile), password_hash=password_hash)
    row = get(conn, id)
    events.record(conn, "user-created", by, data=to_json(row))
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    row = users.find(conn, id)
    if row is None or row["account_type"] != "user":
        raise NotFoundError("User not found.")
    return row


def find(conn: Connection, login: str | int) -> Row:
    """Finds a user by email, username or ID. Raises NotFoundError."""
    if isinstance(login, int):
        return get(conn, login if 0 < login < 2**31 else 0)
    return require_found(users.find_by_login(conn, login), "User not found.")


def apply_changes(row: Mapping[str, Any], changes: Mapping[str, Any]) -> Profile:
    """The profile of `row` with `changes`, which may have username, email, name and root_role.

    Raises BadDataError.
    """
    values = {name: row[name] for name in ("username", "email", "name")}
    return check_profile(**{**values, "root_role": row["role_id"], **changes})


def update(conn: Connection, id: int, changes: Mapping[str, Any], by: Identity) -> Row:
    """Raises NotFoundError, BadDataError, ConflictError (the last admin)."""
    users.lock(conn)
    before = get(conn, id)
    profile = apply_changes(before, changes)
    if profile.role_id != ADMIN_ROLE:
        _check_other_admin(conn, before)
    with name_duplicate():
        users.update(conn, id, **asdict(profile))
    after = get(conn, id)
    if after["email"] != before["email"]:  # earlier links were sent to the old address
        reset_tokens.delete_unused(conn, id)
    if after != before:
        events.record(conn, "user-updated", by, data=to_json(after), pre_data=to_json(before))
    return after


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Ends the user's sessions too. Raises NotFoundError, ConflictError (the last admin)."""
    users.lock(conn)
    before = get(conn, id)
    _check_other_admin(conn, before)
    users.delete(conn, id)
    events.record(conn, "user-deleted", by, pre_data=to_json(before))


def set_password(
    conn: Connection,
    id: int,
    password_hash: str,
    by: Identity,
    *,
    keep_session: bytes | None = None,
    verified_hash: str | None = None,
    revoke_tokens: bool = True,
) -> None:
    """Ends the user's sessions except `keep_session`, and deletes the user's reset links and, if
    `revoke_tokens`, personal tokens.

    Raises NotFoundError, and PasswordMismatch if `verified_hash` is no longer stored.
    """
    row = users.lock_user(conn, id)
    if row is None or row["account_type"] != "user":
        raise NotFoundError("User not found.")
    if verified_hash is not None and row["password_hash"] != verified_hash:
        raise PasswordMismatch("The password was changed meanwhile.", path="oldPassword")
    # Emails first: a sender that holds the lock of an email creates its link before it commits.
    mails.delete_waiting(conn, id)
    reset_tokens.delete_unused(conn, id)
    users.add_current_password(conn, id)
    users.delete_surplus_passwords(conn, id, keep=FORMER_PASSWORDS)
    users.update_password(conn, id, password_hash=password_hash)
    sessions.delete_of_user(conn, id, keep_session)
    login = row["username"] or row["email"]
    data: dict[str, Any] = {"id": id, "username": login, "password": "changed"}
    if revoke_tokens and (token_ids := personal_tokens.delete_of_user(conn, id)):
        data["revokedPersonalTokens"] = token_ids
    events.record(conn, "user-updated", by, data=data)


def verify_own_password(
    database: Database, hasher: Passwords, identity: Identity, password: str, path: str
) -> str:
    """Checks the user's password; returns the stored hash. Raises PasswordMismatch with `path`,
    NotFoundError, UnavailableError, and ForbiddenError for a token, which has no password."""
    if not identity.session_hash:
        raise ForbiddenError("A token has no password.")
    with database.autocommit() as conn:
        password_hash = get(conn, identity.user_id)["password_hash"]
    if not hasher.matches(password_hash, password[:MAX_PASSWORD]):
        name = "current password" if path == "oldPassword" else "password"
        raise PasswordMismatch(f"The {name} is wrong.", path=path)
    return str(password_hash)


def change_own_password(
    database: Database,
    hasher: Passwords,
    identity: Identity,
    old: str,
    new: str,
    *,
    revoke_tokens: bool = False,
) -> None:
    """Ends the user's other sessions. Raises OwaspValidationError, PasswordPreviouslyUsedError
    and what `verify_own_password` raises."""
    with hasher.admit():
        verified_hash = verify_own_password(database, hasher, identity, old, "oldPassword")
        passwords.check(new, identity.username, identity.email)
        check_former_passwords(database, hasher, identity.user_id, new)
        password_hash = hasher.hash(new)
    with database.transaction() as conn:
        set_password(
            conn,
            identity.user_id,
            password_hash,
            identity,
            keep_session=identity.session_hash,
            verified_hash=verified_hash,
            revoke_tokens=revoke_tokens,
        )


def check_former_passwords(database: Database, hasher: Passwords, id: int, password: str) -> None:
    """Raises PasswordPreviouslyUsedError for the current password and the ones before it."""
    with database.autocommit() as conn:
        hashes = users.list_password_hashes(conn, id)
    if any(hasher.matches(password_hash, password) for password_hash in hashes):
        raise PasswordPreviouslyUsedError(
            f"The password must not be one of your last {FORMER_PASSWORDS + 1} passwords.",
            path="password",
        )


def to_json(row: Row) -> dict[str, Any]:
    """The user in the API, without the password hash."""
    return {
        "id": row["id"],
        "username": row["username"],
        "email": row["email"],
        "name": row["name"],
        "rootRole": row["role_id"],
        "role": row["role"],
        "imageUrl": "",
        "seenAt": format_optional(row["seen_at"]),
        "loginAttempts": row["sign_in_count"],
        "createdAt": format_iso(row["created_at"]),
        "accountType": "User" if row["account_type"] == "user" else "Service Account",
        "isAPI": False,
        "permissions": [],
    }


def _check_other_admin(conn: Connection, user: Row) -> None:
    if user["role_id"] == ADMIN_ROLE and users.count_other_admins(conn, user["id"]) == 0:
        raise ConflictError("This is the last admin. Give another user the Admin role first.")


@contextmanager
def name_duplicate() -> Iterator[None]:
    """Raises BadDataError with the field instead of UniqueViolation."""
    try:
        yield
    except UniqueViolation as error:
        path = "email" if error.constraint == "users_email_key" else "username"
        raise BadDataError(f"A user with this {path} already exists.", path=path) from error
