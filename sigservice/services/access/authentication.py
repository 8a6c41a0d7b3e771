"""The authentication type in force, and people whom something else than a password vouches for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sigservice.config.authentication_types import TYPES, AuthenticationType
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ConflictError
from sigservice.repository.access import users as repository
from sigservice.services.access import users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import SYSTEM, Identity

_ADMINS = "Admins can't sign in here unless AUTH_DEMO_ALLOW_ADMIN_LOGIN is true."
FIELDS = ("username", "email", "name", "rootRole")
Identify = Callable[[dict[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Custom:
    """What a customAuthHandler may return.

    `identify(environ)` names who asks, or None. `path` is a route of the handler's own, below the
    base path, where signing in begins; the sign-in page leads there by a link named `label`.
    """

    identify: Identify | None = None
    path: str = ""
    label: str = ""


class Authentication:
    """`custom` is what the handler returned; None until it was called, or without one."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self.type: AuthenticationType = TYPES[block["type"]]
        self.custom: Custom | None = None

    @property
    def lacks_handler(self) -> bool:
        return self.type.name == "custom" and self.custom is None

    @property
    def realm(self) -> str:
        """What sessions are bound to; "" for passwords, whose sessions are older than realms."""
        return "" if self.type.has_passwords else self.type.name

    @property
    def token_realm(self) -> str:
        """What personal tokens are bound to: "" for those of people whom something vouches for."""
        return self.type.name if self.type.takes_email else ""


def find_demo_user(conn: Connection, login: str, *, allow_admin: bool, ip: str) -> Row:
    """Who signs in by typing an address, `admin` or an admin's user name. Makes Editors of
    unknown addresses.

    Raises BadDataError, also for an admin's address unless admins are allowed.
    """
    login = login.strip()
    user: Row | None = None
    if "@" in login:
        try:
            who = _profile({"email": login, "rootRole": "Editor"})
        except BadDataError as error:
            raise _refused(error.message) from error
        user = _found_or_made(conn, who, ip)
    elif allow_admin and login.lower() == "admin":
        user = repository.find_oldest_admin(conn)
    elif allow_admin and len(login) <= MAX_LOGIN:
        user = repository.find_by_login(conn, login)
    is_admin = user is not None and user["role_id"] == users.ADMIN_ROLE
    if login.lower() == "admin" and not is_admin:
        raise _refused("There is no admin." if allow_admin else _ADMINS)
    if is_admin and not allow_admin:
        raise _refused(_ADMINS)
    if user is None or not ("@" in login or is_admin):
        raise _refused("This is not an e-mail address.")
    return user


def find_custom_user(conn: Connection, given: Mapping[str, Any], *, ip: str) -> Row:
    """The user whom a custom handler names, made when new: as a Viewer unless a role is named.

    Known by the address, else by the user name. A named role counts each time, but the last admin
    stays one. Raises BadDataError.
    """
    if not isinstance(given, Mapping):
        raise BadDataError("A user is a dict.")
    for field, value in given.items():
        is_role = field == "rootRole" and type(value) is int
        is_text = isinstance(value, str) and value.isprintable()
        if field not in FIELDS or not (value is None or is_text or is_role):
            raise BadDataError(f"A user has {', '.join(FIELDS)}, which are text.", path=str(field))
    who = _profile(given)
    user = _found_or_made(conn, who, ip)
    if not _is_same(user["email" if who.email else "username"], who.email or who.username):
        raise BadDataError("Another user has this name, but for letters that look alike.")
    if not given.get("rootRole") or user["role_id"] == who.role_id:
        return user
    try:
        return users.update(conn, user["id"], {"root_role": who.role_id}, _by(ip))
    except ConflictError:
        return user


def _profile(given: Mapping[str, Any]) -> users.Profile:
    role = given.get("rootRole") or "Viewer"
    who = {field: given.get(field) for field in ("username", "email", "name")}
    return users.check_profile(**who, root_role=role)


def _found_or_made(conn: Connection, who: users.Profile, ip: str) -> Row:
    """Made under the lock of all users, so that two sign-ins at once make one."""
    login = who.email or who.username or ""
    user = repository.find_by_login(conn, login)
    if user is None:
        repository.lock(conn)
        user = repository.find_by_login(conn, login) or users.create(conn, who, None, _by(ip))
    return user


def _is_same(stored: str | None, named: str | None) -> bool:
    """But for the case of ASCII letters: a database with a locale lower-cases others to these (the
    Kelvin sign to k), and such an address is not its owner's."""
    return (stored or "").encode().lower() == (named or "").encode().lower()


def _by(ip: str) -> Identity:
    return replace(SYSTEM, ip=ip)


def _refused(text: str) -> BadDataError:
    return BadDataError(text, path="email", extra={"error": text})
