"""The part of a sign-in with the provider in the database: one transaction, after all requests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sigservice.concurrency.workers import release_turn
from sigservice.context import Context
from sigservice.db import Row
from sigservice.errors import BadDataError, ConflictError, ForbiddenError, NotFoundError
from sigservice.repository.access import identities
from sigservice.repository.access import sessions as session_rows
from sigservice.services.access.oidc import users
from sigservice.services.access.oidc.claims import Claims, Person, find_groups, read_person
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.access.oidc.provider import Provider
from sigservice.services.access.sessions import SessionOrigin
from sigservice.services.identity import SYSTEM, Identity
from sigservice.web import session
from sigservice.web.client_ip import find_client_ip
from sigservice.web.oidc_flow import LINK, derive_token
from sigservice.web.password_attempts import can_change_password, verify_own_password

MAX_PROVIDER_SESSION = 255
MAX_ID_TOKEN = 4096  # it goes into a URL
FRESH_SECONDS = 600  # after a sign-in or a confirmation


def get_provider(context: Context) -> Provider:
    """The provider, on routes that exist only with one."""
    assert context.provider is not None
    return context.provider


def sign_in(context: Context, environ: dict[str, Any], claims: Claims, token: str) -> str:
    """The ID of the new session. Raises OidcError."""
    person = read_person(claims, get_provider(context).settings)
    rules = _make_rules(context, environ)
    if person.failure:
        with context.database.transaction() as conn:
            users.end_refused_sessions(conn, person, rules)
        raise OidcError(person.failure, subject=person.subject, address=person.email)
    with context.database.transaction() as conn:
        user, identity_id = users.find_or_create(conn, person, rules)
        origin = _make_origin(context, claims, token, identity_id)
        session_id = session.open_session(context, environ, conn, user, origin)
        if session_id is None:  # deleted meanwhile
            raise OidcError("oidc-no-user", subject=person.subject, address=person.email)
    context.telemetry.sign_ins.count_attempt("oidc", "success")
    return session_id


class Trial(NamedTuple):
    """The result that a sign-in would have: the user, and the groups that the provider sent."""

    user: Row
    groups: list[str]


def try_sign_in(context: Context, environ: dict[str, Any], claims: Claims) -> Trial:
    """The result of a sign-in, without storing it. Raises OidcError like `sign_in`."""
    settings = get_provider(context).settings
    person = read_person(claims, settings)
    if person.failure:
        raise OidcError(person.failure, subject=person.subject, address=person.email)
    with context.database.transaction() as conn:
        user, _ = users.find_or_create(conn, person, _make_rules(context, environ))
        conn.rollback()
    return Trial(user, sorted(find_groups(claims, settings["groupsClaim"])))


def connect(context: Context, environ: dict[str, Any], claims: Claims, identity: Identity) -> None:
    """Connects the provider's account to the signed-in user. Raises OidcError."""
    person = _read_fresh_person(context, claims)
    rules = _make_rules(context, environ)._replace(by=identity)
    with context.database.transaction() as conn:
        users.connect(conn, identity.user_id, person, rules)


def confirm(context: Context, claims: Claims, identity: Identity) -> None:
    """Notes that the user has just signed in at the provider. Raises OidcError for another user."""
    person = _read_fresh_person(context, claims)
    with context.database.transaction() as conn:
        existing = identities.find(conn, person.issuer, person.subject)
        if existing is None or existing["user_id"] != identity.user_id:
            raise OidcError("oidc-link", "another account", subject=person.subject)
        session_rows.confirm(conn, identity.session_hash, context.clock.now())


def make_sign_out_url(context: Context, identity: Identity, token: str | None) -> str:
    """The URL at which the browser signs out at the provider, with the ID token of its session; ""
    if that isn't configured, or if the provider is down."""
    provider = context.provider
    if provider is None or not (provider.settings["signOut"] and identity.is_from_provider):
        return ""
    release_turn()
    return provider.make_sign_out_url(token or "", f"{context.public_url}/auth/oidc/signed-out")


def is_fresh(context: Context, identity: Identity) -> bool:
    """Whether the session was opened or confirmed a short time ago."""
    age = context.clock.now() - (identity.confirmed_at or datetime.min.replace(tzinfo=UTC))
    return age.total_seconds() <= FRESH_SECONDS


class Connection(NamedTuple):
    """The connection of a user to the provider: the row of the identity, or None."""

    name: str
    row: Row | None
    link_token: str  # "" for a user who can't connect
    is_only_way_in: bool


def find_connection(context: Context, identity: Identity) -> Connection | None:
    """None without single sign-on, and for a caller without a session."""
    provider = context.provider
    if provider is None or not identity.session_hash:
        return None
    with context.database.autocommit() as conn:
        rows = identities.list_of_user(conn, identity.user_id)
    row = next((row for row in rows if provider.is_issuer(row["issuer"])), None)
    user = {"username": identity.username, "email": identity.email}
    may_connect = row is None and not context.authentication.is_break_glass(user)
    token = derive_token(identity, LINK) if may_connect else ""
    return Connection(provider.name, row, token, not can_change_password(context, identity))


def unlink_own(
    context: Context, identity: Identity, identity_id: int | None, password: str
) -> None:
    """Disconnects the signed-in user, who confirms it with a password or a fresh session of the
    provider. Without an `identity_id`, uses the identity of the configured provider.

    Raises ForbiddenError for a token, NotFoundError, ConflictError if it is the user's only way to
    sign in, and what verify_own_password raises.
    """
    if not identity.session_hash:
        raise ForbiddenError("Only signed-in users can disconnect.")
    with context.database.autocommit() as conn:
        rows = identities.list_of_user(conn, identity.user_id)
    is_issuer = get_provider(context).is_issuer
    for row in rows:
        if row["id"] == identity_id or (identity_id is None and is_issuer(row["issuer"])):
            break
    else:
        raise NotFoundError("Identity not found.")
    if is_issuer(row["issuer"]) and not can_change_password(context, identity):
        raise ConflictError("This is the only way to sign in to your account.")
    if not (identity.is_from_provider and is_fresh(context, identity)):
        if not password:
            raise BadDataError("Enter your password.", path="password")
        verify_own_password(context, identity, password, "user-identity-unlink-failed")
    with context.database.transaction() as conn:
        users.unlink(conn, identity.user_id, row["id"], identity, how="profile")


def record_failure(context: Context, environ: dict[str, Any], error: OidcError) -> None:
    """Logs and counts the failure, and records it in the audit log, always without secrets."""
    ip = find_client_ip(environ, context.trusted_proxies)
    context.refusals.warn("%s from %s: %s", error.code, ip or "a unix socket", error.reason)
    result = "unavailable" if error.status == 503 else "failed"
    context.telemetry.sign_ins.count_attempt("oidc", result)
    data: dict[str, Any] = {"reason": error.code, "method": "oidc"}
    data |= {"subject": error.subject} if error.subject else {}
    data |= {"email": error.address} if error.address else {}
    if error.user:
        login = error.user["username"] or error.user["email"]
        data |= {"id": error.user["id"], "username": login}
    context.failed_sign_ins.record_failure(context.database, data, ip)


def _read_fresh_person(context: Context, claims: Claims) -> Person:
    """The person; raises OidcError if the provider says that the sign-in there is old."""
    auth_time, now = claims.token.get("auth_time"), context.clock.now().timestamp()
    if isinstance(auth_time, int | float) and now - auth_time > FRESH_SECONDS:
        raise OidcError("oidc-invalid-token", "auth_time: the sign-in at the provider is old.")
    person = read_person(claims, get_provider(context).settings)
    if person.failure:
        raise OidcError(person.failure, subject=person.subject, address=person.email)
    return person


def _make_rules(context: Context, environ: dict[str, Any]) -> users.Rules:
    return users.Rules(
        get_provider(context).settings,
        context.authentication.is_break_glass,
        replace(SYSTEM, ip=find_client_ip(environ, context.trusted_proxies)),
        context.clock.now(),
        context.get_logger("oidc"),
    )


def _make_origin(context: Context, claims: Claims, token: str, identity_id: int) -> SessionOrigin:
    """The ID token is only stored as a hint for the provider's sign-out."""
    sid = claims.token.get("sid")
    is_usable = isinstance(sid, str) and sid.isprintable() and len(sid) <= MAX_PROVIDER_SESSION
    keeps_token = get_provider(context).settings["signOut"] and len(token) <= MAX_ID_TOKEN
    return SessionOrigin(
        "oidc",
        identity_id=identity_id,
        provider_session=sid if is_usable else None,
        provider_issued_at=datetime.fromtimestamp(claims.token["iat"], UTC),
        id_token=token if keeps_token else None,
    )
