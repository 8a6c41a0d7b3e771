"""The OpenAPI 3.1 description of the API, generated from routes, handlers and body structs."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from sigservice.version import __version__

_API = re.compile(r"/(api|auth|edge|health|ready|internal-backstage|ofrep)\b")
_PARAMETER = re.compile(r"<(\w+)(?::(\w+))?>")
_REF = "#/components/schemas/{name}"
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "AdminGuard": [{"token": []}, {"session": [], "csrf": []}],
    "ClientGuard": [{"token": []}],
    "OfrepGuard": [{"token": []}, {"apiKey": []}],
}
_ROLES = {"VIEW": "Viewer", "EDIT": "Editor", "ADMIN": "Admin"}
_ACRONYMS = {word.lower(): word for word in ("API", "CORS", "ID", "IP", "SDK", "UI", "URL")}
_OFREP_ERROR = {
    "type": "object",
    "required": ["errorCode", "errorDetails"],
    "properties": {name: {"type": "string"} for name in ("key", "errorCode", "errorDetails")},
}
_ERROR = {
    "type": "object",
    "required": ["id", "name", "message", "details"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "name": {"type": "string"},
        "message": {"type": "string"},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message"],
                "properties": {"message": {"type": "string"}, "path": {"type": "string"}},
            },
        },
    },
}


def build_document(routes: Iterable[Any], cookie_name: str) -> dict[str, Any]:
    """Describes all JSON routes, without a server; pages aren't part of the API."""
    api_routes = [route for route in routes if _API.match(route.rule)]
    bodies = [route.config["takes"] for route in api_routes if route.config.get("takes")]
    schemas, components = msgspec.json.schema_components(bodies, ref_template=_REF)
    by_route = dict(zip([id(r) for r in api_routes if r.config.get("takes")], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(api_routes, key=lambda route: (route.rule, route.method)):
        operations = paths.setdefault(_PARAMETER.sub(r"{\1}", route.rule), {})
        operations[route.method.lower()] = _describe_operation(route, by_route.get(id(route)))
    return {
        "openapi": "3.1.0",
        "info": {"title": "sigservice", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": _ERROR, "OfrepError": _OFREP_ERROR},
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization"},
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie_name},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            },
        },
    }


def _describe_operation(route: Any, body: dict[str, Any] | None) -> dict[str, Any]:
    guard = type(route.guard).__name__
    is_ofrep = guard == "OfrepGuard"
    error = {"schema": {"$ref": _REF.format(name="OfrepError" if is_ofrep else "Error")}}
    name, last = route.callback.__name__, route.rule.rpartition("/")[2]
    module = route.callback.__module__.rpartition(".")[2]
    rule = _PARAMETER.sub(r"by_\1", route.rule)
    operation: dict[str, Any] = {
        "operationId": route.method.lower() + rule.replace("/", "_"),
        "summary": _write_summary(f"{name}_{last}" if name.startswith("switch_") else name),
        "tags": [_write_summary(module)],
        "responses": {
            "2XX": {"description": "Success."},
            "4XX": {
                "description": "Error; `details` has each problem and its path.",
                "content": {"application/json": error},
            },
        },
    }
    if parameters := [_describe_parameter(*match) for match in _PARAMETER.findall(route.rule)]:
        operation["parameters"] = parameters
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    if security := _SECURITY.get(guard):
        operation["security"] = security
    if needs := route.config.get("needs"):
        operation["description"] = f"Requires the role {_ROLES[needs]}."
    return operation | route.config.get("described_as", {})


def _write_summary(handler_name: str) -> str:
    """`list_api_tokens` is "List API tokens"."""
    first, *words = handler_name.split("_")
    return " ".join([first.capitalize(), *(_ACRONYMS.get(word, word) for word in words)])


def _describe_parameter(name: str, filter: str) -> dict[str, Any]:
    type = "integer" if filter == "id" else "string"
    return {"name": name, "in": "path", "required": True, "schema": {"type": type}}
