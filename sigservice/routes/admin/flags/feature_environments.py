"""State of flags in environments, JSON: read, enable, disable, one or many."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.services.flags import feature_states, feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

STATE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
BULK = "/api/admin/projects/<project>/bulk_features/environments/<environment>"


class BulkBody(msgspec.Struct):
    features: list[str]


router = Router(AdminGuard)


@router.get(STATE, needs=VIEW)
def show_feature_environment(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(_state_to_json(conn, FeatureEnvironment(project, name, environment)))


@router.get(f"{STATE}/variants", needs=VIEW)
def show_variants(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        state = feature_states.get_state(conn, FeatureEnvironment(project, name, environment))
    variants = msgspec.Raw(state["variants"].encode())
    return respond.json({"version": 1, "variants": variants})


def _switch(
    context: Context, target: FeatureEnvironment, enabled: bool, identity: Identity
) -> HTTPResponse:
    query = read_query(request.environ)
    with context.database.transaction() as conn:
        feature_switches.switch(
            conn,
            target,
            enabled,
            identity,
            activate_disabled=query.get("shouldActivateDisabledStrategies") == "true",
        )
    return respond.empty()


@router.post(f"{STATE}/on", needs=EDIT)
def enable_feature(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    return _switch(context, FeatureEnvironment(project, name, environment), True, identity)


@router.post(f"{STATE}/off", needs=EDIT)
def disable_feature(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    return _switch(context, FeatureEnvironment(project, name, environment), False, identity)


def _switch_all(
    context: Context,
    project: str,
    environment: str,
    names: list[str],
    enabled: bool,
    identity: Identity,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_switches.switch_all(conn, project, environment, names, enabled, identity)
    return respond.empty()


@router.post(f"{BULK}/on", needs=EDIT, takes=BulkBody)
def enable_features(
    context: Context, identity: Identity, project: str, environment: str, body: BulkBody
) -> HTTPResponse:
    return _switch_all(context, project, environment, body.features, True, identity)


@router.post(f"{BULK}/off", needs=EDIT, takes=BulkBody)
def disable_features(
    context: Context, identity: Identity, project: str, environment: str, body: BulkBody
) -> HTTPResponse:
    return _switch_all(context, project, environment, body.features, False, identity)


def _state_to_json(conn: Connection, target: FeatureEnvironment) -> dict[str, Any]:
    state = feature_states.get_state(conn, target)
    return {
        "name": target.feature,
        "featureName": target.feature,
        "environment": target.environment,
        "enabled": state["enabled"],
        "strategies": strategies.list_strategies(conn, target),
    }
