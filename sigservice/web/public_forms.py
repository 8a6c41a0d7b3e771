"""Forms for people without a session: a random cookie and a field that follows from it, so that
another site can't fill them in for a visitor."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import ForbiddenError
from sigservice.web import respond, session
from sigservice.web.body import read_form
from sigservice.web.client_ip import is_apparently_plain_http
from sigservice.web.guards import check_same_origin


class PublicForm:
    """`name` is what the form is for: a field of one is none of another."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name = context, name

    def page(self, template: str, **values: Any) -> HTTPResponse:
        """A page whose form has `form_token` in its field `csrf`."""
        nonce = session.read_form_nonce(self._context, request.environ)
        token = secrets.derive(nonce, self._name)
        is_lost = self._context.is_secure and is_apparently_plain_http(request.environ)
        warning = _why_it_can_not_stick(self._context) if is_lost else ""
        answer = respond.page(
            self._context, template, None, form_token=token, warning=warning, **values
        )
        session.set_form_nonce(self._context, answer, nonce)
        return answer

    def read(self, what: str) -> dict[str, str]:
        """The submitted form; raises ForbiddenError when it is not one of ours. `what` names it."""
        environ = request.environ
        check_same_origin(self._context, environ)
        form = read_form(environ)
        expected = secrets.derive(session.read_form_nonce(self._context, environ), self._name)
        if not secrets.is_equal(expected, form.get("csrf", "")):
            raise ForbiddenError(
                f"The {what} form has expired, or your browser sent no cookie. Load it again. "
                + (_why_it_can_not_stick(self._context) if self._context.is_secure else "")
            )
        return form

    def done(self, answer: HTTPResponse) -> HTTPResponse:
        """Forgets the cookie."""
        session.set_form_nonce(self._context, answer, "")
        return answer


def _why_it_can_not_stick(context: Context) -> str:
    secure = "SECURE_HEADERS is on" if context.config["secureHeaders"] else "SERVICE_URL is https"
    there = context.public_url if context.public_url.startswith("https:") else "https://"
    return (
        f"Cookies are for HTTPS only here, because {secure}. At an address that begins with "
        f"http:// your browser drops them, and signing in leads nowhere: use {there} instead."
    )
