"""State of flags in environments, JSON: read, enable, disable, one or many."""

import msgspec

from sigservice.services.actions import firing_alerts
from sigservice.services.flags import feature_states, feature_switches, feature_view, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Context, Json, Router, read_query, request

STATE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
BULK = "/api/admin/projects/<project>/bulk_features/environments/<environment>"


class BulkBody(msgspec.Struct):
    features: list[str]


router = Router(AdminGuard)


@router.get(STATE, needs=VIEW)
def show_feature_environment(
    conn: Connection, identity: Identity, target: FeatureEnvironment
) -> Json:
    """`{name, environment, enabled, strategies}`."""
    return {
        "name": target.feature,
        "featureName": target.feature,
        "environment": target.environment,
        "enabled": feature_states.get_state(conn, target)["enabled"],
        "strategies": strategies.list_strategies(conn, target),
    }


@router.post(f"{STATE}/<is_on:switch>", needs=EDIT)
def switch_feature(
    context: Context, identity: Identity, target: FeatureEnvironment, is_on: bool
) -> Json:
    """Query of `on`: `shouldActivateDisabledStrategies=true`, `alert=ignore` or `disable`. The
    flag. With `alert` the alerts that hold it off and still fire are ignored until they resolve, or
    their action sets are disabled. Without an active strategy, `on` adds the default strategy of
    the project, enabled, otherwise a rollout to 100% of users.

    The flag is read after the commit, so that other changes don't wait for it.
    """
    query = read_query(request.environ)
    option, choice = query.get("shouldActivateDisabledStrategies"), query.get("alert")
    with context.database.transaction() as conn:
        if is_on and choice is not None:
            firing_alerts.settle(conn, [target], choice, identity, context.clock.now())
        feature_switches.switch(conn, target, is_on, identity, activate_disabled=option == "true")
    with context.database.autocommit() as conn:
        return feature_view.build_view(conn, target.project, target.feature, identity.user_id)


@router.post(f"{BULK}/<is_on:switch>", needs=EDIT, takes=BulkBody)
def switch_features(
    conn: Connection,
    identity: Identity,
    project: str,
    environment: str,
    is_on: bool,
    body: BulkBody,
) -> None:
    """Body: `{features: [name]}`. All or none."""
    feature_switches.switch_all(conn, project, environment, body.features, is_on, identity)
