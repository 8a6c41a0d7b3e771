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
    check_same_origin(context, request.environ)
    send_reset_link(context, request.environ, body.email)
    return respond.empty()


@router.get(f"{PATH}/validate")
def validate_reset_link(context: Context) -> HTTPResponse:
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
    environ = request.environ
    check_same_origin(context, environ)
    redeem_link(context, environ, body.token, body.password)
    return respond.empty()


@router.post(f"{PATH}/validate-password", takes=ResetPasswordBody)
def validate_password(context: Context, body: ResetPasswordBody) -> HTTPResponse:
    passwords.check(body.password)
    return respond.empty()
