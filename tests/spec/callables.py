"""What the code-only options are given in the checks: functions cannot travel as JSON."""

from __future__ import annotations

import sys
from typing import Any

from bottle import request

from sigservice import authentication
from tests.waiting import take_time


def slow_route(app: Any) -> None:
    """preRouterHook: a request that takes as long as it says."""

    @app.get("/slow/<seconds:float>")
    def slow(seconds: float) -> str:
        say("came in")
        take_time(seconds)
        return "slept"


def pre_hook(app: Any) -> Any:
    """Adds routes, of which one fails, and marks every answer with the path as it came in."""
    app.get("/of-pre-hook")(lambda: "mine")
    app.get("/api/of-pre-hook/bug")(lambda: 1 / 0)
    return _marking("X-Pre-Hook")


def pre_router_hook(app: Any) -> Any:
    """The same inside: what it marks has come as far as the routes."""
    app.get("/of-pre-router-hook")(lambda: "mine")
    app.get("/docs")(lambda: "first come, first served")
    return _marking("X-Pre-Router-Hook")


def _marking(name: str) -> Any:
    def wrap(inner: Any) -> Any:
        def marked(environ: dict[str, Any], start_response: Any) -> Any:
            path, base = environ["PATH_INFO"], environ.get("SCRIPT_NAME", "")

            def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
                mark = f"{base}|{path}".replace("\n", "")  # which no header can hold
                return start_response(status, [*headers, (name, mark)], exc_info)

            return inner(environ, start)

        return marked

    return wrap


def failing_hook(app: Any) -> None:
    raise LookupError("no such\nthing")


def hook_that_returns_nonsense(app: Any) -> int:
    return 5


def event_hook(*args: Any) -> None:
    say("the event hook was called")


def custom_auth_handler(app: Any, config: Any) -> Any:
    """Names who is in a header, and has a route that opens a session."""

    @app.get("/spec-sign-in")
    def sign_in() -> Any:
        return authentication.sign_in(request.environ, {"email": "spec@b"})

    def identify(environ: dict[str, Any]) -> Any:
        address = environ.get("HTTP_X_SPEC_USER")
        return {"email": address} if address else None

    return authentication.Custom(identify=identify, path="/spec-sign-in", label="Sign in")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def logger(name: str) -> Any:
    return _Mine(name)


class _Mine:
    """A log provider of one's own."""

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
