"""Finds the user of an identity of the provider: known, connected by address, created or refused.

A user is found by issuer and subject. The address decides at the first sign-in only.
"""

import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sigservice.clock import format_iso, format_optional
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, require_found
from sigservice.log import Logger
from sigservice.repository.access import identities
from sigservice.repository.access import users as user_rows
from sigservice.services.access import users
from sigservice.services.access.oidc.claims import Person
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.identity import Identity
from sigservice.services.system import events


class Rules(NamedTuple):
    """`settings` is `authentication.oidc`; `by` is the actor of changes to users: the system, with
    the address of the browser."""

    settings: Mapping[str, Any]
    is_break_glass: Callable[[Mapping[str, Any]], bool]
    by: Identity
    now: datetime
    logger: Logger


def end_refused_sessions(conn: Connection, person: Person, rules: Rules) -> None:
    """Ends the sessions of a known identity that, by its claims, may not use the service."""
    existing = identities.find(conn, person.issuer, person.subject)
    if existing and (count := identities.end_sessions(conn, existing["id"])):
        user = users.get(conn, existing["user_id"])
        data = {"id": user["id"], "username": user["username"] or user["email"]}
        data |= {"reason": person.failure, "count": count}
        events.record(conn, "user-sessions-ended", rules.by, data=data)


def find_or_create(conn: Connection, person: Person, rules: Rules) -> tuple[Row, int]:
    """The user and the ID of the identity. Raises OidcError."""
    existing = identities.find(conn, person.issuer, person.subject)
    if existing is None:
        user_rows.lock(conn)
        existing = identities.find(conn, person.issuer, person.subject)
    if existing is None:
        user = _find_by_address(conn, person, rules)
        how = "email" if user else "created"
        user = user or _create(conn, person, rules)
        identity_id = link(conn, user, person, rules.by, rules.now, how=how)
    else:
        user, identity_id = users.get(conn, existing["user_id"]), existing["id"]
        if rules.is_break_glass(user):
            raise _make_error("oidc-break-glass", person, user)
    return _adopt_changes(conn, user, person, rules), identity_id


def link(
    conn: Connection, user: Row, person: Person, by: Identity, now: datetime, *, how: str
) -> int:
    """Connects the identity to the user; returns its ID. The caller holds the lock of all users."""
    identity_id = identities.insert(conn, user["id"], person.issuer, person.subject, now)
    data = {"id": user["id"], "username": user["username"] or user["email"], "how": how}
    data |= {"issuer": person.issuer, "subject": person.subject}
    events.record(conn, "user-identity-linked", by, data=data)
    return identity_id


def connect(conn: Connection, user_id: int, person: Person, rules: Rules) -> int:
    """Connects the identity to a signed-in user, who has proved ownership of both; the address
    doesn't matter. Raises OidcError."""
    user_rows.lock(conn)
    user = users.get(conn, user_id)
    if rules.is_break_glass(user):
        raise _make_error("oidc-break-glass", person, user)
    existing = identities.find(conn, person.issuer, person.subject)
    if existing and existing["user_id"] != user_id:
        raise _make_error("oidc-identity-taken", person, user)
    if existing or _is_linked(conn, user, person):
        raise _make_error("oidc-account-linked", person, user)
    return link(conn, user, person, rules.by, rules.now, how="profile")


def unlink(conn: Connection, user_id: int, identity_id: int, by: Identity, *, how: str) -> None:
    """Disconnects a user, and ends the sessions of the identity. Raises NotFoundError."""
    user = users.get(conn, user_id)
    row = require_found(identities.delete(conn, user_id, identity_id), "Identity not found.")
    _record_unlinked(conn, user, row, by, how)


def unlink_all(conn: Connection, login: str, by: Identity) -> int:
    """Disconnects the user with this login, or all users if it is ""; returns the number of deleted
    identities. Raises NotFoundError."""
    rows = identities.delete_all(conn, users.find(conn, login)["id"] if login else None)
    for row in rows:
        _record_unlinked(conn, row | {"id": row["user_id"]}, row, by, "command")
    return len(rows)


def end_provider_sessions(conn: Connection, claims: Mapping[str, Any], by: Identity) -> None:
    """Ends the sessions that a logout token names, and that the provider opened before it. Both
    times are the provider's, so a replayed token can't end later sessions."""
    rows = identities.end_provider_sessions(
        conn,
        issuer=claims["iss"],
        subject=claims.get("sub"),
        provider_session=claims.get("sid"),
        issued_at=datetime.fromtimestamp(claims["iat"], UTC),
    )
    logins = {row["id"]: row["username"] or row["email"] for row in rows}
    data = [{"id": id, "username": logins[id], "reason": "back-channel"} for id in logins]
    events.record_many(conn, "user-signed-out", by, [{"data": item} for item in data])


def to_json(row: Row) -> dict[str, Any]:
    """The identity in the API."""
    return {
        "id": row["id"],
        "issuer": row["issuer"],
        "subject": row["subject"],
        "createdAt": format_iso(row["created_at"]),
        "lastSignInAt": format_optional(row["last_sign_in_at"]),
    }


def _record_unlinked(conn: Connection, user: Row, row: Row, by: Identity, how: str) -> None:
    data = {"id": user["id"], "username": user["username"] or user["email"], "how": how}
    data |= {"issuer": row["issuer"], "subject": row["subject"]}
    events.record(conn, "user-identity-unlinked", by, data=data)


def _find_by_address(conn: Connection, person: Person, rules: Rules) -> Row | None:
    """The user that may be connected by the verified address; None if no user has it."""
    _check_address(person)
    user = user_rows.find_by_login(conn, person.email)
    if _is_similar_to_another(conn, person.email, user):
        raise _make_error("oidc-similar-email", person)
    if rules.is_break_glass(user or {"username": None, "email": person.email}):
        raise _make_error("oidc-break-glass", person, user)
    if user is None:
        return None
    if _is_linked(conn, user, person):
        raise _make_error("oidc-account-linked", person, user)
    if user["role_id"] == users.ADMIN_ROLE:
        raise _make_error("oidc-admin-account", person, user)
    if not rules.settings["linkByEmail"]:
        raise _make_error("oidc-account-exists", person, user)
    return user


def _check_address(person: Person) -> None:
    try:
        users.check_profile(username=None, email=person.email, name=None, root_role="Viewer")
    except BadDataError:
        raise OidcError("oidc-no-email", subject=person.subject) from None
    if not person.is_verified:
        raise _make_error("oidc-unverified-email", person)


def _is_similar_to_another(conn: Connection, email: str, user: Row | None) -> bool:
    """Whether a user has a different address that looks or folds like this one."""
    if user is not None and not users.is_same_login(user["email"], email):
        return True
    folded = _fold(email)
    return any(
        _fold(other) == folded and not users.is_same_login(other, email)
        for other in identities.list_similar_candidates(conn, is_ascii=email.isascii())
    )


def _fold(email: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", email).casefold())


def _is_linked(conn: Connection, user: Row, person: Person) -> bool:
    return any(row["issuer"] == person.issuer for row in identities.list_of_user(conn, user["id"]))


def _create(conn: Connection, person: Person, rules: Rules) -> Row:
    if not rules.settings["createUsers"]:
        raise _make_error("oidc-no-user", person)
    role = person.role or rules.settings["defaultRole"]
    if role == "none":
        raise _make_error("oidc-no-role", person)
    profile = users.check_profile(
        username=None, email=person.email, name=person.name, root_role=role
    )
    return users.create(conn, profile, None, rules.by)


def _adopt_changes(conn: Connection, user: Row, person: Person, rules: Rules) -> Row:
    """Stores the name, the verified address if no other user has it, and the role of the groups.
    Takes no lock if nothing changes."""
    changes: dict[str, Any] = {}
    if person.name and person.name != user["name"]:
        changes["name"] = person.name
    if not users.is_same_login(user["email"], person.email) and _may_adopt(conn, person, rules):
        changes["email"] = person.email
    if person.role and person.role != user["role"]:
        changes["root_role"] = person.role
    if not changes:
        return user
    try:
        return users.update(conn, user["id"], changes, rules.by)
    except ConflictError:
        login = user["username"] or user["email"]
        rules.logger.warn("%s is the last admin and stays one, although in no admin group", login)
    del changes["root_role"]
    return users.update(conn, user["id"], changes, rules.by) if changes else user


def _may_adopt(conn: Connection, person: Person, rules: Rules) -> bool:
    try:
        _check_address(person)
    except OidcError:
        return False
    return not (
        user_rows.find_by_login(conn, person.email)
        or _is_similar_to_another(conn, person.email, None)
        or rules.is_break_glass({"username": None, "email": person.email})
    )


def _make_error(code: str, person: Person, user: Row | None = None) -> OidcError:
    return OidcError(code, subject=person.subject, address=person.email, user=user)
