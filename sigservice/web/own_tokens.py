"""The creation of a personal token by its owner, for the API and the pages."""

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ForbiddenError
from sigservice.services.access import personal_tokens
from sigservice.services.identity import Identity
from sigservice.web.password_attempts import verify_own_password


def create_own_token(
    context: Context, identity: Identity, description: str, expires_at: str, password: str
) -> tuple[Row, str]:
    """The token and its secret, which isn't stored. Needs a session, and the password where users
    have one, so that a stolen token or session can't create a token that outlives it.

    Raises ForbiddenError, BadDataError, RateLimitError, and what `verify_own_password` and
    `personal_tokens.create` raise.
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
    if context.authentication.type.has_passwords:
        if not password:
            raise BadDataError("Enter your password.", path="password")
        verified_hash = verify_own_password(context, identity, password)
    with context.database.transaction() as conn:
        return personal_tokens.create(
            conn,
            identity.user_id,
            fields,
            identity,
            authentication_scope=context.authentication.token_scope,
            verified_hash=verified_hash,
        )
