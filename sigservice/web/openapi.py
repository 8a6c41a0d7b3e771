"""The API's description (OpenAPI 3.1), read off the routes and the structs that check bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from sigservice.version import __version__

_API = re.compile(r"/(api|auth|edge|health|ready|internal-backstage)\b")
_PART = re.compile(r"<(\w+)(?::(\w+))?>")
_REF = "#/components/schemas/{name}"
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "AdminGuard": [{"token": []}, {"session": [], "csrf": []}],
    "ClientGuard": [{"token": []}],
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


def document(routes: Iterable[Any], cookie_name: str) -> dict[str, Any]:
    """Every JSON route, at whichever server; pages are left out."""
    described = [route for route in routes if _API.match(route.rule)]
    bodies = [route.config["takes"] for route in described if route.config.get("takes")]
    schemas, components = msgspec.json.schema_components(bodies, ref_template=_REF)
    by_route = dict(zip([id(r) for r in described if r.config.get("takes")], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(described, key=lambda route: (route.rule, route.method)):
        operations = paths.setdefault(_PART.sub(r"{\1}", route.rule), {})
        operations[route.method.lower()] = _operation(route, by_route.get(id(route)))
    return {
        "openapi": "3.1.0",
        "info": {"title": "sigservice", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": _ERROR},
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization"},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie_name},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            },
        },
    }


def _operation(route: Any, body: dict[str, Any] | None) -> dict[str, Any]:
    error = {"schema": {"$ref": "#/components/schemas/Error"}}
    words = route.callback.__name__.replace("_", " ")
    module = route.callback.__module__.rpartition(".")[2]
    rule = _PART.sub(r"by_\1", route.rule)
    operation: dict[str, Any] = {
        "operationId": route.method.lower() + rule.replace("/", "_"),
        "summary": f"{module.replace('_', ' ')}: {words}",
        "tags": [module.replace("_", " ")],
        "responses": {
            "2XX": {"description": "Done."},
            "4XX": {
                "description": "Refused; `details` names what was wrong.",
                "content": {"application/json": error},
            },
        },
    }
    parameters = [_parameter(name, kind) for name, kind in _PART.findall(route.rule)]
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": body}},
        }
    guards = [type(p).__name__ for p in route.app.plugins if getattr(p, "name", "") == "guard"]
    if security := _SECURITY.get(guards[0] if guards else ""):
        operation["security"] = security
    if needs := route.config.get("needs"):
        operation["description"] = f"Needs the permission {needs}."
    return operation | route.config.get("described_as", {})


def _parameter(name: str, kind: str) -> dict[str, Any]:
    type = "integer" if kind == "id" else "string"
    return {"name": name, "in": "path", "required": True, "schema": {"type": type}}
