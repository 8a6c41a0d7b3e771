"""The application of all routes: those of the service are found in a tree and called here; those of
hooks belong to a Bottle."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from bottle import Bottle, HTTPError, HTTPResponse, request, response

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.web.errors import handle_router_error, respond_to_error, respond_to_fault
from sigservice.web.route_tree import RouteTree, Rule
from sigservice.web.router import Route, Router
from sigservice.web.wsgi import Environ, StartResponse, compress, compress_body


class LateRoutes(NamedTuple):
    """Routes whose modules are imported at the first request of one: the module of each route, and
    a function that imports a module and returns its routers."""

    modules: Mapping[Rule, str]
    load: Callable[[str], Iterable[Router]]


class Dispatcher:
    """Call `complete` when hooks have added their routes to `hooks`."""

    def __init__(self, context: Context, hooks: Bottle, *, compresses: bool) -> None:
        self._context, self._hooks, self._compresses = context, hooks, compresses
        self._call_hooks = compress(hooks) if compresses else hooks
        self._tree = RouteTree()
        self._routes: dict[Rule, Route] = {}
        self._late = LateRoutes({}, lambda _module: ())
        self._fixed_hooks: set[Rule] = set()
        self._has_hooks = False  # of bottle, for each request

    def complete(self, routes: Iterable[Route], late: LateRoutes) -> None:
        """Adds the routes of the service. Those of hooks replace routes with the same method and
        path."""
        hook_rules = {(route.method, route.rule) for route in self._hooks.routes}
        self._fixed_hooks = {rule for rule in hook_rules if "<" not in rule[1]}
        self._has_hooks = any(self._hooks._hooks.values())
        self._late = late
        self._add_routes(routes)
        for method, path in {**self._routes, **late.modules}.keys() - hook_rules:
            self._tree.add(method, path)

    def match(self, environ: Environ) -> tuple[Any, dict[str, Any]]:
        """The route, which is bottle's if it is of a hook, and the parts of the path. Raises
        HTTPError."""
        method, path = environ["REQUEST_METHOD"].upper(), environ["PATH_INFO"] or "/"
        methods = ("HEAD", "GET") if method == "HEAD" else (method,)
        is_fixed_hook = self._fixed_hooks and any(
            (name, path) in self._fixed_hooks for name in (*methods, "ANY")
        )
        if not is_fixed_hook and (result := self._tree.find(methods, path)) is not None:
            rule, arguments = result
            if rule not in self._routes:
                self._load(self._late.modules[rule])
            return self._routes[rule], arguments
        try:
            return self._hooks.match(environ)
        except HTTPError as error:
            allowed = self._tree.list_methods(path)
            if not allowed:
                raise
            if hook_methods := error.get_header("Allow"):
                allowed |= set(hook_methods.split(","))
            raise HTTPError(405, "Method not allowed.", Allow=",".join(sorted(allowed))) from None

    def list_routes(self) -> list[Route]:
        """All routes of the service, for which it imports all modules."""
        for module in set(self._late.modules.values()):
            self._load(module)
        return list(self._routes.values())

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if request.environ is not environ:  # a wrapper of the user has copied it
            request.bind(environ)
        environ["sigservice.dispatcher"], path = self, environ["PATH_INFO"]
        if not path.isascii():
            environ["PATH_INFO"] = path.encode("latin-1").decode()
        try:
            route, arguments = self.match(environ)
        except HTTPError as error:
            answer = handle_router_error(self._context, error, environ)
        else:
            if not isinstance(route, Route):
                environ["PATH_INFO"] = path  # bottle decodes it
                return self._call_hooks(environ, start_response)
            environ["bottle.route"] = route
            call = self._call_with_hooks if self._has_hooks else self._call
            answer = call(environ["PATH_INFO"], route, arguments)
        headers, body = answer.headerlist, answer.body
        is_empty = environ["REQUEST_METHOD"] == "HEAD" or answer.status_code in (204, 304)
        if isinstance(body, bytes):
            if self._compresses and not is_empty:
                body = compress_body(environ, headers, body)
            if "Content-Length" not in answer:
                headers.append(("Content-Length", str(len(body))))
            body = [body] if body else []
        start_response(answer.status_line, headers)
        if is_empty and hasattr(body, "close"):
            body.close()
        return [] if is_empty else body

    def _call(self, path: str, route: Route, arguments: dict[str, Any]) -> HTTPResponse:
        try:
            return route.call(**arguments)
        except HTTPResponse as raised:
            return raised
        except AppError as error:
            return respond_to_error(self._context, error, path)
        except Exception as error:  # noqa: BLE001  handlers may raise anything
            return respond_to_fault(self._context, error, path)

    def _call_with_hooks(self, path: str, route: Route, arguments: dict[str, Any]) -> HTTPResponse:
        response.bind()
        try:
            self._hooks.trigger_hook("before_request")
            answer = self._call(path, route, arguments)
            answer.apply(response)
            self._hooks.trigger_hook("after_request")
        except HTTPResponse as raised:
            return raised
        return answer

    def _load(self, module: str) -> None:
        """Two requests may do it at the same time: each of the routes works."""
        routers = self._late.load(module)
        self._add_routes(route for router in routers for route in router.bind(self._context))

    def _add_routes(self, routes: Iterable[Route]) -> None:
        self._routes |= {(route.method, route.rule): route for route in routes}
