"""WSGI wrappers around the routes: base path, clean paths, headers, log and metrics, gzip.

Headers are set here and not in bottle hooks: bottle drops what a hook has set when a handler
raises or returns an HTTPResponse.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, NotFoundError, UnavailableError
from sigservice.shared_body import SharedBody
from sigservice.web.errors import shape, unexpected
from sigservice.web.headers import header_sets, is_api
from sigservice.web.request_log import observer

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]

COMPRESS_FROM = 1024
QUEUE_SECONDS = 2.0  # who has waited longer for a worker is told to come again
_COMPRESSIBLE = re.compile(r"text/|application/(json|javascript|xml)|image/svg\+xml")
_SLASHES = re.compile(r"/{2,}")


def edge(context: Context, app: Wsgi) -> Wsgi:
    """Everything that each answer shares, errors of the routes' frame included."""
    api_headers, page_headers = header_sets(context.config)
    observe, base, seconds = observer(context), context.base, context.clock.monotonic

    def edged(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        began = seconds() if observe is not None else 0.0
        environ["sigservice.context"] = context
        request.bind(environ)  # errors of this frame are shaped before bottle has seen the request
        asked = environ.get("PATH_INFO", "")
        status_line = "500"

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            nonlocal status_line
            status_line = status
            extra = api_headers if is_api(environ["PATH_INFO"]) else page_headers
            if not any(name.lower() == "cache-control" for name, _ in headers):
                headers = [*headers, ("Cache-Control", "no-store")]
            return start_response(status, headers + extra, exc_info)

        try:
            clean_path(environ, base)
            if (
                environ.get("sigservice.waited", 0) > QUEUE_SECONDS
                and environ["PATH_INFO"] != "/health"
            ):
                raise UnavailableError("The service is busy. Try again.")
            answer = app(environ, start)
        except AppError as error:
            answer = _send(shape(context, error, environ["PATH_INFO"]), environ, start)
        except Exception as error:  # noqa: BLE001  nothing internal may reach the client
            answer = _send(unexpected(context, error, environ["PATH_INFO"]), environ, start)
        if observe is not None:
            observe(environ, asked, int(status_line[:3]), began)
        return answer

    return edged


def compress(app: Wsgi) -> Wsgi:
    """gzip for clients that take it, from 1 kB on, for text. A strong ETag stays as it is: SDKs
    echo it and it names the revision, not the bytes."""

    def compressed(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        held: list[Any] = []

        def hold(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            held[:] = [status, headers, exc_info]

        body = app(environ, hold)
        if not held:  # a generator of a hook's: it calls back when it is read
            body = [b"".join(body)]
        status, headers, exc_info = held
        names = {name.lower(): text for name, text in headers}
        if isinstance(body, list) and _COMPRESSIBLE.match(names.get("content-type", "")):
            data = body[0] if len(body) == 1 else b"".join(body)
            if len(data) >= COMPRESS_FROM and "content-encoding" not in names:
                if "vary" not in names:
                    headers = [*headers, ("Vary", "Accept-Encoding")]
                if takes_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")):
                    if isinstance(data, SharedBody):
                        data = data.gzipped
                    else:
                        data = gzip.compress(data, 5, mtime=0)
                    headers = [pair for pair in headers if pair[0].lower() != "content-length"]
                    headers += [("Content-Encoding", "gzip"), ("Content-Length", str(len(data)))]
                body = [data]
        start_response(status, headers, exc_info)
        return body

    return compressed


def takes_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        coding, _, weight = part.strip().partition(";")
        if coding.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def clean_path(environ: Environ, base: str) -> None:
    """One slash where there are several, none at the end, the base path in SCRIPT_NAME.

    Raises BadDataError for a path that is no UTF-8 text, NotFoundError outside the base path.
    """
    raw = environ.get("PATH_INFO", "") or "/"
    environ["PATH_INFO"] = raw
    try:
        text = raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        environ["PATH_INFO"] = raw.encode("ascii", "replace").decode()
        raise BadDataError("The path is not UTF-8.") from None
    if "\x00" in text:
        raise BadDataError("The path holds a NUL character.")
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
