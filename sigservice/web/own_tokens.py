"""The creation of a personal token by its owner, for the API and the pages."""

from sigservice.context import Context
from sigservice.db import Row
from sigservice.errors import BadDataError, ConfirmationRequired, ForbiddenError
from sigservice.services.access import personal_tokens
from sigservice.services.identity import Identity
from sigservice.web.oidc_flow import CONFIRM, derive_token
from sigservice.web.oidc_sign_in import is_fresh
from sigservice.web.password_attempts import can_change_password, verify_own_password


def needs_password(context: Context, identity: Identity) -> bool:
    """Whether the user must enter a password: not needed if the user signs in only with the
    provider."""
    scheme = context.authentication
    is_required = scheme.has_passwords and scheme.oidc is None
    return is_required or can_change_password(context, identity)


def make_confirmation_path(context: Context, identity: Identity) -> str:
    """The path at which the user signs in with the provider again, and returns to the tokens."""
    token = derive_token(identity, CONFIRM)
    return f"{context.prefix}/auth/oidc?confirm={token}&next=/profile/tokens"


def create_own_token(
    context: Context, identity: Identity, description: str, expires_at: str, password: str
) -> tuple[Row, str]:
    """The token and its secret, which isn't stored. Needs a session, and the password where users
    have one, or a fresh sign-in with the provider, so that a stolen token or session can't create a
    token that outlives it.

    Raises ForbiddenError, ConfirmationRequired, BadDataError, RateLimitError, and what
    `verify_own_password` and `personal_tokens.create` raise.
    """
    if not identity.session_hash:
        raise ForbiddenError("Sign in to create personal tokens.")
    fields = personal_tokens.check_fields(
        description,
        expires_at,
        now=context.clock.now(),
        max_days=context.config["authentication"]["personalTokenMaxLifetimeDays"],
    )
    verified_hash = None
    if needs_password(context, identity):
        if not password:
            raise BadDataError("Enter your password.", path="password")
        verified_hash = verify_own_password(context, identity, password, "pat-creation-failed")
    elif context.provider and not is_fresh(context, identity):
        raise ConfirmationRequired(
            f"Sign in with {context.provider.name} again to create a token.",
            extra={"path": make_confirmation_path(context, identity)},
        )
    with context.database.transaction() as conn:
        return personal_tokens.create(
            conn,
            identity.user_id,
            fields,
            identity,
            authentication_scope=context.authentication.token_scope,
            verified_hash=verified_hash,
        )
