"""Functions for the code-only options in the checks, because JSON can't contain them."""

from __future__ import annotations

import sys
from typing import Any

from bottle import request

from sigservice import authentication
from tests.waiting import take_time


def slow_route(app: Any) -> None:
    """preRouterHook with a route that takes as long as its path says."""

    @app.get("/slow/<seconds:float>")
    def slow(seconds: float) -> str:
        write_line("came in")
        take_time(seconds)
        return "slept"


def pre_hook(app: Any) -> Any:
    """Adds routes, of which one fails, and marks every response with the path of the request."""
    app.get("/of-pre-hook")(lambda: "mine")
    app.get("/api/of-pre-hook/bug")(lambda: 1 / 0)
    return _make_marker("X-Pre-Hook")


def pre_router_hook(app: Any) -> Any:
    """The same for requests that reach the routes."""
    app.get("/of-pre-router-hook")(lambda: "mine")
    app.get("/docs")(lambda: "first come, first served")
    return _make_marker("X-Pre-Router-Hook")


def _make_marker(name: str) -> Any:
    def wrap(inner: Any) -> Any:
        def marked(environ: dict[str, Any], start_response: Any) -> Any:
            path, base = environ["PATH_INFO"], environ.get("SCRIPT_NAME", "")

            def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
                mark = f"{base}|{path}".replace("\n", "")  # which a header can't contain
                return start_response(status, [*headers, (name, mark)], exc_info)

            return inner(environ, start)

        return marked

    return wrap


def failing_hook(app: Any) -> None:
    raise LookupError("no such\nthing")


def hook_that_returns_nonsense(app: Any) -> int:
    return 5


def event_hook(*args: Any) -> None:
    write_line("the event hook was called")


def custom_auth_handler(app: Any, config: Any) -> Any:
    """Identifies the user by a header, and has a route that creates a session."""

    @app.get("/spec-sign-in")
    def sign_in() -> Any:
        return authentication.sign_in(request.environ, {"email": "spec@b"})

    def identify(environ: dict[str, Any]) -> Any:
        address = environ.get("HTTP_X_SPEC_USER")
        return {"email": address} if address else None

    return authentication.Custom(identify=identify, path="/spec-sign-in", label="Sign in")


def write_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def logger(name: str) -> Any:
    return _CustomLogger(name)


class _CustomLogger:
    """A custom log provider."""

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, text: str, *args: Any) -> None:
        self._write("debug", text, args)

    def info(self, text: str, *args: Any) -> None:
        self._write("info", text, args)

    def warn(self, text: str, *args: Any) -> None:
        self._write("warn", text, args)

    def error(self, text: str, *args: Any) -> None:
        self._write("error", text, args)

    def _write(self, level: str, text: str, args: tuple[Any, ...]) -> None:
        sys.stderr.write(f"mine: {level} of {self._name}: {text % args if args else text}\n")
        sys.stderr.flush()
