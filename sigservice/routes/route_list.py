"""All routes as a list: what `sigservice routes` prints."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from sigservice.routes import find_routers
from sigservice.web import Router
from sigservice.web.router import RouteDeclaration

_PARAMETER = re.compile(r"<(\w+)(?::\w+)?>")
MAX_WIDTH = 64
HEADINGS = ("METHOD", "PATH", "PERMISSION", "LIMIT", "HANDLER")


class ListedRoute(NamedTuple):
    """`permission` is VIEW, EDIT, ADMIN, `public` or the type of token; `limit` a rate limit."""

    method: str
    path: str
    permission: str
    limit: str
    handler: str


def list_routes(config: dict[str, Any]) -> list[ListedRoute]:
    """The routes that a service with this configuration has, sorted by path."""
    routes = [
        ListedRoute(
            route.method,
            format_path(route),
            name_permission(router, route),
            route.options.get("limit", ""),
            f"{route.handler.__module__.removeprefix('sigservice.')}:{route.handler.__name__}",
        )
        for router in find_routers()
        if router.is_enabled(config)
        for route in router.routes
    ]
    return sorted(routes, key=lambda route: (route.path, route.method))


def format_path(route: RouteDeclaration) -> str:
    return _PARAMETER.sub(r"{\1}", route.path)


def name_permission(router: Router, route: RouteDeclaration) -> str:
    if route.options.get("needs_credentials"):
        return "signal token"
    return route.options.get("needs") or router.caller


def render_text(routes: Sequence[ListedRoute]) -> str:
    """A table with aligned columns; cells longer than MAX_WIDTH push the rest of their line."""
    rows = [HEADINGS, *(tuple(cell or "-" for cell in route) for route in routes)]
    widths = [min(MAX_WIDTH, max(map(len, column))) for column in zip(*rows, strict=True)]
    template = "  ".join(f"{{:<{width}}}" for width in widths)
    return "".join(f"{template.format(*row).rstrip()}\n" for row in rows)


def render_json(routes: Sequence[ListedRoute]) -> str:
    return json.dumps([route._asdict() for route in routes], indent=2) + "\n"
