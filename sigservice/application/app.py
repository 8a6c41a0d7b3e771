"""Assembles the WSGI application: hooks, routers and wrappers in their order."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bottle import Bottle, HTTPError, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import StartError
from sigservice.http_server.listener import Callbacks
from sigservice.log import escape_line
from sigservice.routes import find_early_routers, load_routers, map_late_routes
from sigservice.services.access.authentication_scheme import Custom
from sigservice.web.body_permits import build_body_decision
from sigservice.web.client_ip import make_connection_key
from sigservice.web.cors import make_rejection_headers
from sigservice.web.dispatcher import Dispatcher, LateRoutes
from sigservice.web.errors import ErrorPlugin, handle_router_error
from sigservice.web.request_log import build_refusal_log
from sigservice.web.wsgi import Wsgi, compress, wrap_app


def make_app(context: Context) -> Callable[[], tuple[Wsgi, Callbacks]]:
    """A function that wraps the routes into one WSGI callable, hooks included, and returns it with
    what the listener asks it. Binding the routes takes most of the time, so a reset service only
    wraps them again."""
    config = context.config
    root = Bottle()
    root.uninstall(True)
    root.install(ErrorPlugin(context))
    outer = _call_hook(config["preHook"], "preHook", root)
    _set_up_custom_authentication(context, root)
    inner = _call_hook(config["preRouterHook"], "preRouterHook", root)
    compresses = not config["disableCompression"]
    dispatcher = Dispatcher(context, root, compresses=compresses and inner is None)
    routes = [route for router in find_early_routers() for route in router.bind(context)]
    dispatcher.complete(routes, LateRoutes(map_late_routes(), load_routers))

    def on_error(error: HTTPError) -> HTTPResponse:
        return handle_router_error(context, error, request.environ)

    root.default_error_handler = on_error

    def wrap() -> tuple[Wsgi, Callbacks]:
        app: Wsgi = dispatcher
        if inner is not None:
            app = compress(inner(app)) if compresses else inner(app)
        app = wrap_app(context, app)
        callbacks = Callbacks(
            make_rejection_headers(context),
            build_refusal_log(context),
            build_body_decision(context, dispatcher, has_wrapper=bool(outer or inner)),
            partial(make_connection_key, trusted=context.trusted_proxies),
        )
        return (outer(app) if outer else app), callbacks

    return wrap


def _set_up_custom_authentication(context: Context, root: Any) -> None:
    """Calls customAuthHandler once if the authentication type is custom."""
    handler = context.config["authentication"]["customAuthHandler"]
    if handler is None or not context.authentication.lacks_handler:
        return
    result = handler(root, context.config)
    if result is None or isinstance(result, Custom):
        context.authentication.custom = result or Custom()
    elif callable(result):
        context.authentication.custom = Custom(identify=result)
    else:
        raise StartError(
            "customAuthHandler must return None, a function of the environ or a Custom."
        )


def _call_hook(
    hook: Callable[..., Any] | None, name: str, root: Any
) -> Callable[[Wsgi], Wsgi] | None:
    """Calls a hook with the root app; returns its wrapper of the WSGI application, if any.

    Raises StartError, also for errors of the hook.
    """
    try:
        wrapper = hook(root) if hook else None
    except Exception as error:
        reason = escape_line(f"{type(error).__name__}: {error}")
        raise StartError(f"{name} failed: {reason}") from error
    if wrapper is not None and not callable(wrapper):
        raise StartError(f"{name} must return None or a function that wraps a WSGI application.")
    return wrapper
