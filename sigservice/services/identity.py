"""The authenticated user or token: guards pass it to handlers, events name it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

ADMIN = "ADMIN"
EDIT = "EDIT"
VIEW = "VIEW"

PERMISSIONS = {
    "Admin": frozenset({ADMIN, EDIT, VIEW}),
    "Editor": frozenset({EDIT, VIEW}),
    "Viewer": frozenset({VIEW}),
}

# The environment of tokens and requests that name none.
DEFAULT_ENVIRONMENT = "default"

# Pseudo users, with the IDs that Unleash uses.
ADMIN_TOKEN_ID = -42
SYSTEM_ID = -1337
UNKNOWN_ID = -1


@dataclass
class Cause:
    """The event of a run or of a release that causes a change: its ID and the types that it can
    have. `event_id` is None if the same batch records the event, and, with several types, while the
    run may continue in another transaction. `parent` is the run that causes the event of a
    release."""

    event_id: int | None
    types: tuple[str, ...]
    parent: "Cause | None" = None


@dataclass(frozen=True)
class Identity:
    """`session_hash` and `csrf` are set for a user with a session, empty for a token.

    `is_from_provider` is true if the provider opened the session, and `confirmed_at` is when the
    session was opened or confirmed there. `default_password_works` is true while any user still
    has the default password. `action_run`, {id, actionSetId, actionSet}, is set during the run of
    an action set. `reason` is the user's answer to "Why?", which the events of the change contain;
    `apply`, {source, revision}, is set during an apply of files.
    """

    user_id: int
    username: str
    permissions: frozenset[str]
    role: str = ""
    ip: str = ""
    email: str | None = None
    name: str | None = None
    has_default_password: bool = False
    default_password_works: bool = False
    session_hash: bytes = b""
    csrf: str = ""
    has_password: bool = False
    is_from_provider: bool = False
    confirmed_at: datetime | None = None
    action_run: Mapping[str, Any] | None = None
    cause: Cause | None = None
    reason: str = ""
    apply: Mapping[str, Any] | None = None

    def has_permission(self, permission: str) -> bool:
        return permission in self.permissions


def make_identity(user: Mapping[str, Any], *, ip: str) -> Identity:
    """The identity of a row of users."""
    return Identity(
        user_id=user["id"],
        username=user["username"] or user["email"],
        permissions=PERMISSIONS[user["role"]],
        role=user["role"],
        ip=ip,
        email=user["email"],
        name=user["name"],
    )


SYSTEM = Identity(SYSTEM_ID, "system", PERMISSIONS["Admin"])
UNKNOWN = Identity(UNKNOWN_ID, "unknown", PERMISSIONS["Admin"], role="Admin")


def name_actor(name: str | None, user_id: int | None) -> str:
    """The actor of a change, for sentences: an API token may have the name of a user."""
    return f"API token {name or ''}".strip() if user_id == ADMIN_TOKEN_ID else name or ""
