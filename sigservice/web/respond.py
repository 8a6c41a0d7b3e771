"""Answers: JSON, a page, a redirect. Handlers return what these make and set no header else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.services.identity import Identity
from sigservice.web.body import read_query
from sigservice.web.links import make_own_url

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
_encode = msgspec.json.Encoder().encode


def json(value: Any, status: int = 200, **headers: str) -> HTTPResponse:
    """`location="…"` style keywords become headers, `_` turned into `-`."""
    fields = {name.replace("_", "-").title(): text for name, text in headers.items()}
    return HTTPResponse(_encode(value), status, {"Content-Type": JSON, **fields})


def empty(status: int = 200) -> HTTPResponse:
    return HTTPResponse(b"", status, {"Content-Type": JSON})


def text(value: str, kind: str = "text/plain") -> HTTPResponse:
    return HTTPResponse(value.encode(), 200, {"Content-Type": f"{kind}; charset=utf-8"})


def page(
    context: Context, template: str, identity: Identity | None, status: int = 200, **values: Any
) -> HTTPResponse:
    """A page in the layout. `title` is needed; `notice` is a line shown above the content."""
    here = request.environ["PATH_INFO"]
    shared = {
        "notice": "",
        "problems": [],
        "live": False,
        "identity": identity,
        "authentication": context.authentication.type,
        "csrf": identity.csrf if identity else "",
        "is_current": lambda path: here == path or (path != "/" and here.startswith(path)),
        "own_url": lambda: make_own_url(context, request.environ),
        "ui": context.config["ui"],
        "newer_version": context.version_status.newer_version if identity else "",
    }
    text = context.render.render(template, **(shared | values))
    return HTTPResponse(text.encode(), status, {"Content-Type": HTML})


def redirect(context: Context, path: str) -> HTTPResponse:
    """303 to one of our own paths; never made from the Host header."""
    return HTTPResponse(b"", 303, {"Location": context.prefix + path, "Content-Type": HTML})


def find_notice(notices: Mapping[str, str]) -> str:
    """The message of `notices` that the query parameter `done` of a redirect names, or ""."""
    return notices.get(read_query(request.environ).get("done", ""), "")
