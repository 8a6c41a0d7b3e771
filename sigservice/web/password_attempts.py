"""Wrong passwords are counted by account, beside the limit for each address, which slows down
guessing from many addresses. It never locks the owner out, because an address that signed in to the
account lately, and a session of the account, have a limit of their own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from sigservice import secrets
from sigservice.context import Context
from sigservice.db.pool import Database
from sigservice.db.statements import Row
from sigservice.errors import PasswordMismatch, UnavailableError
from sigservice.services.access import users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import Identity
from sigservice.web.client_ip import make_limit_key
from sigservice.web.limits import build_rate_limit_error

LIMIT, HASHING_LIMIT = "account_login", "own_password"


def account_key(login: str) -> bytes:
    """The same for all spellings that a database could take for one name, whatever its locale.
    Unknown names have one too, so that a refusal says nothing about them."""
    text = unicodedata.normalize("NFKD", login[: MAX_LOGIN + 1]).casefold()
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return secrets.sha256("".join(letters))


def keys_of(username: str | None, email: str | None) -> list[bytes]:
    """Both names that somebody can sign in with."""
    return [account_key(name) for name in (username, email) if name]


@contextmanager
def counted(
    context: Context,
    account: Hashable,
    ip: str,
    find_session: Callable[[], Hashable | None] = lambda: None,
) -> Iterator[None]:
    """Around checking a password: a PasswordMismatch uses up the account's limit, nothing else
    does. `find_session` is called when nothing is left of it, and returns the caller's session of
    this account. Raises RateLimitError.
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
def limited_hashing(context: Context, key: Hashable) -> Iterator[None]:
    """Around the hashes that a session or a link (`key`) asks for. Right passwords count too: their
    owner could otherwise keep everybody else from signing in. It is not counted by user, so that
    a stolen session can't keep the owner from setting another password. Raises RateLimitError.
    """
    is_allowed, headers = context.limiter.consume(HASHING_LIMIT, key)
    if not is_allowed:
        raise build_rate_limit_error(headers)
    try:
        yield
    except UnavailableError:
        context.limiter.refund(HASHING_LIMIT, key)
        raise


def remember(context: Context, user_id: int, user: Row, ip: str) -> None:
    """The owner has proved to be at this address. `user` has the username and the email."""
    for account in (user_id, *keys_of(user["username"], user["email"])):
        context.recent_sign_ins.add((account, make_limit_key(ip)))


def change_own_password(
    context: Context, who: Identity, old: str, new: str, *, revoke_tokens: bool
) -> None:
    """Raises what users.change_own_password does, and RateLimitError."""
    with _counted_for_owner(context, who, context.failed_sign_ins.record_wrong_old_password):
        users.change_own_password(
            context.database, context.passwords, who, old, new, revoke_tokens=revoke_tokens
        )


def verify_for_token(context: Context, who: Identity, password: str) -> str:
    """Returns and raises what users.verify_own_password does, and RateLimitError."""
    record = context.failed_sign_ins.record_wrong_password_for_token
    with _counted_for_owner(context, who, record):
        return users.verify_own_password(
            context.database, context.passwords, who, password, "password"
        )


@contextmanager
def _counted_for_owner(
    context: Context, who: Identity, record: Callable[[Database, Identity], None]
) -> Iterator[None]:
    """Guesses with a session leave the limit of the owner's sign-in alone."""
    try:
        session = who.session_hash or who.user_id
        with limited_hashing(context, session), counted(context, who.user_id, who.ip):
            yield
    except PasswordMismatch:
        record(context.database, who)
        raise
