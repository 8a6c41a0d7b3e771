"""Makes the response to every error: JSON {id, name, message, details}, the shape of OFREP, or a
page, by path.
"""

from contextlib import suppress
from typing import Any

from bottle import HTTPError, HTTPResponse, request

from sigservice.context import Context
from sigservice.crypto.hidden_secrets import hide_secrets
from sigservice.errors import AppError, MethodNotAllowedError, NotFoundError, RateLimitError
from sigservice.log import format_trace, new_error_id
from sigservice.web import respond
from sigservice.web.client_ip import find_client_ip
from sigservice.web.late import request_identity
from sigservice.web.ofrep_errors import build_ofrep_body, is_ofrep

MAX_LOGGED_PATH = 200
_JSON_PATHS = ("/api", "/auth", "/edge", "/internal-backstage", "/health", "/ready")
_PAGES = ("/auth/oidc", "/auth/oidc/callback", "/auth/oidc/signed-out")


def wants_json(path: str) -> bool:
    return path not in _PAGES and any(
        path == prefix or path.startswith(prefix + "/") for prefix in _JSON_PATHS
    )


def build_body(error: AppError, error_id: str) -> dict[str, Any]:
    return {
        "id": error_id,
        "name": error.name,
        "message": error.message,
        "details": error.details,
        **error.extra,
    }


def respond_to_error(
    context: Context, error: AppError, path: str, fault: BaseException | None = None
) -> HTTPResponse:
    """The response to `error` on `path`. A 403 is logged with the caller, a 5xx with the error ID,
    and an unexpected error (`fault`) with its traceback."""
    error_id = new_error_id()
    if error.status == 403:
        log_refusal(context, error, path)
    if error.status >= 500 and not isinstance(error, RateLimitError):
        log = context.unavailable.warn if fault is None else context.get_logger("errors").error
        cause = getattr(error, "sqlstate", "") or type(error).__name__
        if fault is not None:
            cause = format_trace(fault)
        log(
            "%s %s on %s (%s): %s",
            error.status,
            error.name,
            hide_secrets(path)[:MAX_LOGGED_PATH],
            error_id,
            cause,
        )
    if is_ofrep(path):
        answer = respond.json(build_ofrep_body(error, path, error_id), error.status)
    elif wants_json(path) or not context.has_pages:
        answer = respond.json(build_body(error, error_id), error.status)
    else:
        answer = respond.page(
            context,
            "error",
            request.environ.get("sigservice.identity"),
            error.status,
            title=error.message,
            error=error,
            error_id=error_id,
        )
    for name, text in error.headers.items():
        answer.set_header(name, text)
    return answer


def log_refusal(context: Context, error: AppError, path: str) -> None:
    """Logs a 403 with the caller."""
    environ = request.environ
    identity = environ.get("sigservice.identity")
    context.refusals.warn(
        "%s %s on %s %s by %s from %s: %s",
        error.status,
        error.name,
        environ["REQUEST_METHOD"][:20],
        hide_secrets(path)[:MAX_LOGGED_PATH],
        f"{identity.username} (id {identity.user_id})" if identity else "anonymous",
        find_client_ip(environ, context.trusted_proxies) or "a unix socket",
        error.message,
    )


def respond_to_fault(context: Context, error: BaseException, path: str) -> HTTPResponse:
    """The response to an unexpected error: the client gets only the error ID, the log has all
    details."""
    return respond_to_error(context, AppError("Internal server error."), path, error)


class ErrorPlugin:
    """The outermost plugin of each router: responds to exceptions of handlers."""

    name, api = "errors", 2

    def __init__(self, context: Context) -> None:
        self._context = context

    def apply(self, callback: Any, route: Any) -> Any:
        context = self._context

        def with_errors(*args: Any, **kwargs: Any) -> Any:
            try:
                return callback(*args, **kwargs)
            except HTTPResponse:
                raise
            except AppError as error:
                return respond_to_error(context, error, request.environ["PATH_INFO"])
            except Exception as error:  # noqa: BLE001  handlers may raise anything
                return respond_to_fault(context, error, request.environ["PATH_INFO"])

        return with_errors


def handle_router_error(
    context: Context, error: HTTPError, environ: dict[str, Any]
) -> HTTPResponse:
    """The response to errors of bottle's router: 404, and 405 with the allowed methods."""
    path = environ["PATH_INFO"]
    if context.has_pages and not wants_json(path):
        with suppress(AppError, HTTPResponse):  # no guard has run; the page has the user's menu
            environ["sigservice.identity"] = request_identity.find_identity(context, environ)
    if error.status_code == 404:
        return respond_to_error(context, NotFoundError("Page not found."), path)
    if error.status_code == 405:
        allowed = set(error.get_header("Allow", "").split(",")) - {"", "PROXY", "OPTIONS"}
        if "GET" in allowed:
            allowed.add("HEAD")
        methods = ", ".join(sorted(allowed))
        not_allowed = MethodNotAllowedError(
            f"Method {environ['REQUEST_METHOD'][:20]!r} is not allowed here, only {methods}.",
            headers={"Allow": methods},
        )
        return respond_to_error(context, not_allowed, path)
    return respond_to_fault(context, error.exception or error, path)
