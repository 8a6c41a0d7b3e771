"""The API's description as OpenAPI, open for tools, and a page that shows it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.services.identity import VIEW, Identity
from sigservice.shared_body import SharedBody
from sigservice.web import openapi, respond
from sigservice.web.area import new_area
from sigservice.web.doors import OpenDoor, PageDoor
from sigservice.web.links import own_url

MAX_ADDRESSES = 20


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    pages = new_area(context, PageDoor(context))

    bodies: dict[str, SharedBody] = {}

    @cache
    def document() -> dict[str, Any]:
        """Of the whole service: the app that answers is the one all areas were merged into."""
        return openapi.document(request.environ["bottle.app"].routes, context.cookie_name)

    @area.get("/docs/openapi.json")
    def read() -> HTTPResponse:
        url = own_url(context, request.environ)
        if url not in bodies and len(bodies) >= MAX_ADDRESSES:  # clients can invent addresses
            url = context.prefix or "/"
        if url not in bodies:
            described = document() | {"servers": [{"url": url}]}
            bodies[url] = SharedBody(msgspec.json.encode(described))
        return HTTPResponse(bodies[url], 200, {"Content-Type": respond.JSON})

    @pages.get("/docs", needs=VIEW)
    def show(identity: Identity) -> HTTPResponse:
        described = document()
        by_tag: dict[str, list[dict[str, Any]]] = {}
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                shown = {"method": method.upper(), "path": path, **_shown(operation)}
                by_tag.setdefault(operation["tags"][0], []).append(shown)
        schemas = {
            name: msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
            for name, schema in sorted(described["components"]["schemas"].items())
        }
        return respond.page(
            context,
            "api_description/show",
            identity,
            title="API",
            groups=sorted(by_tag.items()),
            schemas=schemas,
        )

    area.merge(pages)
    return area


def _shown(operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref", "")
    return {
        "needs": operation.get("description", ""),
        "body": reference.rpartition("/")[2],
        "is_list": "items" in schema,
    }
