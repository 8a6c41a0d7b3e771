"""What all responses share: base path, normal paths, headers, CORS, log and metrics, gzip.

Headers are set here and not in bottle hooks, because bottle drops headers of hooks when a handler
raises or returns an HTTPResponse.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from bottle import HTTPResponse, request

from sigservice.concurrency import wait_budget
from sigservice.concurrency.shared_body import SharedBody, compress_gzip
from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, NotFoundError, build_busy_error
from sigservice.web import cors
from sigservice.web.errors import respond_to_error, respond_to_fault
from sigservice.web.headers import Headers, build_header_sets, is_api
from sigservice.web.request_log import build_observer

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]

MIN_COMPRESSED_BYTES = 1024
MAX_QUEUE_SECONDS = 2.0  # requests that waited longer for a worker get a 503
_COMPRESSIBLE = re.compile(r"text/|application/(json|javascript|xml)|image/svg\+xml")
_SLASHES = re.compile(r"(?<!:)/{2,}")  # not those of a URL that is a part of the path


def wrap_app(context: Context, app: Wsgi) -> Wsgi:
    """The application, with the parts that all responses share. Errors outside of routes become
    responses."""
    api_headers, page_headers = build_header_sets(context.config)
    observe, base, seconds = build_observer(context), context.base, context.clock.monotonic
    max_age = str(context.config["accessControlMaxAge"])

    def wrapped(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        started_at = seconds() if observe is not None else 0.0
        environ["sigservice.context"] = context
        request.bind(environ)  # for errors before a route
        path = environ.get("PATH_INFO", "")
        status_line = "500"

        def start(status: str, headers: Headers, exc_info: Any = None) -> Any:
            nonlocal status_line
            status_line, path = status, environ["PATH_INFO"]
            if not any(name.lower() == "cache-control" for name, _ in headers):
                headers = [*headers, ("Cache-Control", "no-store")]
            headers = headers + (api_headers if is_api(path) else page_headers)
            # By now the path is normalized, and the guard may have set the revisions.
            if cors.is_cors_path(path):
                headers += cors.make_headers(context, environ, status)
            return start_response(status, headers, exc_info)

        try:
            clean_path(environ, base)
            waited = environ.get("sigservice.waited", 0.0)
            if waited > MAX_QUEUE_SECONDS and environ["PATH_INFO"] != "/health":
                raise build_busy_error()
            if environ["REQUEST_METHOD"] == "OPTIONS" and cors.is_cors_path(environ["PATH_INFO"]):
                start("204 No Content", cors.make_preflight_headers(environ, max_age))
                answer: Iterable[bytes] = []
            else:
                with wait_budget.measure_request(waited):
                    answer = app(environ, start)
        except AppError as error:
            answer = _send(respond_to_error(context, error, environ["PATH_INFO"]), environ, start)
        except Exception as error:  # noqa: BLE001  no internal detail may reach the client
            answer = _send(respond_to_fault(context, error, environ["PATH_INFO"]), environ, start)
        if observe is not None:
            observe(environ, path, int(status_line[:3]), started_at)
        return answer

    return wrapped


def compress(app: Wsgi) -> Wsgi:
    """Compresses the responses of an application, see `compress_body`."""

    def with_gzip(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        response: list[Any] = []

        def capture(status: str, headers: Headers, exc_info: Any = None) -> None:
            response[:] = [status, headers, exc_info]

        body = app(environ, capture)
        if not response:  # a generator of a hook calls `capture` when it is read
            body = [b"".join(body)]
        status, headers, exc_info = response
        if isinstance(body, list) and body:
            headers = list(headers)
            body = [compress_body(environ, headers, b"".join(body))]
        start_response(status, headers, exc_info)
        return body

    return with_gzip


def compress_body(environ: Environ, headers: Headers, data: bytes) -> bytes:
    """Compresses text of at least 1 kB with gzip if the client accepts it, and changes `headers`. A
    strong ETag doesn't change: SDKs send it back, and it identifies the revision."""
    if len(data) < MIN_COMPRESSED_BYTES:
        return data
    names = {name.lower(): text for name, text in headers}
    is_text = _COMPRESSIBLE.match(names.get("content-type", ""))
    if not is_text or "content-encoding" in names:
        return data
    if "vary" not in names:
        headers.append(("Vary", "Accept-Encoding"))
    if not accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")):
        return data
    data = data.gzipped if isinstance(data, SharedBody) else compress_gzip(data)
    headers[:] = [pair for pair in headers if pair[0].lower() != "content-length"]
    headers += [("Content-Encoding", "gzip"), ("Content-Length", str(len(data)))]
    return data


def accepts_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        coding, _, weight = part.strip().partition(";")
        if coding.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def clean_path(environ: Environ, base: str) -> None:
    """Normalizes PATH_INFO: single slashes, none at the end, base path moved to SCRIPT_NAME.

    Raises BadDataError for a path that is not UTF-8, NotFoundError outside the base path.
    """
    raw = environ.get("PATH_INFO", "") or "/"
    environ["PATH_INFO"] = raw
    try:
        text = raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        environ["PATH_INFO"] = raw.encode("ascii", "replace").decode()
        raise BadDataError("The path must be UTF-8.") from None
    if "\x00" in text:
        raise BadDataError("The path must not contain a NUL character.")
    path = _SLASHES.sub("/", raw)
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if base:
        if path != base and not path.startswith(base + "/"):
            raise NotFoundError("Page not found.")
        path = path[len(base) :] or "/"
        environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + base
    environ["PATH_INFO"] = path


def _send(answer: HTTPResponse, environ: Environ, start: StartResponse) -> list[bytes]:
    body = answer.body if isinstance(answer.body, bytes) else b""
    start(answer.status_line, [*answer.headerlist, ("Content-Length", str(len(body)))])
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]
