"""Limits of wrong passwords by account, beside the rate limit by address, against guesses from many
addresses.

The limits never lock the owner out: an address that recently signed in to the account, and a
session of the account, have limits of their own.
"""

import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.db import Row
from sigservice.errors import DisabledError, PasswordMismatch, UnavailableError
from sigservice.services.access import passwords, users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import Identity
from sigservice.web.client_ip import make_limit_key
from sigservice.web.limits import build_rate_limit_error, consume

LIMIT, HASHING_LIMIT = "account_login", "own_password"


def require_passwords(context: Context, user: Mapping[str, Any] | None = None) -> None:
    """Raises DisabledError if no user may sign in with a password, or `user` (`username`, `email`)
    may not."""
    scheme = context.authentication
    if not (scheme.may_use_password(user) if user else scheme.has_password_form):
        raise DisabledError("Sign-in by password is disabled.")


def make_account_key(login: str) -> bytes:
    """One key for all spellings that a database of any locale may treat as the same login. Unknown
    logins have keys too, so that the limit doesn't reveal which accounts exist."""
    text = unicodedata.normalize("NFKD", login[: MAX_LOGIN + 1]).casefold()
    chars = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return secrets.sha256("".join(chars))


def make_account_keys(username: str | None, email: str | None) -> list[bytes]:
    return [make_account_key(login) for login in (username, email) if login]


@contextmanager
def limit_attempts(
    context: Context,
    account: Hashable,
    ip: str,
    find_session: Callable[[], Hashable | None] = lambda: None,
) -> Iterator[None]:
    """Encloses the check of a password; only a PasswordMismatch uses up the account's limit.
    `find_session` is called when the limit is reached, and returns the caller's session of this
    account. Raises RateLimitError.
    """
    key: Hashable = (account, make_limit_key(ip))
    if key not in context.recent_sign_ins:
        key = account
    is_allowed, headers = context.limiter.consume(LIMIT, key)
    if not is_allowed and (session := find_session()):
        key = (account, session)
        is_allowed, headers = context.limiter.consume(LIMIT, key)
    if not is_allowed:
        raise build_rate_limit_error(headers)
    try:
        yield
    except PasswordMismatch:
        raise
    except BaseException:
        context.limiter.refund(LIMIT, key)
        raise
    context.limiter.refund(LIMIT, key)


@contextmanager
def limit_hashing(context: Context, key: Hashable) -> Iterator[None]:
    """Encloses the hashing on behalf of a session or a reset link (`key`). Correct passwords count
    too, otherwise one user could keep all others from signing in. The key isn't the user ID, so a
    stolen session can't keep the owner from setting another password. Raises RateLimitError.
    """
    consume(context, HASHING_LIMIT, key)
    try:
        yield
    except UnavailableError:
        context.limiter.refund(HASHING_LIMIT, key)
        raise


def remember_sign_in(context: Context, user_id: int, user: Row, ip: str) -> None:
    """Gives this address its own limit for the account; `user` has `username` and `email`."""
    for account in (user_id, *make_account_keys(user["username"], user["email"])):
        context.recent_sign_ins.add((account, make_limit_key(ip)))


def can_change_password(context: Context, identity: Identity) -> bool:
    """Whether the user signs in with a password."""
    user = {"username": identity.username, "email": identity.email}
    return identity.has_password and context.authentication.may_use_password(user)


def change_own_password(
    context: Context, identity: Identity, old: str, new: str, *, revoke_tokens: bool
) -> None:
    """Raises what users.change_own_password raises, RateLimitError and DisabledError."""
    if identity.session_hash:
        require_passwords(context, {"username": identity.username, "email": identity.email})
    with _limit_owner(context, identity, "user-password-change-failed", "wrong old password"):
        users.change_own_password(
            context.database, context.passwords, identity, old, new, revoke_tokens=revoke_tokens
        )


def set_password(context: Context, id: int, password: str, by: Identity) -> None:
    """Sets the password of any user, for an admin. Raises NotFoundError, DisabledError,
    OwaspValidationError, UnavailableError."""
    with context.database.autocommit() as conn:
        user = users.get(conn, id)
    require_passwords(context, user)
    passwords.check(password, user["username"], user["email"])
    password_hash = context.passwords.hash(password)
    with context.database.transaction() as conn:
        users.set_password(conn, id, password_hash, by, keep_session=by.session_hash)


def verify_own_password(context: Context, identity: Identity, password: str, event: str) -> str:
    """Returns and raises what users.verify_own_password does, and raises RateLimitError. A wrong
    password is recorded as `event`."""
    with _limit_owner(context, identity, event, "wrong password"):
        return users.verify_own_password(
            context.database, context.passwords, identity, password, "password"
        )


@contextmanager
def _limit_owner(context: Context, identity: Identity, event: str, reason: str) -> Iterator[None]:
    """Counts by user ID, so that guesses with a stolen session don't use up the limit of the
    owner's sign-in. A wrong password is recorded as `event`."""
    session = identity.session_hash or identity.user_id
    try:
        with (
            limit_hashing(context, session),
            limit_attempts(context, identity.user_id, identity.ip),
        ):
            yield
    except PasswordMismatch:
        data = {"reason": reason, "id": identity.user_id, "username": identity.username}
        context.failed_sign_ins.record_event(context.database, event, identity, data)
        raise
