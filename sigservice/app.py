"""make_app(context): the list of areas and the wrappers in their order. Assembly only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bottle import HTTPError, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import StartError
from sigservice.log import one_line
from sigservice.routes import (
    api_description,
    auth,
    client,
    client_applications,
    client_metrics,
    edge,
    frontend,
    health,
    reset_password,
    signals,
    static,
)
from sigservice.routes.admin import action_recipes as admin_action_recipes
from sigservice.routes.admin import action_runs as admin_action_runs
from sigservice.routes.admin import actions as admin_actions
from sigservice.routes.admin import api_tokens as admin_api_tokens
from sigservice.routes.admin import client_applications as admin_client_applications
from sigservice.routes.admin import client_metrics as admin_client_metrics
from sigservice.routes.admin import context_fields as admin_context_fields
from sigservice.routes.admin import current_user as admin_current_user
from sigservice.routes.admin import environments as admin_environments
from sigservice.routes.admin import events as admin_events
from sigservice.routes.admin import exchange as admin_exchange
from sigservice.routes.admin import feature_archive as admin_feature_archive
from sigservice.routes.admin import feature_environments as admin_feature_environments
from sigservice.routes.admin import feature_relations as admin_feature_relations
from sigservice.routes.admin import feature_search as admin_feature_search
from sigservice.routes.admin import feature_strategies as admin_feature_strategies
from sigservice.routes.admin import feature_types as admin_feature_types
from sigservice.routes.admin import features as admin_features
from sigservice.routes.admin import legacy_features as admin_legacy_features
from sigservice.routes.admin import notifications as admin_notifications
from sigservice.routes.admin import personal_tokens as admin_personal_tokens
from sigservice.routes.admin import playground as admin_playground
from sigservice.routes.admin import project_api_tokens as admin_project_api_tokens
from sigservice.routes.admin import project_environments as admin_project_environments
from sigservice.routes.admin import projects as admin_projects
from sigservice.routes.admin import segments as admin_segments
from sigservice.routes.admin import service_accounts as admin_service_accounts
from sigservice.routes.admin import sessions as admin_sessions
from sigservice.routes.admin import signal_endpoint_tokens as admin_signal_endpoint_tokens
from sigservice.routes.admin import signal_endpoints as admin_signal_endpoints
from sigservice.routes.admin import signals as admin_signals
from sigservice.routes.admin import statistics as admin_statistics
from sigservice.routes.admin import strategy_types as admin_strategy_types
from sigservice.routes.admin import tag_types as admin_tag_types
from sigservice.routes.admin import tags as admin_tags
from sigservice.routes.admin import ui_config as admin_ui_config
from sigservice.routes.admin import users as admin_users
from sigservice.routes.pages import action_form as page_action_form
from sigservice.routes.pages import action_runs as page_action_runs
from sigservice.routes.pages import action_trial as page_action_trial
from sigservice.routes.pages import actions as page_actions
from sigservice.routes.pages import api_tokens as page_api_tokens
from sigservice.routes.pages import client_applications as page_client_applications
from sigservice.routes.pages import context_fields as page_context_fields
from sigservice.routes.pages import environments as page_environments
from sigservice.routes.pages import events as page_events
from sigservice.routes.pages import feature_archive as page_feature_archive
from sigservice.routes.pages import feature_environments as page_feature_environments
from sigservice.routes.pages import feature_relations as page_feature_relations
from sigservice.routes.pages import feature_strategies as page_feature_strategies
from sigservice.routes.pages import features as page_features
from sigservice.routes.pages import home as page_home
from sigservice.routes.pages import integrations as page_integrations
from sigservice.routes.pages import playground as page_playground
from sigservice.routes.pages import profile as page_profile
from sigservice.routes.pages import projects as page_projects
from sigservice.routes.pages import reset_password as page_reset_password
from sigservice.routes.pages import segments as page_segments
from sigservice.routes.pages import service_accounts as page_service_accounts
from sigservice.routes.pages import sign_in as page_sign_in
from sigservice.routes.pages import signal_endpoint_tokens as page_signal_endpoint_tokens
from sigservice.routes.pages import signal_endpoints as page_signal_endpoints
from sigservice.routes.pages import signals as page_signals
from sigservice.routes.pages import users as page_users
from sigservice.services.authentication import Custom
from sigservice.web.admission import admission
from sigservice.web.area import new_root
from sigservice.web.cors import allow_origins, answer_preflights
from sigservice.web.errors import ErrorPlugin, router_error
from sigservice.web.wrap import Wsgi, compress
from sigservice.web.wrap import edge as outermost
from sigservice.wire import Admit

AREAS = (
    signals,
    health,
    static,
    api_description,
    auth,
    reset_password,
    client,
    client_applications,
    client_metrics,
    frontend,
    edge,
    admin_signal_endpoints,
    admin_signal_endpoint_tokens,
    admin_signals,
    admin_events,
    admin_users,
    admin_segments,
    admin_features,
    admin_actions,
    admin_action_runs,
    admin_action_recipes,
    admin_notifications,
    admin_feature_search,
    admin_legacy_features,
    admin_feature_strategies,
    admin_feature_relations,
    admin_feature_environments,
    admin_feature_archive,
    admin_playground,
    admin_current_user,
    admin_service_accounts,
    admin_api_tokens,
    admin_project_api_tokens,
    admin_personal_tokens,
    admin_sessions,
    admin_client_applications,
    admin_client_metrics,
    admin_statistics,
    admin_environments,
    admin_projects,
    admin_project_environments,
    admin_context_fields,
    admin_strategy_types,
    admin_feature_types,
    admin_tag_types,
    admin_tags,
    admin_ui_config,
    admin_exchange,
    page_home,
    page_sign_in,
    page_reset_password,
    page_features,
    page_feature_environments,
    page_feature_strategies,
    page_feature_relations,
    page_feature_archive,
    page_segments,
    page_signal_endpoints,
    page_signal_endpoint_tokens,
    page_signals,
    page_actions,
    page_action_form,
    page_action_runs,
    page_action_trial,
    page_client_applications,
    page_projects,
    page_environments,
    page_integrations,
    page_context_fields,
    page_playground,
    page_events,
    page_profile,
    page_api_tokens,
    page_users,
    page_service_accounts,
)


def make_app(context: Context) -> tuple[Wsgi, Admit]:
    """The whole service as one WSGI callable, with the user's hooks in their places; and what
    decides on large bodies, for `wire.Entrance`."""
    config = context.config
    root = new_root()
    root.install(ErrorPlugin(context))  # for routes that a hook adds
    outer = _hook(config["preHook"], "preHook", root)
    _call_handler(context, root)
    inner = _hook(config["preRouterHook"], "preRouterHook", root)
    of_hooks = list(root.routes)
    for area in AREAS:
        root.merge(area.build(context))
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
        reason = one_line(f"{type(error).__name__}: {error}")
        raise StartError(f"{name} failed: {reason}") from error
    if wrapper is not None and not callable(wrapper):
        raise StartError(f"{name} must return nothing or a function that wraps a WSGI application.")
    return wrapper
