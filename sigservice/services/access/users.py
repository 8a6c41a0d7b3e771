"""Users: who exists, with which role; passwords; at least one admin stays.

Passwords are hashed outside of any transaction: it takes 20 ms and 19 MiB.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection, Database
from sigservice.db.statements import Row
from sigservice.errors import (
    BadDataError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PasswordMismatch,
    PasswordPreviouslyUsedError,
)
from sigservice.repository.access import (
    former_passwords,
    personal_tokens,
    reset_tokens,
    sessions,
    users,
)
from sigservice.repository.system import mails
from sigservice.secrets import Passwords
from sigservice.services.access import passwords
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

ROLE_IDS = {"admin": 1, "editor": 2, "viewer": 3}
ADMIN_ROLE = 1
MAX_PASSWORD = 1024
FORMER_PASSWORDS = 4  # beside today's
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_USERNAME = re.compile(r"[^\s@]{1,200}")


@dataclass(frozen=True)
class Profile:
    """A user's checked data, without the password."""

    username: str | None
    email: str | None
    name: str | None
    role_id: int


def check_profile(
    *, username: str | None, email: str | None, name: str | None, root_role: str | int
) -> Profile:
    """Raises BadDataError naming each field that is wrong."""
    username, email, name = (text.strip() if text else None for text in (username, email, name))
    problems = Problems()
    if not username and not email:
        problems.add("username", "A user name or an e-mail address is needed.")
    if username and not _USERNAME.fullmatch(username):
        text = "A user name has no blanks and no @ and at most 200 characters."
        problems.add("username", text)
    if email and not (_EMAIL.fullmatch(email) and len(email) <= 320):
        problems.add("email", "This is not an e-mail address.")
    problems.check_text(name, "name", max_length=200)
    role = root_role if isinstance(root_role, int) else ROLE_IDS.get(root_role.strip().lower(), 0)
    if role not in ROLE_IDS.values():
        problems.add("rootRole", "The role is one of Admin, Editor, Viewer.")
    problems.raise_if_any()
    return Profile(username or None, email or None, name or None, role)


def role_to_json(row: Row) -> dict[str, Any]:
    """A role on the wire; those there are reach over all projects."""
    return {"id": row["id"], "type": "root", "name": row["name"], "description": row["description"]}


def parse_login(login: str) -> dict[str, str | None]:
    """What a person signs in with, as the column it belongs to: sign-in tells them apart by @."""
    is_email = "@" in login
    return {"username": None if is_email else login, "email": login if is_email else None}


def create(conn: Connection, who: Profile, password_hash: str | None, by: Identity) -> Row:
    """The new user; raises BadDataError when name or address are taken."""
    try:
        id = users.insert(
            conn,
            username=who.username,
            email=who.email,
            name=who.name,
            role_id=who.role_id,
            password_hash=password_hash,
        )
    except UniqueViolation as error:
        raise make_duplicate_error(error) from error
    row = get(conn, id)
    events.record(conn, "user-created", by, data=to_json(row))
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    row = users.find(conn, id)
    if row is None or row["account_type"] != "user":
        raise NotFoundError("There is no such user.")
    return row


def find(conn: Connection, login: str | int) -> Row:
    """By e-mail address, user name or id. Raises NotFoundError."""
    if isinstance(login, int):
        return get(conn, login if 0 < login < 2**31 else 0)
    row = users.find_by_login(conn, login)
    if row is None:
        raise NotFoundError("There is no such user.")
    return row


def apply_changes(row: Mapping[str, Any], given: Mapping[str, Any]) -> Profile:
    """The profile of `row` with what is `given` of username, email, name and root_role.

    Raises BadDataError.
    """
    kept = {name: row[name] for name in ("username", "email", "name")}
    return check_profile(**{**kept, "root_role": row["role_id"], **given})


def update(conn: Connection, id: int, given: Mapping[str, Any], by: Identity) -> Row:
    """Changes what is `given`. Raises NotFoundError, BadDataError, ConflictError (last admin)."""
    users.lock(conn)
    before = get(conn, id)
    who = apply_changes(before, given)
    if who.role_id != ADMIN_ROLE:
        _keep_an_admin(conn, before)
    try:
        users.update(
            conn, id, username=who.username, email=who.email, name=who.name, role_id=who.role_id
        )
    except UniqueViolation as error:
        raise make_duplicate_error(error) from error
    after = get(conn, id)
    if after["email"] != before["email"]:  # links that were mailed there
        reset_tokens.delete_unused(conn, id)
    events.record(conn, "user-updated", by, data=to_json(after), pre_data=to_json(before))
    return after


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Ends the user's sessions too. Raises NotFoundError, ConflictError (the last admin)."""
    users.lock(conn)
    before = get(conn, id)
    _keep_an_admin(conn, before)
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
    """Ends all sessions of the user except `keep_session`, the links that set a password and,
    unless `revoke_tokens` is false, the user's personal tokens.

    Raises NotFoundError, and PasswordMismatch when `verified_hash` is given and is no longer the
    stored one.
    """
    row = users.lock_user(conn, id)
    if row is None or row["account_type"] != "user":
        raise NotFoundError("There is no such user.")
    if verified_hash is not None and row["password_hash"] != verified_hash:
        raise PasswordMismatch("The password was changed meanwhile.", path="oldPassword")
    # The mail before its link: a mail that is being sent has made its link when it lets go.
    mails.delete_waiting(conn, id)
    reset_tokens.delete_unused(conn, id)
    former_passwords.add_current(conn, id)
    former_passwords.delete_surplus(conn, id, keep=FORMER_PASSWORDS)
    users.update_password(conn, id, password_hash=password_hash, has_default_password=False)
    sessions.delete_of_user(conn, id, keep_session)
    data: dict[str, Any] = {"id": id, "username": row["username"], "password": "changed"}
    if revoke_tokens and (token_ids := personal_tokens.delete_of_user(conn, id)):
        data["revokedPersonalTokens"] = token_ids
    events.record(conn, "user-updated", by, data=data)


def verify_own_password(
    database: Database, hasher: Passwords, who: Identity, password: str, path: str
) -> str:
    """The hash that the user's password has matched. Raises PasswordMismatch, which names `path`,
    UnavailableError; a ForbiddenError for a token, which has no password."""
    if not who.session_hash:
        raise ForbiddenError("A token has no password.")
    with database.autocommit() as conn:
        stored = get(conn, who.user_id)["password_hash"]
    if not hasher.matches(stored, password[:MAX_PASSWORD]):
        what = "old password" if path == "oldPassword" else "password"
        raise PasswordMismatch(f"The {what} is wrong.", path=path)
    return str(stored)


def change_own_password(
    database: Database,
    hasher: Passwords,
    who: Identity,
    old: str,
    new: str,
    *,
    revoke_tokens: bool = False,
) -> None:
    """Ends the user's other sessions. Raises PasswordMismatch, OwaspValidationError,
    UnavailableError; a ForbiddenError for a token, which has no password."""
    with hasher.admit():
        verified_hash = verify_own_password(database, hasher, who, old, "oldPassword")
        passwords.check(new, who.username, who.email)
        check_former_passwords(database, hasher, who.user_id, new)
        password_hash = hasher.hash(new)
    with database.transaction() as conn:
        set_password(
            conn,
            who.user_id,
            password_hash,
            who,
            keep_session=who.session_hash,
            verified_hash=verified_hash,
            revoke_tokens=revoke_tokens,
        )


def check_former_passwords(database: Database, hasher: Passwords, id: int, password: str) -> None:
    """Raises PasswordPreviouslyUsedError for today's password and the ones before it."""
    with database.autocommit() as conn:
        hashes = former_passwords.list_hashes(conn, id)
    if any(hasher.matches(stored, password) for stored in hashes):
        raise PasswordPreviouslyUsedError(
            f"This was one of the last {FORMER_PASSWORDS + 1} passwords; choose another.",
            path="password",
        )


def to_json(row: Row) -> dict[str, Any]:
    """A user on the wire, never with the hash."""
    return {
        "id": row["id"],
        "username": row["username"],
        "email": row["email"],
        "name": row["name"],
        "rootRole": row["role_id"],
        "role": row["role"],
        "imageUrl": "",
        "seenAt": format_iso(row["seen_at"]) if row["seen_at"] else None,
        "loginAttempts": row["login_attempts"],
        "createdAt": format_iso(row["created_at"]),
        "accountType": "User" if row["account_type"] == "user" else "Service Account",
        "isAPI": False,
        "permissions": [],
    }


def _keep_an_admin(conn: Connection, user: Row) -> None:
    if user["role_id"] == ADMIN_ROLE and users.count_other_admins(conn, user["id"]) == 0:
        raise ConflictError("This is the last admin; make somebody else an admin first.")


def make_duplicate_error(error: UniqueViolation) -> BadDataError:
    """What to raise instead: it names the field."""
    path = "email" if error.constraint == "users_email_key" else "username"
    what = "e-mail address" if path == "email" else "user name"
    return BadDataError(f"A user with this {what} exists already.", path=path)
