"""The work of each start, safe in parallel processes: built-in rows, first admin, first tokens and
enabled environments."""

import uuid
from collections.abc import Sequence
from typing import Any

from sigservice.crypto import secrets
from sigservice.db import Database
from sigservice.log import Logger
from sigservice.repository import revisions
from sigservice.repository.access import users
from sigservice.repository.revisions import RevisionBump
from sigservice.repository.system import defaults
from sigservice.services.access import api_tokens, sign_in_codes
from sigservice.services.access.authentication_scheme import AuthenticationScheme
from sigservice.services.access.users import ADMIN_ROLE, get, parse_login, to_json
from sigservice.services.identity import SYSTEM
from sigservice.services.projects import environments
from sigservice.services.system import events


def seed(database: Database, authentication: dict[str, Any], passwords: secrets.Passwords) -> None:
    """Writes the built-in rows once; creates the first admin if there are no users, and the
    configured API tokens if there are none. Raises ConfigError for invalid tokens."""
    with database.transaction() as conn:
        if defaults.mark_seeded(conn, str(uuid.uuid4())):
            revisions.bump(conn, RevisionBump([""], [], [], []))
            defaults.insert_built_ins(conn)
    admin = authentication["initialAdminUser"]
    with database.transaction() as conn:
        is_needed = bool(admin) and _may_sign_in(authentication) and users.count(conn) == 0
    if is_needed:
        password_hash = passwords.hash(admin["password"])
        with database.transaction() as conn:
            users.lock(conn)
            if users.count(conn) == 0:
                id = users.insert(
                    conn,
                    **parse_login(admin["username"]),
                    name=None,
                    role_id=ADMIN_ROLE,
                    password_hash=password_hash,
                    has_default_password=authentication["initialAdminIsBuiltIn"],
                )
                events.record(conn, "user-created", SYSTEM, data=to_json(get(conn, id)))
    tokens = authentication["initApiTokens"]
    with database.transaction() as conn:
        api_tokens.create_initial(conn, tokens, authentication["initApiTokenOrigins"])


def _may_sign_in(authentication: dict[str, Any]) -> bool:
    """Whether the first admin can sign in; not if only the provider signs users in."""
    scheme = AuthenticationScheme(authentication)
    login = parse_login(authentication["initialAdminUser"]["username"])
    return not scheme.type.has_passwords or scheme.may_use_password(login)


def switch_environments(database: Database, names: Sequence[str], logger: Logger) -> None:
    """Enables these environments and disables all others; changes nothing without names."""
    if names:
        with database.transaction() as conn:
            environments.apply_enabled_environments(conn, names, logger)


def issue_sign_in_code(database: Database) -> str:
    """The one-time code to print while the default password works, else ""."""
    with database.transaction() as conn:
        return sign_in_codes.create_code(conn) if users.exists_default_password(conn) else ""


def default_password_works(database: Database) -> bool:
    """Whether a user still has the default password, which is public."""
    with database.autocommit() as conn:
        return users.exists_default_password(conn)
