"""Links to set a password: asked for by mail, or shown to an admin; by JSON and on pages alike."""

from __future__ import annotations

from typing import Any

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import DisabledError
from sigservice.services.access import reset_tokens, users
from sigservice.services.access.reset_tokens import Invitation
from sigservice.services.identity import Identity
from sigservice.services.system import mails
from sigservice.web.client_ip import find_client_ip
from sigservice.web.limits import build_rate_limit_error
from sigservice.web.links import make_mail_url, make_own_url
from sigservice.web.password_attempts import account_key, limited_hashing, remember


def require_passwords(context: Context) -> None:
    """Raises DisabledError where nobody signs in by password."""
    if not context.authentication.type.has_passwords:
        raise DisabledError("Nobody signs in by password here.")


def send_reset_link(context: Context, environ: dict[str, Any], email: str) -> None:
    """Tells nobody whether there is such a user. Without a mail server nothing happens.

    Raises RateLimitError after too many requests for one address, known or not.
    """
    require_passwords(context)
    if context.mail_server is None:
        return
    account = account_key(email.strip())
    is_allowed, headers = context.limiter.consume("password_reset_account", account)
    if not is_allowed:
        raise build_rate_limit_error(headers)
    with context.database.transaction() as conn:
        reset_tokens.request_link(
            conn,
            email.strip(),
            base_url=make_mail_url(context, environ),
            ip=find_client_ip(environ, context.trusted_proxies),
            now=context.clock.now(),
        )
    context.mails_waiting.set()


def redeem_link(context: Context, environ: dict[str, Any], secret: str, password: str) -> None:
    """Raises what services/access/reset_tokens.py does, and RateLimitError. A link that does not
    work takes none of the room for hashing."""
    require_passwords(context)
    ip, now = find_client_ip(environ, context.trusted_proxies), context.clock.now()
    database, hasher = context.database, context.passwords
    with database.autocommit() as conn:
        user = reset_tokens.find_link(conn, secret, now)
    with limited_hashing(context, secrets.sha256(secret)):
        reset_tokens.redeem_link(database, hasher, user, secret, password, ip=ip, now=now)
    remember(context, user["user_id"], user, ip)


def invite_user(
    context: Context,
    environ: dict[str, Any],
    who: users.Profile,
    password: str,
    by: Identity,
    *,
    by_mail: bool,
) -> Invitation:
    """A new user, with `password` unless it is "". Without a link and a mail where nobody signs in
    by password. Raises what users.create does."""
    if not context.authentication.type.has_passwords:
        with context.database.transaction() as conn:
            return Invitation(users.create(conn, who, None, by), "", is_mailed=False)
    password_hash = context.passwords.hash(password) if password else None
    mail_from = make_mail_url(context, environ) if by_mail and context.mail_server else ""
    with context.database.transaction() as conn:
        made = reset_tokens.invite_user(
            conn, who, password_hash, by, mail_from=mail_from, now=context.clock.now()
        )
    if made.is_mailed:
        context.mails_waiting.set()
    return made


def make_link(context: Context, environ: dict[str, Any], kind: str, secret: str) -> str:
    """A link for who asks; `kind` is reset or welcome. Without a secret to where people sign in."""
    base = make_own_url(context, environ)
    return mails.make_link(base, kind, secret) if secret else base
