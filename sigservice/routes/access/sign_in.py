"""Sign-in, JSON; pages/access/sign_in.py has the page."""

import msgspec

from sigservice.db import Row
from sigservice.errors import NotFoundError
from sigservice.services.access import sessions, users
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond, session, sign_in
from sigservice.web.body import JSON_LIMIT, read_struct
from sigservice.web.guards import check_same_origin


class SignInBody(msgspec.Struct):
    """`code` is the one-time code that the default password needs from another machine."""

    username: str
    password: str
    code: str = ""


class DemoSignInBody(msgspec.Struct):
    email: str


router = Router(Public)


@router.post("/auth/simple", limit="login", body_limit=JSON_LIMIT)
@router.post("/auth/simple/login", limit="login", body_limit=JSON_LIMIT)
def sign_in_by_password(context: Context) -> HTTPResponse:
    """Body: `{username, password, code?}`. The user with `csrfToken`, and the session cookie. 401
    `PasswordMismatch` or `OneTimeCodeRequired` ([the default
    password](authentication.md#the-default-password)); 422 unless users sign in by password; 429
    and 503 with `Retry-After`."""
    environ = request.environ
    check_same_origin(context, environ)
    body = read_struct(environ, SignInBody)
    user, session_id = sign_in.sign_in_by_password(
        context, environ, body.username, body.password, body.code
    )
    return _respond(context, user, session_id)


@router.post("/auth/demo/login", limit="login", body_limit=JSON_LIMIT)
def sign_in_by_email(context: Context) -> HTTPResponse:
    """Body: `{email}`. As `/auth/simple/login`; 404 unless the authentication type is `demo`."""
    environ = request.environ
    if not context.authentication.type.takes_email:
        raise NotFoundError("Page not found.")
    check_same_origin(context, environ)
    email = read_struct(environ, DemoSignInBody).email
    return _respond(context, *sign_in.sign_in_by_email(context, environ, email))


def _respond(context: Context, user: Row, session_id: str) -> HTTPResponse:
    csrf_token = sessions.derive_csrf_token(session_id)
    answer = respond.json(users.to_json(user) | {"csrfToken": csrf_token})
    session.set_cookie(context, answer, session_id)
    return answer
