"""The parts that routes share: guards, requests, responses, forms, limits and security headers.

This module has the names that most routes need.
"""

import importlib
from typing import TYPE_CHECKING, Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard, ClientGuard, PageGuard, Public
from sigservice.web.respond import Page, ShownOnce
from sigservice.web.router import Router

if TYPE_CHECKING:
    from sigservice.db import Connection, Row

Json = Any  # the value that a handler returns as the body of its response
__all__ = [
    "AdminGuard", "ClientGuard", "Connection", "Context", "HTTPResponse", "Json", "Page",
    "PageGuard", "Public", "Router", "Row", "ShownOnce", "read_query", "request", "respond",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The types of the database, when a module imports them: the relay has none."""
    if name in ("Connection", "Row"):
        return vars(importlib.import_module("sigservice.db"))[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
