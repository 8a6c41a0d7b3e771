"""Password sign-in for programs, by JSON; people use /sign-in."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.services import sessions, users
from sigservice.web import respond, session
from sigservice.web.area import new_area
from sigservice.web.body import read_struct
from sigservice.web.doors import OpenDoor, check_same_origin


class Login(msgspec.Struct):
    username: str
    password: str


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())

    @area.post("/auth/simple", limit="login")
    @area.post("/auth/simple/login", limit="login")
    def sign_in() -> HTTPResponse:
        check_same_origin(context, request.environ)
        body = read_struct(request.environ, Login)
        user, session_id = session.start(context, request.environ, body.username, body.password)
        answer = respond.json(users.to_json(user) | {"csrfToken": sessions.csrf_token(session_id)})
        session.set_cookie(context, answer, session_id)
        return answer

    return area
