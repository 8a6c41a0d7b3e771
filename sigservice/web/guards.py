"""Guards authenticate and authorize a request. Each is a plugin of a router. It passes the caller
to the handler, after the context: an Identity or, for SDKs, an Access. `Public` passes nothing.

A route names the permission that it needs: `needs=ADMIN`. A test requires every route to have a
guard and a permission. `is_open` is true if requests with neither token nor cookie are allowed;
otherwise the listener doesn't read a large body of such a request. `needs_credentials=True` on a
route has the same effect where the handler checks the token.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from bottle import HTTPError, request

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.delivery.revision_cache import Access
from sigservice.errors import (
    AppError,
    ForbiddenError,
    NoPermissionError,
    PasswordChangeRequired,
    RateLimitError,
    UnauthorizedError,
)
from sigservice.services.identity import ADMIN_TOKEN_ID, DEFAULT_ENVIRONMENT, PERMISSIONS, Identity
from sigservice.web import respond
from sigservice.web.body import FORM_FIELDS, FORM_LIMIT, is_json, read_form
from sigservice.web.client_ip import find_client_ip, is_https, make_limit_key
from sigservice.web.errors import log_refusal
from sigservice.web.late import (
    api_tokens,
    once_pages,
    personal_tokens,
    project_choice,
    request_identity,
    session,
)
from sigservice.web.limits import build_rate_limit_error, consume
from sigservice.web.request_log import HAS_TOKEN

SAFE_METHODS = ("GET", "HEAD")
REVISIONS = "sigservice.revisions"  # in the environ, for handlers of ClientGuard and CORS
_STALE_FORM = "This form has expired, so nothing has changed. Check it and send it again."
ARRIVED = "sigservice.arrived"  # set by the listener: time.monotonic() of the last byte


def read_bearer_token(environ: dict[str, Any]) -> str:
    """The secret of the Authorization header, with or without `Bearer`; "" if there is none. Only
    spaces and tabs surround it, so that a token has one spelling for proxies that route by it."""
    text: str = environ.get("HTTP_AUTHORIZATION", "").strip(" \t")
    scheme, _, rest = text.partition(" ")
    return rest.strip(" \t") if scheme.lower() == "bearer" else text


def read_ofrep_token(environ: dict[str, Any]) -> str:
    """The bearer token or, without one, the secret of X-API-Key, which OFREP allows."""
    return read_bearer_token(environ) or str(environ.get("HTTP_X_API_KEY", "")).strip(" \t")


class Public:
    """No authentication; the handler gets no identity."""

    name, api, is_open = "guard", 2, True

    def __init__(self, context: Context) -> None:
        pass

    def apply(self, callback: Any, route: Any) -> Any:
        return callback


class AdminGuard:
    """The admin JSON API: an admin token, a personal token, or a session with CSRF protection.
    Handlers return the JSON of a response with the status 200, None for an empty one, a Created, or
    an HTTPResponse."""

    name, api, returns_json = "guard", 2, True

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
                        "Set a new password first: the default password is public."
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
            raise NoPermissionError("This token can't be used for the admin API.")
        context.last_used.record_api_token(token["id"])
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
        context.last_used.record_personal_token(token_id)
        return identity

    def _by_session(self, environ: dict[str, Any]) -> Identity:
        identity = request_identity.find_identity(self._context, environ)
        if identity is None:
            raise request_identity.make_sign_in_error(self._context)
        environ["sigservice.identity"] = identity  # for the log, also of rejected requests
        if environ["REQUEST_METHOD"] not in SAFE_METHODS:
            check_same_origin(self._context, environ)
            token = environ.get("HTTP_X_CSRF_TOKEN", "")
            if not identity.session_hash:
                if _is_unknown_origin(environ):  # neither a script nor a page of this service
                    raise _make_cross_site_error()
            elif token or not is_from_script(environ):
                check_csrf(identity, token)
        return identity


class ClientGuard:
    """The client and the frontend API: an API token of one of `types`.

    Passes an Access to the handler, and the current revisions in environ[REVISIONS].
    """

    name, api = "guard", 2

    read_token = staticmethod(read_bearer_token)

    def __init__(self, context: Context, *types: str) -> None:
        self._context, self._types = context, types
        is_optional = not context.config["authentication"]["enableApiToken"]
        self.is_open = is_optional or context.authentication.type.is_open

    def apply(self, callback: Any, route: Any) -> Any:
        context, types, read_token = self._context, self._types, self.read_token
        trusted = context.trusted_proxies
        anonymous = None
        if self.is_open:
            anonymous = Access(0, "anonymous", types[0], DEFAULT_ENVIRONMENT, ("*",))

        def guarded(**kwargs: Any) -> Any:
            environ = request.environ
            secret = read_token(environ)
            if not secret and anonymous is not None:
                environ[REVISIONS] = context.revision_cache.read_revisions(environ.get(ARRIVED))
                return callback(anonymous, **kwargs)
            if not secret and context.authentication.lacks_handler:
                raise request_identity.make_sign_in_error(context)
            if not secret:
                raise UnauthorizedError("Send an API token in the Authorization header.")
            revisions = context.revision_cache.read_revisions(environ.get(ARRIVED))
            environ[REVISIONS] = revisions
            key = secrets.sha256(secret)
            access = context.revision_cache.find_cached_access(key, revisions)
            if access is None:
                with AuthenticationAttempt(context, find_client_ip(environ, trusted), key):
                    access = context.revision_cache.find_access(secret, key, revisions)
                    if access is None:
                        raise UnauthorizedError("The API token is unknown or has expired.")
            environ[HAS_TOKEN] = True
            if access.type not in types:
                names = " or ".join(types)
                raise NoPermissionError(f"The token must be of type {names}.")
            return callback(access, **kwargs)

        return guarded


class OfrepGuard(ClientGuard):
    """OFREP: the token may also be in X-API-Key."""

    read_token = staticmethod(read_ofrep_token)


class PageGuard:
    """Pages: a session. Users without one are redirected to the sign-in page. A handler returns a
    Page, a ShownOnce, or the path to which the response redirects.

    `form_limit=bytes` and `form_fields=number` raise the limits of a form. With `for_scripts=True`
    scripts may send the request too, with any JSON body or none. An old browser could send an empty
    form of another site, so the effect of one must be harmless. The request has no cookie unless
    the browser is older than SameSite.
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
                return respond.redirect(context, "/sign-in" + _make_next_query(environ))
            nonce = ""
            if not identity.session_hash:
                nonce = session.read_form_nonce(context, environ)
                identity = replace(identity, csrf=secrets.derive(nonce, "form"))
            if environ["REQUEST_METHOD"] not in SAFE_METHODS:
                check_same_origin(context, environ)
                kwargs["form"] = {}
                is_script = for_scripts and is_from_script(environ, may_be_empty=True)
                if not (is_script and identity.session_hash):
                    form = kwargs["form"] = read_form(environ, limit, fields)
                    token = form.pop("csrf", "") or environ.get("HTTP_X_CSRF_TOKEN", "")
                    try:
                        check_csrf(identity, token)
                    except ForbiddenError as error:
                        if not hasattr(callback, "shows_refusal"):
                            raise
                        log_refusal(context, error, environ["PATH_INFO"])
                        kwargs["refusal"] = ForbiddenError(_STALE_FORM)
            if identity.has_default_password and not while_default_password:
                return respond.redirect(context, "/profile")
            if not identity.has_permission(needs):
                role = next(r for r in ("Viewer", "Editor", "Admin") if needs in PERMISSIONS[r])
                raise NoPermissionError(
                    f"You don't have permission to do this. Ask an admin for the {role} role."
                )
            project_choice.apply_choice(context, environ)
            try:
                answer = callback(identity, **kwargs)
            except respond.Question as question:
                answer = question.page
            if isinstance(answer, respond.ShownOnce):
                page, back = answer
                body = respond.page(context, page.template, identity, **page.values).body
                answer = once_pages.store(context, identity, body, back)
            if isinstance(answer, str):
                answer = respond.redirect(context, answer)
            elif isinstance(answer, respond.Page):
                if route.notices and environ["REQUEST_METHOD"] in SAFE_METHODS:
                    answer.values.setdefault("notice", respond.find_notice(route.notices))
                answer.values["choices_of_projects"] = project_choice.list_choices(context, environ)
                answer = respond.page(context, answer.template, identity, **answer.values)
            if nonce:
                session.set_form_nonce(context, answer, nonce)
            return answer

        return guarded


class AuthenticationAttempt:
    """Counts failed attempts by address; above the limit, further ones are rejected unchecked.
    Recently authenticated credentials aren't limited, because callers may share an address.
    """

    def __init__(self, context: Context, ip: str, key: bytes) -> None:
        self._context, self._ip, self._key = context, make_limit_key(ip), key

    def __enter__(self) -> None:
        if self._key not in self._context.recent_credentials:
            check_failed_auth(self._context, self._ip)

    def __exit__(self, error_type: type[BaseException] | None, *_error: Any) -> None:
        if error_type is None:
            self._context.recent_credentials.add(self._key)
        elif issubclass(error_type, UnauthorizedError):
            self._context.recent_credentials.discard(self._key)
            with suppress(RateLimitError):  # the answer is the error that was raised
                count_failed_auth(self._context, self._ip)


def check_failed_auth(context: Context, address: str) -> None:
    """Raises RateLimitError after too many failures; `address` is from make_limit_key."""
    is_allowed, headers = context.limiter.peek("failed_auth", address)
    if not is_allowed:
        raise build_rate_limit_error(headers)


def count_failed_auth(context: Context, address: str) -> None:
    """Raises RateLimitError above the limit."""
    consume(context, "failed_auth", address)


def check_same_origin(context: Context, environ: dict[str, Any]) -> None:
    """Raises ForbiddenError if the browser reports that another site sent the request."""
    site = environ.get("HTTP_SEC_FETCH_SITE")
    if site is not None and site not in ("same-origin", "none"):
        raise _make_cross_site_error()
    # Over plain HTTP browsers send null for the forms of this service too, because of its
    # Referrer-Policy. The CSRF tokens are checked in any case.
    origin = environ.get("HTTP_ORIGIN", "null")
    if site is None and origin != "null":
        public = urlsplit(context.public_url)
        scheme = "https" if is_https(environ, context.trusted_proxies) else "http"
        own_origins = {f"{scheme}://{environ.get('HTTP_HOST', '')}"}
        own_origins |= {f"{public.scheme}://{public.netloc}"} if context.public_url else set()
        if origin not in own_origins:
            raise _make_cross_site_error()


def is_from_script(environ: dict[str, Any], *, may_be_empty: bool = False) -> bool:
    """Whether a page in a browser can't have sent this request, so that the cookie needs no CSRF
    token.

    A page of another site can make a browser send a form with the cookie, and old browsers send no
    Origin. Before another method or JSON they send a preflight, and then an Origin. `null` is the
    origin of a sandboxed page. With `may_be_empty` a POST without body and form token counts too.
    """
    if "HTTP_ORIGIN" in environ or "HTTP_SEC_FETCH_SITE" in environ:
        return False
    is_empty = environ.get("CONTENT_LENGTH", "") in ("", "0")
    if may_be_empty and is_empty and "HTTP_X_CSRF_TOKEN" not in environ:
        return True
    content_type = environ.get("CONTENT_TYPE", "")
    return environ["REQUEST_METHOD"] != "POST" or bool(content_type and is_json(content_type))


def _is_unknown_origin(environ: dict[str, Any]) -> bool:
    return environ.get("HTTP_ORIGIN") == "null" and "HTTP_SEC_FETCH_SITE" not in environ


def check_csrf(identity: Identity, token: str) -> None:
    """Raises ForbiddenError unless the token is the CSRF token of the session."""
    if not identity.csrf or not secrets.is_equal(identity.csrf, token):
        raise ForbiddenError("This form has expired. Reload the page and try again.")


def _make_cross_site_error() -> AppError:
    return ForbiddenError("This request came from another site.")


def _make_next_query(environ: dict[str, Any]) -> str:
    """The query with the path to redirect to after sign-in: for a submitted form, that of its page,
    if it has the same path. After a sign-out there is none."""
    path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    if path == "/logout":  # of another tab; not to the provider, which would sign in again
        return "?done=signed-out"
    route = environ["bottle.route"]
    try:
        page, _ = environ["sigservice.dispatcher"].match(environ | {"REQUEST_METHOD": "GET"})
    except HTTPError:
        return ""
    if page.rule != route.rule or path == "/":
        return ""
    return "?next=" + quote(path + (f"?{query}" if query else ""), safe="")


def make_next_path(text: str) -> str:
    """`text` if it is a path without host, backslash and control characters, else "/"."""
    if (
        text.startswith("/")
        and not text.startswith("//")
        and "\\" not in text
        and text.isprintable()
    ):
        return quote(text, safe="/?=&%-_.~:+,")
    return "/"
