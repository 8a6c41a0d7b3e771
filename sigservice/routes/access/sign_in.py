"""Sign-in for programs, by JSON; people use /sign-in."""

from __future__ import annotations

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import NotFoundError
from sigservice.services.access import sessions, users
from sigservice.web import respond, session, sign_in
from sigservice.web.body import JSON_LIMIT, read_struct
from sigservice.web.guards import Public, check_same_origin
from sigservice.web.router import Router


class Login(msgspec.Struct):
    """`code` is the one-time code that the built-in password needs from a public address."""

    username: str
    password: str
    code: str = ""


class Demo(msgspec.Struct):
    email: str


router = Router(Public)


@router.post("/auth/simple", limit="login", body_limit=JSON_LIMIT)
@router.post("/auth/simple/login", limit="login", body_limit=JSON_LIMIT)
def sign_in_by_password(context: Context) -> HTTPResponse:
    environ = request.environ
    check_same_origin(context, environ)
    body = read_struct(environ, Login)
    username, password = body.username, body.password
    return signed(context, *sign_in.by_password(context, environ, username, password, body.code))


@router.post("/auth/demo/login", limit="login", body_limit=JSON_LIMIT)
def sign_in_by_address(context: Context) -> HTTPResponse:
    environ = request.environ
    if not context.authentication.type.takes_email:
        raise NotFoundError("Page not found.")
    check_same_origin(context, environ)
    return signed(context, *sign_in.by_address(context, environ, read_struct(environ, Demo).email))


def signed(context: Context, user: Row, session_id: str) -> HTTPResponse:
    answer = respond.json(
        users.to_json(user) | {"csrfToken": sessions.derive_csrf_token(session_id)}
    )
    session.set_cookie(context, answer, session_id)
    return answer
