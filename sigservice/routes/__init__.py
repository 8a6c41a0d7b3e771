"""All routes of the service: what SDKs and senders call, the admin API, the pages.

late_routes.txt lists modules that are imported at the first request of one of their routes: those
of the admin API and of the pages, without routers that depend on the configuration. A test renews
it.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from sigservice.web.router import Router

LATE_PACKAGES = ("admin.", "pages.")
LATE_FILE = Path(__file__).parent / "late_routes.txt"


@cache
def find_routers() -> tuple[Router, ...]:
    """Every Router that a module of this package declares, in the order of the modules' names."""
    return tuple(router for module in _list_modules() for router in load_routers(module))


@cache
def find_early_routers() -> tuple[Router, ...]:
    """Those of the modules that aren't in late_routes.txt."""
    late = read_late_modules()
    return tuple(
        router
        for module in _list_modules()
        if module not in late
        for router in load_routers(module)
    )


def load_routers(module: str) -> Iterable[Router]:
    """The routers of a module, whose name begins below this package. Imports it."""
    names = vars(importlib.import_module(f"{__name__}.{module}"))
    return [value for value in names.values() if isinstance(value, Router)]


@cache
def map_late_routes() -> Mapping[tuple[str, str], str]:
    """The module of each late route, by method and path."""
    return {rule: module for module, rules in read_late_modules().items() for rule in rules}


@cache
def read_late_modules() -> Mapping[str, list[tuple[str, str]]]:
    """Methods and paths of the late routes, by module; a module may have none."""
    modules: dict[str, list[tuple[str, str]]] = {}
    rules: list[tuple[str, str]] = []
    for line in LATE_FILE.read_text("utf-8").splitlines():
        method, _, path = line.partition(" ")
        if path:
            rules.append((method, path))
        else:
            rules = modules.setdefault(line, [])
    return modules


def write_late_modules() -> str:
    """What late_routes.txt has to contain."""
    lines = []
    for module in _list_modules():
        routers = load_routers(module)
        if module.startswith(LATE_PACKAGES) and not any(r.is_conditional for r in routers):
            lines.append(module)
            lines += [f"{route.method} {route.path}" for r in routers for route in r.routes]
    return "\n".join([*lines, ""])


def _list_modules() -> list[str]:
    start = len(__name__) + 1
    modules = pkgutil.walk_packages(__path__, f"{__name__}.")
    return [info.name[start:] for info in modules if not info.ispkg]
