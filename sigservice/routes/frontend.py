"""The frontend API: flags evaluated here, for SDKs in browsers and apps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import NotServedError
from sigservice.flags.evaluation_context import from_query, make_context
from sigservice.flags.state import Access
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.client_ip import client_ip
from sigservice.web.doors import SAFE_METHODS, ClientDoor
from sigservice.web.etag import matches


class ContextBody(msgspec.Struct):
    """Everything that the context names beside its own fields is a property."""

    context: dict[str, Any] | None = None


def build(context: Context) -> Bottle:
    area = new_area(context, ClientDoor(context, "frontend"))
    trusted = context.trusted

    def evaluated(access: Access, given: Mapping[str, Any], path: str = "") -> HTTPResponse:
        environ = request.environ
        meant = make_context(
            given,
            environment=access.environment,
            remote_address=client_ip(environ, trusted),
            path=path,
        )
        revision = environ["sigservice.revisions"].of(access.environment)
        body = context.frontend_bodies.get(access, revision, meant)
        headers = {"ETag": body.etag, "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
        if environ["REQUEST_METHOD"] in SAFE_METHODS and matches(
            environ.get("HTTP_IF_NONE_MATCH", ""), body.etag
        ):
            return HTTPResponse(b"", 304, headers)
        return HTTPResponse(body.text, 200, headers)

    @area.get("/api/frontend")
    def by_query(access: Access) -> HTTPResponse:
        return evaluated(access, from_query(read_query(request.environ)))

    @area.post("/api/frontend", takes=ContextBody)
    def by_body(access: Access, body: ContextBody) -> HTTPResponse:
        return evaluated(access, body.context or {}, "context.")

    @area.get("/api/frontend/client/features")
    @area.get("/api/frontend/health")
    @area.get("/api/frontend/client/health")
    @area.get("/api/frontend/internal-backstage/prometheus")
    @area.get("/api/frontend/client/internal-backstage/prometheus")
    def not_served(access: Access) -> HTTPResponse:
        raise NotServedError("The frontend API has no such resource.", headers={"Allow": "OPTIONS"})

    return area
