"""State of flags in environments, JSON: read, enable, disable, one or many."""

import msgspec

from sigservice.services.flags import feature_states, feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, read_query, request, respond

STATE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
BULK = "/api/admin/projects/<project>/bulk_features/environments/<environment>"


class BulkBody(msgspec.Struct):
    features: list[str]


router = Router(AdminGuard)


@router.get(STATE, needs=VIEW)
def show_feature_environment(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    target = FeatureEnvironment(project, name, environment)
    with context.database.transaction() as conn:
        state = {
            "name": name,
            "featureName": name,
            "environment": environment,
            "enabled": feature_states.get_state(conn, target)["enabled"],
            "strategies": strategies.list_strategies(conn, target),
        }
    return respond.json(state)


def _switch(
    context: Context, target: FeatureEnvironment, enabled: bool, identity: Identity
) -> HTTPResponse:
    option = read_query(request.environ).get("shouldActivateDisabledStrategies")
    with context.database.transaction() as conn:
        feature_switches.switch(conn, target, enabled, identity, activate_disabled=option == "true")
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


@router.post(f"{BULK}/on", needs=EDIT, takes=BulkBody)
def enable_features(
    context: Context, identity: Identity, project: str, environment: str, body: BulkBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_switches.switch_all(conn, project, environment, body.features, True, identity)
    return respond.empty()


@router.post(f"{BULK}/off", needs=EDIT, takes=BulkBody)
def disable_features(
    context: Context, identity: Identity, project: str, environment: str, body: BulkBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_switches.switch_all(conn, project, environment, body.features, False, identity)
    return respond.empty()
