"""Sign-in by password or by address, by JSON and on pages alike."""

from __future__ import annotations

from typing import Any

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, DisabledError, RateLimitError, UnavailableError
from sigservice.services.access import sessions, sign_in_codes
from sigservice.services.access.failed_sign_ins import SignInError
from sigservice.services.access.passwordless_users import find_demo_user
from sigservice.web import password_attempts, session
from sigservice.web.client_ip import find_client_ip, is_public

Signed = tuple[Row, str]  # the user and the new session's id


def by_password(
    context: Context, environ: dict[str, Any], login: str, password: str, code: str = ""
) -> Signed:
    """`code` is the one-time code for the built-in password. Raises PasswordMismatch,
    RateLimitError, UnavailableError, and DisabledError where passwords are not asked for."""
    if not context.authentication.type.has_passwords:
        raise DisabledError("Nobody signs in by password here.")
    ip, count = (
        find_client_ip(environ, context.trusted_proxies),
        context.telemetry.sign_ins.count_attempt,
    )
    account = password_attempts.account_key(login)

    def find_session() -> bytes | None:
        who = session.find_identity(context, environ)
        is_own = who and account in password_attempts.keys_of(who.username, who.email)
        return who.session_hash if who and is_own else None

    def open_for(conn: Connection, user: Row) -> str | None:
        session_id = session.open_session(context, environ, conn, user, user["password_hash"])
        if (
            session_id
            and user["has_built_in_password"]
            and is_public(environ, context.trusted_proxies)
        ):
            sign_in_codes.use_code(conn, user, code)
        return session_id

    try:
        with password_attempts.counted(context, account, ip, find_session):
            user, session_id = sessions.sign_in(
                context.database, context.passwords, login, password, open_for
            )
    except SignInError as refused:
        count("failed")
        context.failed_sign_ins.record(context.database, refused, ip)
        raise
    except RateLimitError:
        count("limited")
        raise
    except UnavailableError:
        count("unavailable")
        raise
    count("success")
    password_attempts.remember(context, user["id"], user, ip)
    return user, session_id


def by_address(context: Context, environ: dict[str, Any], login: str) -> Signed:
    """For the type demo. Raises BadDataError."""
    ip, count = (
        find_client_ip(environ, context.trusted_proxies),
        context.telemetry.sign_ins.count_attempt,
    )
    allow_admin = context.config["authentication"]["demoAllowAdminLogin"]
    try:
        with context.database.transaction() as conn:
            user = find_demo_user(conn, login, allow_admin=allow_admin, ip=ip)
    except BadDataError as error:
        count("failed")
        refused = SignInError(error.message, "address refused")
        context.failed_sign_ins.record(context.database, refused, ip)
        raise
    session_id = session.start_session(context, environ, user)
    count("success")
    return user, session_id
