"""Forms without a session, such as sign-in. A random cookie and a form token derived from it keep
other sites from submitting them."""

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.errors import ForbiddenError
from sigservice.web import respond, session
from sigservice.web.body import read_form
from sigservice.web.client_ip import is_apparently_plain_http
from sigservice.web.guards import check_same_origin


class PublicForm:
    """`name` identifies the form: the token of one form is invalid for another."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name = context, name

    def render(self, template: str, **values: Any) -> HTTPResponse:
        """A page whose form sends `form_token` in its field `csrf`."""
        nonce = session.read_form_nonce(self._context, request.environ)
        token = secrets.derive(nonce, self._name)
        is_cookie_dropped = self._context.is_secure and is_apparently_plain_http(request.environ)
        warning = _explain_lost_cookie(self._context) if is_cookie_dropped else ""
        answer = respond.page(
            self._context, template, None, form_token=token, warning=warning, **values
        )
        session.set_form_nonce(self._context, answer, nonce)
        return answer

    def read(self) -> dict[str, str]:
        """The submitted values; raises ForbiddenError for a wrong form token."""
        environ = request.environ
        check_same_origin(self._context, environ)
        form = read_form(environ)
        expected = secrets.derive(session.read_form_nonce(self._context, environ), self._name)
        if not secrets.is_equal(expected, form.get("csrf", "")):
            raise ForbiddenError(
                "This form has expired, or your browser sent no cookie. Reload the page and try"
                " again. "
                + (_explain_lost_cookie(self._context) if self._context.is_secure else "")
            )
        return form

    def clear_cookie(self, answer: HTTPResponse) -> HTTPResponse:
        """The `answer`, with a header that deletes the cookie of the form."""
        session.set_form_nonce(self._context, answer, "")
        return answer


def _explain_lost_cookie(context: Context) -> str:
    secure = "SECURE_HEADERS is on" if context.config["secureHeaders"] else "SERVICE_URL is https"
    url = context.public_url if context.public_url.startswith("https:") else "https://"
    return (
        f"Cookies require HTTPS because {secure}. At an http:// address your browser drops them and"
        f" you can't sign in; use {url} instead."
    )
