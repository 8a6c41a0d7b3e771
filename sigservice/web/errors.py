"""One place shapes every error: JSON {id, name, message, details} or an HTML page by path."""

from __future__ import annotations

from typing import Any

from bottle import HTTPError, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, MethodNotAllowedError, NotFoundError
from sigservice.log import format_trace, new_error_id
from sigservice.web import respond
from sigservice.web.client_ip import find_client_ip
from sigservice.web.logged_path import logged_path

MAX_LOGGED_PATH = 200
_JSON_PATHS = ("/api", "/auth", "/edge", "/internal-backstage", "/health", "/ready")


def wants_json(path: str) -> bool:
    return any(path == prefix or path.startswith(prefix + "/") for prefix in _JSON_PATHS)


def body_of(error: AppError, error_id: str) -> dict[str, Any]:
    return {
        "id": error_id,
        "name": error.name,
        "message": error.message,
        "details": error.details,
        **error.extra,
    }


def shape(
    context: Context, error: AppError, path: str, bug: BaseException | None = None
) -> HTTPResponse:
    """The answer for `error` on `path`, for a 403 a line in the log that says who was refused, and
    for a 5xx one that bears the same id; a `bug` behind it goes there with its trace."""
    error_id = new_error_id()
    if error.status == 403:
        _log_refusal(context, error, path)
    if error.status >= 500:
        tell = context.unavailable.warn if bug is None else context.get_logger("errors").error
        cause = getattr(error, "sqlstate", "") or type(error).__name__
        if bug is not None:
            cause = format_trace(bug)
        tell(
            "%s %s on %s (%s): %s",
            error.status,
            error.name,
            logged_path(path)[:MAX_LOGGED_PATH],
            error_id,
            cause,
        )
    if wants_json(path):
        answer = respond.json(body_of(error, error_id), error.status)
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


def _log_refusal(context: Context, error: AppError, path: str) -> None:
    environ = request.environ
    identity = environ.get("sigservice.identity")
    context.refusals.warn(
        "%s %s on %s %s by %s from %s: %s",
        error.status,
        error.name,
        environ["REQUEST_METHOD"][:20],
        logged_path(path)[:MAX_LOGGED_PATH],
        f"{identity.username} (id {identity.user_id})" if identity else "anonymous",
        find_client_ip(environ, context.trusted_proxies) or "a unix socket",
        error.message,
    )


def unexpected(context: Context, error: BaseException, path: str) -> HTTPResponse:
    """A bug of ours: everything goes to the log, nothing but an id to the client."""
    return shape(context, AppError("Internal server error."), path, error)


class ErrorPlugin:
    """Outermost plugin of each router: turns what a handler raises into an answer."""

    name, api = "errors", 2

    def __init__(self, context: Context) -> None:
        self._context = context

    def apply(self, callback: Any, route: Any) -> Any:
        context = self._context

        def shaped(*args: Any, **kwargs: Any) -> Any:
            try:
                return callback(*args, **kwargs)
            except HTTPResponse:
                raise
            except AppError as error:
                return shape(context, error, request.environ["PATH_INFO"])
            except Exception as error:  # noqa: BLE001  the one place that catches all
                return unexpected(context, error, request.environ["PATH_INFO"])

        return shaped


def router_error(context: Context, error: HTTPError, environ: dict[str, Any]) -> HTTPResponse:
    """What bottle's router refuses: 404, and 405 with the methods that there are."""
    path = environ["PATH_INFO"]
    if error.status_code == 404:
        return shape(context, NotFoundError("Page not found."), path)
    if error.status_code == 405:
        allowed = set(error.get_header("Allow", "").split(",")) - {"", "PROXY"}
        if "GET" in allowed:
            allowed.add("HEAD")
        methods = ", ".join(sorted(allowed))
        refused = MethodNotAllowedError(
            f"This address does not take {environ['REQUEST_METHOD'][:20]!r}; it takes {methods}.",
            headers={"Allow": methods},
        )
        return shape(context, refused, path)
    return unexpected(context, error.exception or error, path)
