"""Routers: the routes of one module, declared by decorators on named functions.

`bind` makes bottle's routes of them for one service, and `route_tree.py` finds them. The guard,
limits and body checks of a route are plugins.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial, update_wrapper
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
from sigservice.web.route_tree import RouteTree, Rule

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


class LateRoutes(NamedTuple):
    """Routes whose modules are imported at the first request of one: the module of each route, and
    a function that imports a module and returns its routers."""

    modules: Mapping[Rule, str]
    load: Callable[[str], Iterable[Router]]


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
    """Finds the routes of the service in a tree; bottle's router has only those of hooks."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._tree = RouteTree()
        self._routes: dict[Rule, Route] = {}
        self._late: LateRoutes = LateRoutes({}, lambda _module: ())

    def complete(self, routes: Iterable[Route], late: LateRoutes) -> None:
        """Adds the routes of the service. Those of hooks are there already, and replace routes with
        the same method and path."""
        hook_rules = {(method, path) for method in self.static for path in self.static[method]}
        hook_rules |= {(m, path) for m, rules in self.dyna_routes.items() for path, *_ in rules}
        self._late = late
        self._add_routes(routes)
        for method, path in {**self._routes, **late.modules}.keys() - hook_rules:
            self._tree.add(method, path)

    def match(self, environ: dict[str, Any]) -> tuple[Route, dict[str, Any]]:
        rule, arguments = self._find_rule(environ)
        if isinstance(rule, Route):
            return rule, arguments
        if rule not in self._routes:
            self._load(self._late.modules[rule])
        return self._routes[rule], arguments

    def list_routes(self) -> list[Route]:
        """All routes of the service, for which it imports all modules."""
        for module in set(self._late.modules.values()):
            self._load(module)
        return list(self._routes.values())

    def _find_rule(self, environ: dict[str, Any]) -> tuple[Rule | Route, dict[str, Any]]:
        method, path = environ["REQUEST_METHOD"].upper(), environ["PATH_INFO"] or "/"
        methods = ("HEAD", "GET") if method == "HEAD" else (method,)
        is_fixed_hook = any(path in self.static.get(name, ()) for name in (*methods, "ANY"))
        if not is_fixed_hook and (match := self._tree.find(methods, path)) is not None:
            return match
        try:
            return super().match(environ)
        except HTTPError as error:
            allowed = self._tree.list_methods(path)
            if not allowed:
                raise
            if hook_methods := error.get_header("Allow"):
                allowed |= set(hook_methods.split(","))
            raise HTTPError(405, "Method not allowed.", Allow=",".join(sorted(allowed))) from None

    def _load(self, module: str) -> None:
        """Two requests may do it at the same time: each of the routes works."""
        routers = self._late.load(module)
        self._add_routes(route for router in routers for route in router.bind(self._context))

    def _add_routes(self, routes: Iterable[Route]) -> None:
        self._routes |= {(route.method, route.rule): route for route in routes}


class _Root(Bottle):  # type: ignore[misc]
    """Answers with the HTTPResponse of a handler as it is. bottle copies it into an object of the
    thread first, which takes longer than most handlers. Routes of hooks are bottle's."""

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


def create_root(context: Context) -> Bottle:
    """A Bottle without plugins. The caller calls `complete` of its router when hooks have added
    their routes."""
    root = _Root()
    root.uninstall(True)
    del root.router  # bottle does not allow it to be replaced
    root.router = _RootRouter(context)
    return root
