"""An area: a small bottle app of one column's routes, with its doors as plugins.

Hooks and error handlers of a merged app are ignored by bottle; plugins are kept, so whatever
guards a route is a plugin here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bottle import Bottle, ConfigDict, Route, Router

from sigservice.context import Context
from sigservice.web.body import BodyPlugin
from sigservice.web.errors import ErrorPlugin
from sigservice.web.limits import LimitPlugin


class _Area(Bottle):  # type: ignore[misc]
    """Keeps its routes for the root that they are merged into. It never answers a request, so it
    has only what bottle's routes ask of it: what else an application has is most of a start."""

    def __init__(self, *plugins: Any) -> None:
        self.config = ConfigDict()
        self.plugins = list(plugins)
        self.routes: list[Route] = []

    def add_route(self, route: Route) -> None:
        self.routes.append(route)


class _RootRouter(Router):  # type: ignore[misc]
    """bottle's own joins all patterns anew for each route, which was most of the time of a start;
    this one does it once, when all areas are merged."""

    is_complete = False

    def complete(self) -> None:
        self.is_complete = True
        for method in self.dyna_routes:
            self._compile(method)

    def _compile(self, method: str) -> None:
        if self.is_complete:
            super()._compile(method)

    def _itertokens(self, rule: str) -> tuple[tuple[str, str | None, str | None], ...]:
        return _tokens(rule)


@lru_cache(maxsize=1024)
def _tokens(rule: str) -> tuple[tuple[str, str | None, str | None], ...]:
    """The parts of a path, parsed once for all services of a process."""
    return tuple(Router()._itertokens(rule))


def new_root() -> Bottle:
    """A bare Bottle with the `id` filter: bottle's own `int` takes signs and foreign digits.
    `router.complete()` is called when all areas are merged."""
    root = Bottle()
    root.uninstall(True)
    del root.router  # bottle lets nobody replace it
    root.router = _RootRouter()
    root.router.add_filter("id", _id_filter)
    return root


def new_area(context: Context, door: Any) -> Bottle:
    """Errors outside, then the door, then limits: a refused stranger uses up nobody's limit
    except where the door is open. The body is read last."""
    return _Area(ErrorPlugin(context), door, LimitPlugin(context), BodyPlugin())


def _id_filter(_config: str) -> tuple[str, Any, Any]:
    return r"[0-9]{1,19}", _to_id, str


def _to_id(text: str) -> int:
    """0, which finds no row, for what is larger than any column holds."""
    number = int(text)
    return number if number < 2**63 else 0
