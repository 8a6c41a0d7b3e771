"""The OpenAPI description, which is public for tools, and the page that shows it."""

import re
from typing import Any

import msgspec

from sigservice.concurrency.shared_body import SharedBody
from sigservice.context import Context
from sigservice.errors import NotFoundError
from sigservice.services.identity import VIEW, Identity
from sigservice.web import HTTPResponse, Page, PageGuard, Public, Router, openapi, request, respond
from sigservice.web.links import make_own_url

PATH = "/docs"
MAX_URLS = 20

router = Router(Public)
page_router = Router(PageGuard)


@router.get("/docs/openapi.json")
def get_api_description(context: Context) -> HTTPResponse:
    """This API as OpenAPI 3.1."""
    body = _read_document(context, make_own_url(context, request.environ))
    return HTTPResponse(body, 200, {"Content-Type": respond.JSON})


@page_router.get(PATH, needs=VIEW)
def show_api_description(context: Context, identity: Identity) -> Page:
    """This API as a page."""
    document = msgspec.json.decode(_read_document(context, make_own_url(context, request.environ)))
    by_tag: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            row = {"method": method.upper(), "path": path, **_summarize(operation)}
            by_tag.setdefault(operation["tags"][0], []).append(row)
    return Page(
        "system/api_description/show",
        title="API",
        groups=sorted(by_tag.items()),
    )


@page_router.get(f"{PATH}/bodies/<name>", needs=VIEW)
def show_request_body(context: Context, identity: Identity, name: str) -> Page:
    """The body of a route as a page, with the schemas that it refers to."""
    document = msgspec.json.decode(_read_document(context, make_own_url(context, request.environ)))
    schemas, names = document["components"]["schemas"], [name]
    if name not in schemas:
        raise NotFoundError(f"Request body {name} not found.")
    texts = {}
    for each in names:  # which grows
        text = msgspec.json.format(msgspec.json.encode(schemas[each]), indent=2).decode()
        texts[each] = text
        references = dict.fromkeys(re.findall(r'"#/components/schemas/(\w+)"', text))
        names += [other for other in references if other not in names]
    return Page(
        "system/api_description/body",
        title=f"Request body {name}",
        breadcrumbs=[("API", PATH)],
        schemas=texts,
    )


def _read_document(context: Context, url: str) -> SharedBody:
    """The description of all routes for callers at `url`, cached."""
    documents = context.api_documents
    if url not in documents and len(documents) >= MAX_URLS:  # clients can send any Host header
        url = context.prefix or "/"
    if url not in documents:
        routes = request.environ["sigservice.dispatcher"].list_routes()
        document = openapi.build_document(routes, context.cookie_name)
        document["servers"] = [{"url": url}]
        documents[url] = SharedBody(msgspec.json.encode(document))
    return documents[url]


def _summarize(operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref", "")
    return {
        "summary": operation["summary"],
        "role": operation.get("description", ""),
        "body": reference.rpartition("/")[2],
        "is_list": "items" in schema,
    }
