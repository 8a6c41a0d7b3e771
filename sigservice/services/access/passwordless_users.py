"""Users that sign in without a password: by email address alone, or through a custom handler."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError
from sigservice.repository.access import users as user_rows
from sigservice.services.access import users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import SYSTEM

_ADMINS = "Admins can't sign in here unless AUTH_DEMO_ALLOW_ADMIN_LOGIN is true."
FIELDS = ("username", "email", "name", "rootRole")


def find_demo_user(conn: Connection, login: str, *, allow_admin: bool, ip: str) -> Row:
    """The user of an email address, of `admin` or of an admin's username. Creates an Editor for
    an unknown address.

    Raises BadDataError, also for an admin unless `allow_admin`.
    """
    login = login.strip()
    user: Row | None = None
    if "@" in login:
        try:
            profile = _check_profile({"email": login, "rootRole": "Editor"})
        except BadDataError as error:
            raise _make_login_error(error.message) from error
        user = _find_or_create(conn, profile, ip)
    elif allow_admin and login.lower() == "admin":
        user = user_rows.find_oldest_admin(conn)
    elif allow_admin and len(login) <= MAX_LOGIN:
        user = user_rows.find_by_login(conn, login)
    is_admin = user is not None and user["role_id"] == users.ADMIN_ROLE
    if login.lower() == "admin" and not is_admin:
        raise _make_login_error("There is no admin." if allow_admin else _ADMINS)
    if is_admin and not allow_admin:
        raise _make_login_error(_ADMINS)
    if user is None or not ("@" in login or is_admin):
        raise _make_login_error("Enter a valid email address.")
    return user


def find_custom_user(conn: Connection, data: Mapping[str, Any], *, ip: str) -> Row:
    """The user that a custom handler returned. Looks up the email address, else the username. If
    there is none, creates a user with the given role, by default Viewer.

    A given role replaces the stored one on each call, except for the last admin. Raises
    BadDataError.
    """
    if not isinstance(data, Mapping):
        raise BadDataError("A user must be a dict.")
    for field, value in data.items():
        is_role = field == "rootRole" and type(value) is int
        is_text = isinstance(value, str) and value.isprintable()
        if field not in FIELDS or not (value is None or is_text or is_role):
            message = f"A user must have text fields out of {', '.join(FIELDS)}."
            raise BadDataError(message, path=str(field))
    profile = _check_profile(data)
    user = _find_or_create(conn, profile, ip)
    login = profile.email or profile.username
    if not users.is_same_login(user["email" if profile.email else "username"], login):
        raise BadDataError("A user with a similar-looking name already exists.")
    if not data.get("rootRole") or user["role_id"] == profile.role_id:
        return user
    try:
        changes = {"root_role": profile.role_id}
        return users.update(conn, user["id"], changes, replace(SYSTEM, ip=ip))
    except ConflictError:
        return user


def _check_profile(data: Mapping[str, Any]) -> users.Profile:
    values = {field: data.get(field) for field in ("username", "email", "name")}
    return users.check_profile(**values, root_role=data.get("rootRole") or "Viewer")


def _find_or_create(conn: Connection, profile: users.Profile, ip: str) -> Row:
    """Creates under the lock of all users, so that two simultaneous sign-ins create one user."""
    login = profile.email or profile.username or ""
    user = user_rows.find_by_login(conn, login)
    if user is None:
        user_rows.lock(conn)
        user = user_rows.find_by_login(conn, login)
    return user or users.create(conn, profile, None, replace(SYSTEM, ip=ip))


def _make_login_error(message: str) -> BadDataError:
    return BadDataError(message, path="email", extra={"error": message})
