"""Sign-in by password or by email address, for the JSON API and the page."""

from functools import partial
from typing import Any

from sigservice.context import Context
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, RateLimitError, UnavailableError
from sigservice.services.access import sessions, sign_in_codes
from sigservice.services.access.failed_sign_ins import SignInError
from sigservice.services.access.passwordless_users import find_demo_user
from sigservice.services.access.sessions import SessionOrigin
from sigservice.web import password_attempts, session
from sigservice.web.client_ip import find_client_ip, is_remote
from sigservice.web.password_attempts import require_passwords

UserSession = tuple[Row, str]  # the user and the new session's ID


def sign_in_by_password(
    context: Context,
    environ: dict[str, Any],
    login: str,
    password: str,
    code: str = "",
    *,
    method: str = "password",
) -> UserSession:
    """`code` is the one-time code for the default password, `method` for the audit log. Raises
    PasswordMismatch, RateLimitError, UnavailableError, and DisabledError if users don't sign in by
    password."""
    require_passwords(context)
    ip = find_client_ip(environ, context.trusted_proxies)
    count_attempt = partial(context.telemetry.sign_ins.count_attempt, method)
    account = password_attempts.make_account_key(login)

    def find_session() -> bytes | None:
        identity = session.find_identity(context, environ)
        if identity is None:
            return None
        keys = password_attempts.make_account_keys(identity.username, identity.email)
        return identity.session_hash if account in keys else None

    def open_session(conn: Connection, user: Row) -> str | None:
        origin = SessionOrigin(method, is_break_glass=not context.authentication.has_passwords)
        session_id = session.open_session(
            context, environ, conn, user, origin, user["password_hash"]
        )
        needs_code = user["has_built_in_password"] and is_remote(environ)
        if session_id and needs_code:
            sign_in_codes.use_code(conn, user, code)
        return session_id

    try:
        with password_attempts.limit_attempts(context, account, ip, find_session):
            user, session_id = sessions.sign_in(
                context.database,
                context.passwords,
                login,
                password,
                open_session,
                context.authentication.may_use_password,
            )
    except SignInError as error:
        count_attempt("failed")
        context.failed_sign_ins.record(context.database, error, ip)
        raise
    except RateLimitError:
        count_attempt("limited")
        raise
    except UnavailableError:
        count_attempt("unavailable")
        raise
    count_attempt("success")
    if not context.authentication.has_passwords:
        log = context.get_logger("authentication")
        log.warn(
            "break-glass account %s signed in with its password from %s",
            user["username"] or user["email"],
            ip,
        )
    password_attempts.remember_sign_in(context, user["id"], user, ip)
    return user, session_id


def sign_in_by_email(context: Context, environ: dict[str, Any], login: str) -> UserSession:
    """Signs a user in, for the authentication type demo. Raises BadDataError."""
    ip = find_client_ip(environ, context.trusted_proxies)
    count_attempt = partial(context.telemetry.sign_ins.count_attempt, "email")
    allow_admin = context.config["authentication"]["demoAllowAdminLogin"]
    try:
        with context.database.transaction() as conn:
            user = find_demo_user(conn, login, allow_admin=allow_admin, ip=ip)
    except BadDataError as error:
        count_attempt("failed")
        failure = SignInError(error.message, "address refused")
        context.failed_sign_ins.record(context.database, failure, ip)
        raise
    session_id = session.start_session(context, environ, user, "email")
    count_attempt("success")
    return user, session_id
