"""Routers: the routes of one module, declared by decorators on named functions.

`bind` makes a bottle app of them for one service. bottle ignores hooks and error handlers of a
merged app but keeps its plugins, so the guard, limits and body checks of a route are plugins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, update_wrapper
from typing import Any, TypeVar

from bottle import Bottle, ConfigDict, Route
from bottle import Router as BottleRouter

from sigservice.context import Context
from sigservice.web.body import BodyPlugin
from sigservice.web.errors import ErrorPlugin
from sigservice.web.limits import LimitPlugin

Handler = TypeVar("Handler", bound=Callable[..., Any])
SIZES = ("body_limit", "form_limit")  # bytes, or a function of the configuration


class Router:
    """The routes of one module. `guard` makes the plugin that authenticates callers; where
    `is_enabled` is false for a configuration, the routes don't exist.

    The options of a route: `needs` (a permission), `limit` (a rate limit by address), `takes` (the
    struct of the body), `body_limit` and `form_limit` (bytes); the guards and plugins read them.
    """

    def __init__(
        self,
        guard: Callable[[Context], Any],
        *,
        is_enabled: Callable[[dict[str, Any]], bool] = lambda _config: True,
    ) -> None:
        self._guard, self._is_enabled = guard, is_enabled
        self.routes: list[tuple[str, str, Callable[..., Any], dict[str, Any]]] = []

    def get(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("GET", path, options)

    def post(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("POST", path, options)

    def put(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("PUT", path, options)

    def patch(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("PATCH", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("DELETE", path, options)

    def _declare(
        self, method: str, path: str, options: dict[str, Any]
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self.routes.append((method, path, handler, options))
            return handler

        return declare

    def bind(self, context: Context) -> Bottle:
        """The routes as a bottle app whose handlers get `context` first.

        Errors are outside, then the guard, then limits: an unauthenticated caller uses up nobody's
        limit except where the guard is public. The body is read last.
        """
        guard = self._guard(context)
        app = _BoundRouter(ErrorPlugin(context), guard, LimitPlugin(context), BodyPlugin())
        if self._is_enabled(context.config):
            for method, path, handler, options in self.routes:
                sizes = {name: options[name] for name in SIZES if callable(options.get(name))}
                settings = options | {name: size(context.config) for name, size in sizes.items()}
                callback = update_wrapper(partial(handler, context), handler)
                app.route(path, method, callback, **settings)
        return app


class _BoundRouter(Bottle):  # type: ignore[misc]
    """Keeps its routes for the root that they are merged into. It never answers a request, so it
    has only what bottle's routes need of an application: the rest is most of a start's time."""

    def __init__(self, *plugins: Any) -> None:
        self.config = ConfigDict()
        self.plugins = list(plugins)
        self.routes: list[Route] = []

    def add_route(self, route: Route) -> None:
        self.routes.append(route)


class _RootRouter(BottleRouter):  # type: ignore[misc]
    """bottle's own joins all patterns again for each route, which was most of the time of a start;
    this one does it once, when all routers are merged."""

    is_complete = False

    def complete(self) -> None:
        self.is_complete = True
        for method in self.dyna_routes:
            self._compile(method)

    def _compile(self, method: str) -> None:
        if self.is_complete:
            super()._compile(method)

    def _itertokens(self, rule: str) -> tuple[tuple[str, str | None, str | None], ...]:
        return _parse_path(rule)


@lru_cache(maxsize=1024)
def _parse_path(rule: str) -> tuple[tuple[str, str | None, str | None], ...]:
    """The parts of a path, parsed once for all services of a process."""
    return tuple(BottleRouter()._itertokens(rule))


def new_root() -> Bottle:
    """A bare Bottle with the `id` filter: bottle's own `int` takes signs and foreign digits.
    `router.complete()` is called when all routers are merged."""
    root = Bottle()
    root.uninstall(True)
    del root.router  # bottle does not allow it to be replaced
    root.router = _RootRouter()
    root.router.add_filter("id", _id_filter)
    return root


def _id_filter(_config: str) -> tuple[str, Any, Any]:
    return r"[0-9]{1,19}", _parse_id, str


def _parse_id(text: str) -> int:
    """The number, or 0, which matches no row, for one that no column can store."""
    number = int(text)
    return number if number < 2**63 else 0
