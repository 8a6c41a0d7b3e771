"""Setting a password by reset link, JSON; pages/access/reset_password.py has the pages."""

import msgspec

from sigservice.services.access import passwords, reset_tokens
from sigservice.web import Context, HTTPResponse, Public, Router, read_query, request, respond
from sigservice.web.guards import check_same_origin
from sigservice.web.password_attempts import require_passwords
from sigservice.web.reset_links import redeem_link, send_reset_link

PATH = "/auth/reset"


class EmailBody(msgspec.Struct):
    email: str


class ResetPasswordBody(msgspec.Struct):
    password: str


class NewPasswordBody(msgspec.Struct):
    token: str
    password: str


router = Router(Public)


@router.post(f"{PATH}/password-email", limit="password_reset", takes=EmailBody)
def mail_reset_link(context: Context, body: EmailBody) -> HTTPResponse:
    """Body: `{email}`. 200, whether or not the user exists. Sends a reset link by email, at most
    one per minute and three per hour for each user; 429 after one per minute from each client
    address (`PASSWORD_RESET_LIMIT_PER_MINUTE`) and three for one `email`."""
    check_same_origin(context, request.environ)
    send_reset_link(context, request.environ, body.email)
    return respond.empty()


@router.get(f"{PATH}/validate")
def validate_reset_link(context: Context) -> HTTPResponse:
    """Query: `token` of a link. `{id, name, email, token, createdBy, role}`; 401
    `InvalidTokenError` if it is unknown or expired; 403 `UsedTokenError`."""
    require_passwords(context)
    token = read_query(request.environ).get("token", "")
    with context.database.autocommit() as conn:
        row = reset_tokens.find_link(conn, token, context.clock.now())
    require_passwords(context, row)
    return respond.json(
        {
            "id": row["user_id"],
            "name": row["name"],
            "email": row["email"],
            "token": token,
            "createdBy": row["created_by"],
            "role": {
                "id": row["role_id"],
                "name": row["role"],
                "type": "root",
                "description": row["role_description"],
            },
        }
    )


@router.post(f"{PATH}/password", takes=NewPasswordBody)
def reset_password(context: Context, body: NewPasswordBody) -> HTTPResponse:
    """Body: `{token, password}`. Sets the password, uses the link up, ends the user's sessions and
    other links, and revokes the user's personal tokens. 401 `InvalidTokenError`, 403
    `UsedTokenError`, 400 `OwaspValidationError` or `PasswordPreviouslyUsedError` (one of the last
    five)."""
    environ = request.environ
    check_same_origin(context, environ)
    redeem_link(context, environ, body.token, body.password)
    return respond.empty()


@router.post(f"{PATH}/validate-password", takes=ResetPasswordBody)
def validate_password(context: Context, body: ResetPasswordBody) -> HTTPResponse:
    """Body: `{password}`. 200, or 400 with every failed requirement."""
    passwords.check(body.password)
    return respond.empty()
