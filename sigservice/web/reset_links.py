"""Reset links and invite links, by email or for an admin to share, for the JSON API and the
pages."""

from dataclasses import asdict
from functools import partial
from typing import Any

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.db import Connection, Row
from sigservice.repository.access import identities
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.access.reset_tokens import Invitation
from sigservice.services.identity import Identity
from sigservice.services.system import mails
from sigservice.web.client_ip import find_client_ip
from sigservice.web.limits import consume
from sigservice.web.links import make_mail_url, make_own_url
from sigservice.web.password_attempts import (
    limit_hashing,
    make_account_key,
    remember_sign_in,
    require_passwords,
)


def send_reset_link(context: Context, environ: dict[str, Any], email: str) -> None:
    """Returns nothing, so that callers can't find out which users exist. Does nothing without a
    mail server.

    Raises DisabledError if users don't sign in by password, and RateLimitError after too many
    requests for one address, whether a user has it or not.
    """
    require_passwords(context)
    if context.mail_server is None:
        return
    email = email.strip()
    key = make_account_key(email)
    consume(context, "password_reset_account", key)
    ip, now = find_client_ip(environ, context.trusted_proxies), context.clock.now()
    base_url = make_mail_url(context, environ)
    with context.database.transaction() as conn:
        reset_tokens.request_link(
            conn, email, base_url=base_url, ip=ip, now=now, may_reset=partial(_may_reset, context)
        )
    context.mails_waiting.set()


def _may_reset(context: Context, conn: Connection, user: Row | None) -> bool:
    """Whether the user may get a link by email. A user of the provider without a password may not:
    the mailbox would be a second way to sign in, which the provider can't block."""
    rows = identities.list_of_user(conn, user["id"] if user else 0)  # takes the same time for none
    provider = context.provider
    is_of_provider = provider is not None and any(provider.is_issuer(row["issuer"]) for row in rows)
    if user is None or not context.authentication.may_use_password(user):
        return False
    return user["password_hash"] is not None or not is_of_provider


def redeem_link(context: Context, environ: dict[str, Any], secret: str, password: str) -> str:
    """Sets the password and returns the login of the user. Checks the link before the hashing,
    which is expensive. Raises what reset_tokens.find_link and redeem_link raise, and
    RateLimitError."""
    require_passwords(context)
    ip, now = find_client_ip(environ, context.trusted_proxies), context.clock.now()
    database, hasher = context.database, context.passwords
    with database.autocommit() as conn:
        user = reset_tokens.find_link(conn, secret, now)
    require_passwords(context, user)
    with limit_hashing(context, secrets.sha256(secret)):
        reset_tokens.redeem_link(database, hasher, user, secret, password, ip=ip, now=now)
    remember_sign_in(context, user["user_id"], user, ip)
    return str(user["username"] or user["email"])


def invite_user(
    context: Context,
    environ: dict[str, Any],
    profile: users.Profile,
    password: str,
    by: Identity,
    *,
    by_mail: bool,
) -> Invitation:
    """Creates a user, with `password` unless it is "". Makes no link and no email if users don't
    sign in by password. Raises OwaspValidationError and what users.create raises."""
    if password:
        passwords.check(password, profile.username, profile.email)
    if not context.authentication.may_use_password(asdict(profile)):
        with context.database.transaction() as conn:
            return Invitation(users.create(conn, profile, None, by), "", is_mailed=False)
    password_hash = context.passwords.hash(password) if password else None
    mail_from = make_mail_url(context, environ) if by_mail and context.mail_server else ""
    with context.database.transaction() as conn:
        invitation = reset_tokens.invite_user(
            conn, profile, password_hash, by, mail_from=mail_from, now=context.clock.now()
        )
    if invitation.is_mailed:
        context.mails_waiting.set()
    return invitation


def make_link(context: Context, environ: dict[str, Any], kind: str, secret: str) -> str:
    """The URL to share; `kind` is reset or welcome. Without a secret, the URL of the service."""
    base = make_own_url(context, environ)
    return mails.make_link(base, kind, secret) if secret else base
