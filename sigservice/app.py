"""make_app(context): merges all routers and adds the wrappers, in their order. Assembly only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bottle import HTTPError, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import StartError
from sigservice.http_parsing import Admit
from sigservice.log import escape_line
from sigservice.routes import find_routers
from sigservice.services.access.authentication_scheme import Custom
from sigservice.web.admission import admission
from sigservice.web.cors import allow_origins, answer_preflights
from sigservice.web.errors import ErrorPlugin, router_error
from sigservice.web.router import new_root
from sigservice.web.wsgi import Wsgi, compress
from sigservice.web.wsgi import edge as outermost


def make_app(context: Context) -> tuple[Wsgi, Admit]:
    """The whole service as one WSGI callable, with the user's hooks in their places; and what
    decides on large bodies, for `http_parsing.Entrance`."""
    config = context.config
    root = new_root()
    root.install(ErrorPlugin(context))  # for routes that a hook adds
    outer = _hook(config["preHook"], "preHook", root)
    _call_handler(context, root)
    inner = _hook(config["preRouterHook"], "preRouterHook", root)
    of_hooks = list(root.routes)
    for router in find_routers():
        root.merge(router.bind(context))
    for route in of_hooks:  # of two for one path bottle takes the later, a hook means the earlier
        root.router.add(route.rule, route.method, route)
    root.router.complete()

    def on_error(error: HTTPError) -> HTTPResponse:
        return router_error(context, error, request.environ)

    root.default_error_handler = on_error
    app: Wsgi = inner(root) if inner else root
    if not config["disableCompression"]:
        app = compress(app)
    app = outermost(context, answer_preflights(context, app))
    app = allow_origins(context, app)
    admit = admission(context, root, has_wrapper=bool(outer or inner))
    return (outer(app) if outer else app), admit


def _call_handler(context: Context, root: Any) -> None:
    """Asks the user's handler once what it has to offer, where the type is custom."""
    handler = context.config["authentication"]["customAuthHandler"]
    if handler is None or not context.authentication.lacks_handler:
        return
    made = handler(root, context.config)
    if made is None or isinstance(made, Custom):
        context.authentication.custom = made or Custom()
    elif callable(made):
        context.authentication.custom = Custom(identify=made)
    else:
        raise StartError(
            "customAuthHandler must return nothing, a function of the environ or a Custom."
        )


def _hook(hook: Callable[..., Any] | None, name: str, root: Any) -> Callable[[Wsgi], Wsgi] | None:
    """Calls the user's hook with the root app; what it returns may wrap the WSGI application.

    Raises StartError, also for whatever the hook raises.
    """
    try:
        wrapper = hook(root) if hook else None
    except Exception as error:
        reason = escape_line(f"{type(error).__name__}: {error}")
        raise StartError(f"{name} failed: {reason}") from error
    if wrapper is not None and not callable(wrapper):
        raise StartError(f"{name} must return nothing or a function that wraps a WSGI application.")
    return wrapper
