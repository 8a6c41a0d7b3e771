"""Guards authenticate and authorize a request. Each is a plugin of a router and passes the
Identity to the handler as its first argument.

A route names what it needs: `needs=ADMIN`. A test demands a guard and a need of every route.
`is_open` says whether a request without token and cookie may come in: if not, the listener does
not read a large body of one (`needs_credentials=True` on a route line says it where the handler
itself asks for the token).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from bottle import request

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import (
    AppError,
    ForbiddenError,
    NoPermissionError,
    PasswordChangeRequired,
    RateLimitError,
    UnauthorizedError,
)
from sigservice.flags.revision_cache import Access
from sigservice.services.access import api_tokens, personal_tokens
from sigservice.services.identity import (
    ADMIN_TOKEN_ID,
    DEFAULT_ENVIRONMENT,
    PERMISSIONS,
    Identity,
)
from sigservice.web import request_identity, respond, session
from sigservice.web.body import FORM_FIELDS, FORM_LIMIT, is_json, read_form
from sigservice.web.client_ip import find_client_ip, is_https, make_limit_key
from sigservice.web.limits import build_rate_limit_error
from sigservice.web.request_log import HAS_TOKEN

SAFE_METHODS = ("GET", "HEAD")


class Public:
    """Anybody may come in; the handler gets no identity."""

    name, api, is_open = "guard", 2, True

    def __init__(self, context: Context) -> None:
        pass

    def apply(self, callback: Any, route: Any) -> Any:
        return callback


class AdminGuard:
    """The admin JSON API: an admin token, a personal token, or a session with CSRF protection."""

    name, api = "guard", 2

    def __init__(self, context: Context) -> None:
        self._context = context
        self.is_open = request_identity.can_identify_without_cookie(context)

    def apply(self, callback: Any, route: Any) -> Any:
        needs = route.config["needs"]
        while_default_password = route.config.get("while_default_password", False)

        def guarded(**kwargs: Any) -> Any:
            environ = request.environ
            if environ.get("HTTP_AUTHORIZATION"):
                identity = environ["sigservice.identity"] = self._by_token(environ)
                environ[HAS_TOKEN] = True
            else:
                identity = environ["sigservice.identity"] = self._by_session(environ)
                if identity.has_default_password and not while_default_password:
                    raise PasswordChangeRequired(
                        "Set a new password first: the built-in one is known to everybody."
                    )
            if not identity.has_permission(needs):
                raise NoPermissionError(
                    f"This needs the permission {needs}.", extra={"permissions": [needs]}
                )
            return callback(identity, **kwargs)

        return guarded

    def _by_token(self, environ: dict[str, Any]) -> Identity:
        context = self._context
        secret = read_bearer_token(environ)
        ip = find_client_ip(environ, context.trusted_proxies)
        with AuthenticationAttempt(context, ip, secrets.sha256(secret)):
            if personal_tokens.is_personal_token(secret):
                return self._by_personal_token(secret, ip)
            with context.database.autocommit() as conn:
                token = api_tokens.find_valid(conn, secret, now=context.clock.now())
            if token is None:
                raise UnauthorizedError("The API token is unknown or has expired.")
        if token["type"] != "admin":
            raise NoPermissionError("This token is not for the admin API.")
        context.revision_cache.last_used.record_api_token(token["id"])
        return Identity(ADMIN_TOKEN_ID, token["token_name"], PERMISSIONS["Admin"], ip=ip)

    def _by_personal_token(self, secret: str, ip: str) -> Identity:
        context = self._context
        authentication_scope, now = context.authentication.token_scope, context.clock.now()
        with context.database.autocommit() as conn:
            identity, token_id = personal_tokens.find_identity(conn, secret, now=now, ip=ip)
            if identity is None and authentication_scope:
                identity, token_id = personal_tokens.find_identity(
                    conn, secret, now=now, ip=ip, authentication_scope=authentication_scope
                )
                if identity and request_identity.is_locked_out(context, identity):
                    identity = None
        if identity is None:
            raise UnauthorizedError("The personal token is unknown or has expired.")
        context.revision_cache.last_used.record_personal_token(token_id)
        return identity

    def _by_session(self, environ: dict[str, Any]) -> Identity:
        identity = request_identity.find_identity(self._context, environ)
        if identity is None:
            raise request_identity.make_sign_in_error(self._context)
        environ["sigservice.identity"] = identity  # for the log of what is refused
        if environ["REQUEST_METHOD"] not in SAFE_METHODS:
            check_same_origin(self._context, environ)
            token = environ.get("HTTP_X_CSRF_TOKEN", "")
            if not identity.session_hash:
                if _is_unknown_origin(environ):  # scripts name none, no page of ours asks here
                    raise _foreign()
            elif token or not is_from_script(environ):
                check_csrf(identity, token)
        return identity


class ClientGuard:
    """The client and the frontend API: an API token of their own kind (`kinds`).

    Hands the handler an Access, and leaves the revisions that hold now in the environ.
    """

    name, api = "guard", 2

    def __init__(self, context: Context, *kinds: str) -> None:
        self._context, self._kinds = context, kinds
        optional = not context.config["authentication"]["enableApiToken"]
        self.is_open = optional or context.authentication.type.is_open

    def apply(self, callback: Any, route: Any) -> Any:
        context, kinds = self._context, self._kinds
        trusted = context.trusted_proxies
        anonymous = None
        if self.is_open:
            anonymous = Access(0, "anonymous", kinds[0], DEFAULT_ENVIRONMENT, ("*",))

        def guarded(**kwargs: Any) -> Any:
            environ = request.environ
            secret = read_bearer_token(environ)
            if not secret and anonymous is not None:
                environ["sigservice.revisions"] = context.revision_cache.read_revisions()
                return callback(anonymous, **kwargs)
            if not secret and context.authentication.lacks_handler:
                raise request_identity.make_sign_in_error(context)
            if not secret:
                raise UnauthorizedError("An API token is needed in the Authorization header.")
            known = environ["sigservice.revisions"] = context.revision_cache.read_revisions()
            key = secrets.sha256(secret)
            access = context.revision_cache.find_cached_access(key, known)
            if access is None:
                with AuthenticationAttempt(context, find_client_ip(environ, trusted), key):
                    access = context.revision_cache.find_access(secret, key, known)
                    if access is None:
                        raise UnauthorizedError("The API token is unknown or has expired.")
            environ[HAS_TOKEN] = True
            if access.type not in kinds:
                names = " and ".join(kinds)
                raise NoPermissionError(f"This API takes tokens of the type {names} only.")
            return callback(access, **kwargs)

        return guarded


class PageGuard:
    """Pages: a person's session; who has none is sent to the sign-in page.

    `form_limit=bytes` and `form_fields=number` widen what a form may hold. With
    `for_scripts=True` a script may ask too, by JSON whose content does not matter.
    """

    name, api = "guard", 2

    def __init__(self, context: Context) -> None:
        self._context = context
        self.is_open = request_identity.can_identify_without_cookie(context)

    def apply(self, callback: Any, route: Any) -> Any:
        needs = route.config["needs"]
        context = self._context
        while_default_password = route.config.get("while_default_password", False)
        limit = route.config.get("form_limit", FORM_LIMIT)
        fields = route.config.get("form_fields", FORM_FIELDS)
        for_scripts = route.config.get("for_scripts", False)

        def guarded(**kwargs: Any) -> Any:
            environ = request.environ
            identity = request_identity.find_identity(context, environ)
            environ["sigservice.identity"] = identity
            if identity is None:
                return respond.redirect(context, "/sign-in" + _next(environ))
            nonce = ""
            if not identity.session_hash:
                nonce = session.read_form_nonce(context, environ)
                identity = replace(identity, csrf=secrets.derive(nonce, "form"))
            if environ["REQUEST_METHOD"] not in SAFE_METHODS:
                check_same_origin(context, environ)
                kwargs["form"] = {}
                if not (for_scripts and identity.session_hash and is_from_script(environ)):
                    form = kwargs["form"] = read_form(environ, limit, fields)
                    token = form.pop("csrf", "") or environ.get("HTTP_X_CSRF_TOKEN", "")
                    check_csrf(identity, token)
            if identity.has_default_password and not while_default_password:
                return respond.redirect(context, "/profile")
            if not identity.has_permission(needs):
                raise NoPermissionError("Your role does not allow this.")
            answer = callback(identity, **kwargs)
            if nonce:
                session.set_form_nonce(context, answer, nonce)
            return answer

        return guarded


class AuthenticationAttempt:
    """Counts refused credentials by address and refuses unseen once there were too many.

    Credentials that were good lately are never held up: senders may share an address.
    """

    def __init__(self, context: Context, ip: str, key: bytes) -> None:
        self._context, self._ip, self._key = context, make_limit_key(ip), key

    def __enter__(self) -> None:
        if self._key not in self._context.recent_credentials:
            check_failed_auth(self._context, self._ip)

    def __exit__(self, kind: type[BaseException] | None, error: Any, _trace: Any) -> None:
        if kind is None:
            self._context.recent_credentials.add(self._key)
        elif issubclass(kind, UnauthorizedError):
            self._context.recent_credentials.discard(self._key)
            with suppress(RateLimitError):  # the refusal itself is the answer
                count_failed_auth(self._context, self._ip)


def check_failed_auth(context: Context, address: str) -> None:
    """Raises RateLimitError once too many credentials from there were refused; `address` is a
    make_limit_key."""
    is_allowed, headers = context.limiter.peek("failed_auth", address)
    if not is_allowed:
        raise build_rate_limit_error(headers)


def count_failed_auth(context: Context, address: str) -> None:
    """Raises RateLimitError when that was one too many."""
    is_allowed, headers = context.limiter.consume("failed_auth", address)
    if not is_allowed:
        raise build_rate_limit_error(headers)


def read_bearer_token(environ: dict[str, Any]) -> str:
    """The secret of the Authorization header, "" without one: `Bearer <secret>` or bare."""
    text = environ.get("HTTP_AUTHORIZATION", "").strip()
    scheme, _, rest = text.partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else text


def check_same_origin(context: Context, environ: dict[str, Any]) -> None:
    """Raises ForbiddenError when the browser says that another site sends this."""
    site = environ.get("HTTP_SEC_FETCH_SITE")
    if site is not None and site not in ("same-origin", "none"):
        raise _foreign()
    # Over plain HTTP browsers say nothing else than null for a form of ours, because of our
    # Referrer-Policy; the forms' own secrets are asked for in any case.
    origin = environ.get("HTTP_ORIGIN", "null")
    if site is None and origin != "null":
        public = urlsplit(context.public_url)
        scheme = "https" if is_https(environ, context.trusted_proxies) else "http"
        ours = {f"{scheme}://{environ.get('HTTP_HOST', '')}"}
        ours |= {f"{public.scheme}://{public.netloc}"} if context.public_url else set()
        if origin not in ours:
            raise _foreign()


def is_from_script(environ: dict[str, Any]) -> bool:
    """Whether no browser page can have sent this, so that a cookie needs no form token beside it.

    A page of another site may send a form with the cookie, perhaps by an old browser that names
    no origin. Any other method and JSON it sends only after asking by OPTIONS, and then with an
    Origin. `null` is an origin too: that of a sandboxed page.
    """
    if "HTTP_ORIGIN" in environ or "HTTP_SEC_FETCH_SITE" in environ:
        return False
    content_type = environ.get("CONTENT_TYPE", "")
    return environ["REQUEST_METHOD"] != "POST" or bool(content_type and is_json(content_type))


def _is_unknown_origin(environ: dict[str, Any]) -> bool:
    return environ.get("HTTP_ORIGIN") == "null" and "HTTP_SEC_FETCH_SITE" not in environ


def check_csrf(identity: Identity, token: str) -> None:
    if not identity.csrf or not secrets.is_equal(identity.csrf, token):
        raise ForbiddenError("The form has expired or did not come from here. Load it again.")


def _foreign() -> AppError:
    return ForbiddenError("This request came from another site.")


def _next(environ: dict[str, Any]) -> str:
    """Where to go on after signing in; a submitted form is not repeated."""
    if environ["REQUEST_METHOD"] not in SAFE_METHODS or environ["PATH_INFO"] == "/":
        return ""
    path = environ["PATH_INFO"].encode("latin-1", "replace").decode("utf-8", "replace")
    query = environ.get("QUERY_STRING", "")
    return "?next=" + quote(path + (f"?{query}" if query else ""), safe="")


def make_next_path(text: str) -> str:
    """`text` if it is a path of ours, else "/": no host, backslash or control character."""
    if (
        text.startswith("/")
        and not text.startswith("//")
        and "\\" not in text
        and text.isprintable()
    ):
        return quote(text, safe="/?=&%-_.~:+,")
    return "/"
