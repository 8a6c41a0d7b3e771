"""Generates the routes of docs/api.md: `python -m sigservice.routes.docs docs/api.md`.

The text of a row is the first paragraph of the handler's docstring: the body or query, then the
response.
"""

import re
import sys
from collections.abc import Callable
from inspect import cleandoc, unwrap
from pathlib import Path
from typing import Any

from sigservice.routes import find_routers
from sigservice.routes.route_list import format_path, name_permission
from sigservice.web import Router
from sigservice.web.router import RouteDeclaration

# The headings, and how the names of their modules begin; the longest beginning counts.
SECTIONS = {
    "Send and read signals": ("signals.", "admin.signals."),
    "Actions and alerts": ("admin.actions.",),
    "Alert rules and metric sources": ("admin.rules.",),
    "Releases": ("admin.releases.",),
    "Integrations": ("admin.integrations.",),
    "Flags and segments": ("admin.flags.",),
    "Legacy features API": ("admin.flags.legacy_features",),
    "Projects, environments, context fields, types and tags": ("admin.projects.",),
    "Export and import": ("admin.transfer.",),
    "Applications and usage": ("admin.usage.",),
    "Client API": ("flags.client", "usage."),
    "Frontend API": ("flags.frontend",),
    "OFREP": ("flags.ofrep",),
    "Sign-in, users and tokens": ("access.", "admin.access.", "pages.access.oidc"),
    "Audit log and settings": ("admin.system.",),
    "Service": ("system.",),
}
_PAGES = "sigservice.routes.pages."
_OIDC = f"{_PAGES}access.oidc"  # what a provider and scripts call too
_BEGIN, _END = "[//]: # (routes)\n", "[//]: # (end of routes)\n"
_ROUTES = re.compile(f"(?<={re.escape(_BEGIN)}).*(?={re.escape(_END)})", re.DOTALL)


def render_page(page: str) -> str:
    """The Markdown text of the page with the routes of the code between the markers."""
    return _ROUTES.sub(lambda _: _render_routes(), page)


def _render_routes() -> str:
    """A table for each section. The routes of one handler are one row."""
    sections: dict[str, dict[Callable[..., Any], list[str]]] = {title: {} for title in SECTIONS}
    needs = {}
    for (method, path), (router, route) in _map_routes().items():
        handler = unwrap(route.handler)
        rows = sections[_find_section(handler.__module__)]
        rows.setdefault(handler, []).append(f"`{method} {path}`")
        needs[handler] = name_permission(router, route)
    lines = []
    for title, rows in sections.items():
        lines += [f"\n### {title}\n", "| route | needs | body and response |", "|---|---|---|"]
        lines += [
            f"| {', '.join(routes)} | {needs[handler]} | {_read_text(handler)} |"
            for handler, routes in rows.items()
        ]
    return "\n".join([*lines, "", ""])


def _map_routes() -> dict[tuple[str, str], tuple[Router, RouteDeclaration]]:
    """The routes by path and method, without pages. Of a route that the configuration disables,
    the one that is enabled, which its module declares first."""
    routes: dict[tuple[str, str], tuple[Router, RouteDeclaration]] = {}
    for router in find_routers():
        for route in router.routes:
            module = route.handler.__module__
            is_page = module.startswith(_PAGES) and module != _OIDC
            if not is_page and not route.path.startswith("/static"):
                routes.setdefault((route.method, format_path(route)), (router, route))
    return dict(sorted(routes.items(), key=lambda item: (item[0][1], item[0][0])))


def _find_section(module: str) -> str:
    name = module.removeprefix("sigservice.routes.")
    beginnings = [
        (len(beginning), title)
        for title, names in SECTIONS.items()
        for beginning in names
        if name.startswith(beginning)
    ]
    return max(beginnings)[1]


def _read_text(handler: Callable[..., Any]) -> str:
    first, _, _ = cleandoc(handler.__doc__ or "").partition("\n\n")
    return " ".join(first.split()).replace("|", "\\|")


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(render_page(page.read_text(encoding="utf-8")), encoding="utf-8")
