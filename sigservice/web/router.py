"""Routers: the routes of one module, declared by decorators on named functions.

`bind` makes the routes of one service of them, and `dispatcher.py` calls them. The guard, limits
and body checks of a route are plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial, update_wrapper
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.web import respond
from sigservice.web.body import BodyPlugin
from sigservice.web.late import feature_states
from sigservice.web.limits import LimitPlugin

Handler = TypeVar("Handler", bound=Callable[..., Any])
Size = int | Callable[[dict[str, Any]], int]
SIZES = ("body_limit", "form_limit")


class RouteOptions(TypedDict, total=False):
    """The options of a route that guards and plugins read. Sizes are bytes, or a function of the
    configuration."""

    needs: str  # the permission
    needs_credentials: bool  # the handler checks the token; a large body isn't read without one
    while_default_password: bool  # also while the caller has the default password
    limit: str  # the rate limit by address
    takes: Any  # the struct of the body
    optional_body: bool
    any_content_type: bool
    body_limit: Size
    form_limit: Size
    form_fields: int
    for_scripts: bool  # scripts may send it too, with any JSON body or none
    autocommit: bool  # `conn` is in autocommit, for a single statement
    described_as: Mapping[str, Any]  # members of the operation in the OpenAPI document


class RouteDeclaration(NamedTuple):
    method: str
    path: str
    handler: Callable[..., Any]
    options: RouteOptions


class BoundRouter(NamedTuple):
    """What the routes of a module share in one service."""

    context: Context
    guard: Any
    notices: Mapping[str, str]


class Router:
    """The routes of one module. `guard(context, *tokens)` makes the plugin that authenticates
    callers; where `is_enabled` is false for a configuration, the routes don't exist. `notices` are
    the messages of its pages, by the parameter `done` of the redirects to them.

    A handler with the parameter `target` gets the FeatureEnvironment of the `<project>`, `<name>`
    and `<environment>` in its path. A path that ends in `/<is_on:switch>` declares two routes,
    which end in on and off.
    """

    def __init__(
        self,
        guard: Callable[..., Any],
        *tokens: str,
        is_enabled: Callable[[dict[str, Any]], bool] | None = None,
        notices: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._guard, self._tokens = guard, tokens
        self.is_conditional = is_enabled is not None
        self.is_enabled = is_enabled or (lambda _config: True)
        self._notices = notices
        self.routes: list[RouteDeclaration] = []

    @property
    def caller(self) -> str:
        """The callers of routes that need no permission: `public`, or the types of API tokens."""
        return f"{' or '.join(self._tokens)} token" if self._tokens else "public"

    def get(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("GET", path, options)

    def post(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("POST", path, options)

    def put(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("PUT", path, options)

    def patch(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("PATCH", path, options)

    def delete(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("DELETE", path, options)

    def options(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("OPTIONS", path, options)

    def _declare(
        self, method: str, path: str, options: RouteOptions
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            parent, _, last = path.rpartition("/")
            parameter, is_switch, _ = last.removeprefix("<").partition(":switch>")
            if not is_switch:
                self.routes.append(RouteDeclaration(method, path, handler, options))
                return handler
            for state in ("on", "off"):
                switch = partial(handler, **{parameter: state == "on"})
                update_wrapper(switch, handler)
                self.routes.append(RouteDeclaration(method, f"{parent}/{state}", switch, options))
            return handler

        return declare

    def bind(self, context: Context) -> list[Route]:
        """The routes, whose handlers get `context` first. A handler whose first parameter is `conn`
        gets a connection instead, which is in a transaction.

        The order of the plugins: guard, limits, body. So an unauthenticated caller uses up no
        limit, except where the guard is public.
        """
        if not self.is_enabled(context.config):
            return []
        router = BoundRouter(context, self._guard(context, *self._tokens), self._notices)
        return [Route(declaration, router) for declaration in self.routes]


def _list_parameters(handler: Any) -> tuple[str, ...]:
    """`inspect.signature` would take ten times as long for all routes at the start."""
    code = handler.func.__code__ if isinstance(handler, partial) else handler.__code__
    return tuple(code.co_varnames[: code.co_argcount])


def takes_connection(handler: Callable[..., Any]) -> bool:
    return _list_parameters(handler)[0] == "conn"


def bind_handler(
    handler: Callable[..., Any], context: Context, autocommit: bool = False
) -> Callable[..., Any]:
    """The handler with its first argument: the context, or a connection in a transaction or in
    autocommit."""
    call = partial(_call_with_target, handler) if "target" in _list_parameters(handler) else handler
    if not takes_connection(handler):
        return partial(call, context)

    connect = context.database.autocommit if autocommit else context.database.transaction

    def call_with_connection(*args: Any, **kwargs: Any) -> Any:
        with connect() as conn:
            return call(conn, *args, **kwargs)

    return call_with_connection


def _call_with_target(
    handler: Callable[..., Any], *args: Any, project: str, name: str, environment: str, **more: Any
) -> Any:
    return handler(
        *args, target=feature_states.FeatureEnvironment(project, name, environment), **more
    )


def _call_for_json(
    callback: Callable[..., Any], prefix: str, *args: Any, **kwargs: Any
) -> HTTPResponse:
    """The response as it is, an empty one for None, and JSON for other values."""
    answer = callback(*args, **kwargs)
    if isinstance(answer, HTTPResponse):
        return answer
    if isinstance(answer, respond.Created):
        return respond.json(answer.body, 201, location=prefix + answer.path)
    return respond.empty() if answer is None else respond.json(answer)


class Route:
    """A route of one service. It binds its handler at its first request, because most are never
    called. The errors of a handler are the dispatcher's."""

    def __init__(self, declaration: RouteDeclaration, router: BoundRouter) -> None:
        self.method, self.rule, self._handler = declaration[:3]
        self.guard, self.notices, self._router = router.guard, router.notices, router
        options: dict[str, Any] = {**declaration.options}
        config = router.context.config
        sizes = {name: options[name] for name in SIZES if callable(options.get(name))}
        self.config = options | {name: size(config) for name, size in sizes.items()}

    @cached_property
    def callback(self) -> Callable[..., Any]:
        """The handler with its first argument."""
        context = self._router.context
        callback = bind_handler(self._handler, context, self.config.get("autocommit", False))
        if getattr(self.guard, "returns_json", False):
            callback = partial(_call_for_json, callback, context.prefix)
        return update_wrapper(callback, self._handler)

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The handler behind guard, limits and body."""
        callback = self.callback
        for plugin in (BodyPlugin(), LimitPlugin(self._router.context), self.guard):
            callback = plugin.apply(callback, self)
        return callback
