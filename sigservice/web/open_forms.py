"""Forms for people without a session: a random cookie and a field that follows from it, so that
another site can't fill them in for a visitor."""

from __future__ import annotations

import re
from typing import Any

from bottle import HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import ForbiddenError
from sigservice.web import respond, session
from sigservice.web.body import read_form
from sigservice.web.client_ip import is_plain_for_all_we_know
from sigservice.web.doors import check_same_origin

FORM_SECONDS = 24 * 3600
_NONCE = re.compile(r"[A-Za-z0-9_-]{43}")


class OpenForm:
    """`name` is what the form is for: a field of one is none of another."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name = context, name
        self._cookie = context.config["session"]["cookieName"] + "-form"

    def page(self, template: str, **values: Any) -> HTTPResponse:
        """A page whose form has `form_token` in its field `csrf`."""
        nonce = session.cookies(request.environ).get(self._cookie, "")
        if not _NONCE.fullmatch(nonce):  # a made-up one may not even fit into a cookie
            nonce = secrets.new_secret()
        token = secrets.derive(nonce, self._name)
        is_lost = self._context.is_secure and is_plain_for_all_we_know(request.environ)
        warning = _why_it_can_not_stick(self._context) if is_lost else ""
        answer = respond.page(
            self._context, template, None, form_token=token, warning=warning, **values
        )
        session.put(self._context, answer, self._cookie, nonce, FORM_SECONDS)
        return answer

    def read(self, what: str) -> dict[str, str]:
        """The submitted form; raises ForbiddenError when it is not one of ours. `what` names it."""
        environ = request.environ
        check_same_origin(self._context, environ)
        form = read_form(environ)
        nonce = session.cookies(environ).get(self._cookie, "")
        expected = secrets.derive(nonce, self._name)
        if not nonce or not secrets.equal(expected, form.get("csrf", "")):
            raise ForbiddenError(
                f"The {what} form has expired, or your browser sent no cookie. Load it again. "
                + (_why_it_can_not_stick(self._context) if self._context.is_secure else "")
            )
        return form

    def done(self, answer: HTTPResponse) -> HTTPResponse:
        """Forgets the cookie."""
        session.put(self._context, answer, self._cookie, "", 0)
        return answer


def _why_it_can_not_stick(context: Context) -> str:
    secure = "SECURE_HEADERS is on" if context.config["secureHeaders"] else "SERVICE_URL is https"
    there = context.public_url if context.public_url.startswith("https:") else "https://"
    return (
        f"Cookies are for HTTPS only here, because {secure}. At an address that begins with "
        f"http:// your browser drops them, and signing in leads nowhere: use {there} instead."
    )
