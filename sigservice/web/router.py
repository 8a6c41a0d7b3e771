"""Routers: the routes of one module, declared by decorators on named functions.

`bind` makes bottle's routes of them for one service. The guard, limits and body checks of a route
are plugins.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, partial, update_wrapper
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from bottle import Bottle, HTTPError, HTTPResponse, Route, request, response
from bottle import Router as BottleRouter

from sigservice.context import Context
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.web import respond
from sigservice.web.body import BodyPlugin
from sigservice.web.errors import ErrorPlugin
from sigservice.web.limits import LimitPlugin

Handler = TypeVar("Handler", bound=Callable[..., Any])
_ANSWER = "sigservice.answer"  # the answer of a handler, which bottle still has to convert
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
    group_commit: str  # routes with the same one wait for it, so the listener runs them together
    described_as: Mapping[str, Any]  # members of the operation in the OpenAPI document


class RouteDeclaration(NamedTuple):
    method: str
    path: str
    handler: Callable[..., Any]
    options: RouteOptions


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
        is_enabled: Callable[[dict[str, Any]], bool] = lambda _config: True,
        notices: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._guard, self._tokens, self.is_enabled = guard, tokens, is_enabled
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
        """The routes as bottle's, whose handlers get `context` first. A handler whose first
        parameter is `conn` gets a connection instead, which is in a transaction.

        The order of the plugins: errors, guard, limits, body. So an unauthenticated caller uses up
        no limit, except where the guard is public.
        """
        if not self.is_enabled(context.config):
            return []
        guard = self._guard(context, *self._tokens)
        app = _BoundRouter(context, guard, self._notices)
        return [_BoundRoute(app, declaration) for declaration in self.routes]


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
    return handler(*args, target=FeatureEnvironment(project, name, environment), **more)


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


class _BoundRouter(Bottle):  # type: ignore[misc]
    """The app of bound routes. It never handles a request, so it has only the attributes that they
    need: creating a whole Bottle takes most of the start."""

    def __init__(self, context: Context, guard: Any, notices: Mapping[str, str]) -> None:
        self.context, self.guard, self.notices = context, guard, notices
        self.plugins = [ErrorPlugin(context), guard, LimitPlugin(context), BodyPlugin()]


class _BoundRoute(Route):  # type: ignore[misc]
    """A route that binds its handler at its first request, because most are never called."""

    def __init__(self, app: _BoundRouter, declaration: RouteDeclaration) -> None:
        self.app, self._handler = app, declaration.handler
        self.method, self.rule = declaration.method, declaration.path
        self.name, self.plugins, self.skiplist = None, list[Any](), list[Any]()
        options: dict[str, Any] = {**declaration.options}
        sizes = {name: options[name] for name in SIZES if callable(options.get(name))}
        self.config = options | {name: size(app.context.config) for name, size in sizes.items()}

    @cached_property
    def callback(self) -> Callable[..., Any]:
        context = self.app.context
        callback = bind_handler(self._handler, context, self.config.get("autocommit", False))
        if getattr(self.app.guard, "returns_json", False):
            callback = partial(_call_for_json, callback, context.prefix)
        return update_wrapper(callback, self._handler)


class _RootRouter(BottleRouter):  # type: ignore[misc]
    """Compiles all patterns once: bottle's router does it again for each route. The tables contain
    the numbers of the service's routes, so the services of a process share them."""

    def __init__(self) -> None:
        super().__init__()
        self.add_filter("id", _id_filter)
        self.add_filter("path", _path_filter)
        self._routes: list[Route] = []
        self._is_complete = False

    def complete(self, routes: list[Route], hook_routes: list[Route]) -> None:
        """Compiles the patterns of `routes`. Hooks have added their routes already."""
        self._routes = routes
        paths = tuple((route.rule, route.method) for route in routes)
        if hook_routes:
            self._fill(paths, hook_routes)
            return
        shared: Any = _build_tables(paths)
        self.static = {method: dict(table) for method, table in shared.static.items()}
        self.dyna_routes = {method: list(rules) for method, rules in shared.dyna_routes.items()}
        self.dyna_regexes = dict(shared.dyna_regexes)
        self.builder, self._groups = dict(shared.builder), dict(shared._groups)
        self._is_complete = True

    def _fill(self, paths: Iterable[tuple[str, str]], hook_routes: Iterable[Route] = ()) -> None:
        for number, (rule, method) in enumerate(paths):
            self.add(rule, method, number)
        for route in hook_routes:  # so that bottle, which prefers later routes, uses them
            self.add(route.rule, route.method, route)
        self._is_complete = True
        for method in self.dyna_routes:
            self._compile(method)

    def match(self, environ: dict[str, Any]) -> tuple[Route, dict[str, Any]]:
        target, arguments = super().match(environ)
        return (self._routes[target] if isinstance(target, int) else target), arguments

    def _compile(self, method: str) -> None:
        if self._is_complete:
            super()._compile(method)


@lru_cache(maxsize=16)
def _build_tables(paths: tuple[tuple[str, str], ...]) -> _RootRouter:
    router = _RootRouter()
    router._fill(paths)
    return router


class _Root(Bottle):  # type: ignore[misc]
    """Answers with the HTTPResponse of a handler as it is. bottle copies it into an object of the
    thread first, which takes longer than most handlers. Routes of hooks are bottle's."""

    def add_all(self, routes: list[Route]) -> None:
        self.router.complete(routes, hook_routes=self.routes[:])
        self.routes.extend(routes)  # bottle refuses to assign it

    def wsgi(self, environ: dict[str, Any], start_response: Any) -> Any:
        if not environ["PATH_INFO"].isascii():  # bottle decodes it
            return super().wsgi(environ, start_response)
        try:
            route, arguments = self.router.match(environ)
        except HTTPError:
            return super().wsgi(environ, start_response)
        if not isinstance(route.app, _BoundRouter) or any(self._hooks.values()):
            return super().wsgi(environ, start_response)
        if request.environ is not environ:  # a wrapper of the user has copied it
            request.bind(environ)
        environ["bottle.app"], environ["bottle.route"] = self, route
        try:
            answer = route.call(**arguments)
        except HTTPResponse as raised:
            answer = raised
        if not isinstance(answer, HTTPResponse) or not isinstance(answer.body, bytes):
            environ[_ANSWER] = answer
            return super().wsgi(environ, start_response)
        headers = answer.headerlist
        if "Content-Length" not in answer:
            headers.append(("Content-Length", str(len(answer.body))))
        start_response(answer.status_line, headers)
        is_empty = environ["REQUEST_METHOD"] == "HEAD" or answer.status_code in (204, 304)
        return [] if is_empty or not answer.body else [answer.body]

    def _handle(self, environ: dict[str, Any]) -> Any:
        answer = environ.pop(_ANSWER, None)
        if answer is None:
            return super()._handle(environ)
        response.bind()
        if isinstance(answer, HTTPResponse):
            answer.apply(response)
        return answer


def build_kind_finder(routers: Iterable[Router], base: str) -> Callable[[str, str], str]:
    """`find_kind(method, path)`: the `group_commit` of the route, or "". For a path with
    parameters, the part before them decides."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for route in (route for router in routers for route in router.routes):
        if kind := route.options.get("group_commit"):
            start = base + route.path.partition("<")[0]
            kinds.setdefault(route.method, []).append((start, kind))

    def find_kind(method: str, path: str) -> str:
        for start, kind in kinds.get(method, ()):
            if path == start or (start.endswith("/") and path.startswith(start)):
                return kind
        return ""

    return find_kind


def create_root() -> Bottle:
    """A Bottle without plugins and with the filter `id`, because bottle's `int` accepts signs and
    non-ASCII digits. The caller calls `add_all` with the routes of all routers."""
    root = _Root()
    root.uninstall(True)
    del root.router  # bottle does not allow it to be replaced
    root.router = _RootRouter()
    return root


def _id_filter(_config: str) -> tuple[str, Any, Any]:
    return r"[0-9]{1,19}", _parse_id, str


def _path_filter(_config: str) -> tuple[str, None, None]:
    """Like bottle's, and with line breaks, which names of applications and tags may have."""
    return r"(?s:.+?)", None, None


def _parse_id(text: str) -> int:
    """The number, or 0, which matches no row, for one that no column can store."""
    number = int(text)
    return number if number < 2**63 else 0
