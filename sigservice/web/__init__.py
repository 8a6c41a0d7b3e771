"""The parts that routes share: guards, requests, responses, forms, limits and security headers.

This module has the names that most routes need.
"""

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db import Connection, Row
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard, ClientGuard, PageGuard, Public
from sigservice.web.respond import Page, ShownOnce
from sigservice.web.router import Router

Json = Any  # the value that a handler returns as the body of its response
__all__ = [
    "AdminGuard", "ClientGuard", "Connection", "Context", "HTTPResponse", "Json", "Page",
    "PageGuard", "Public", "Router", "Row", "ShownOnce", "read_query", "request", "respond",
]  # fmt: skip
