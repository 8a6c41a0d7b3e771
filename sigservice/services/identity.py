"""The authenticated user or token: guards pass it to handlers, audit events name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ADMIN = "ADMIN"
EDIT = "EDIT"
VIEW = "VIEW"

PERMISSIONS = {
    "Admin": frozenset({ADMIN, EDIT, VIEW}),
    "Editor": frozenset({EDIT, VIEW}),
    "Viewer": frozenset({VIEW}),
}

# The environment of those who name none.
DEFAULT_ENVIRONMENT = "default"

# Pseudo users, as tools of the field know them.
ADMIN_TOKEN_ID = -42
SYSTEM_ID = -1337
UNKNOWN_ID = -1


@dataclass(frozen=True)
class Identity:
    """`session_hash` and `csrf` are set for a person with a session, empty for a token.

    `default_password_works` tells that somebody's password is still the documented one.
    `action_run` is set while an action set acts: {id, actionSetId, actionSet}.
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
    action_run: Mapping[str, Any] | None = None

    def has_permission(self, permission: str) -> bool:
        return permission in self.permissions


SYSTEM = Identity(SYSTEM_ID, "system", PERMISSIONS["Admin"])
UNKNOWN = Identity(UNKNOWN_ID, "unknown", PERMISSIONS["Admin"], role="Admin")
