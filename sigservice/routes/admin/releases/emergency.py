"""The emergency, JSON: roll back, undo, freeze and pause in one request."""

from sigservice.errors import BadDataError
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.releases import emergency_orders
from sigservice.services.releases.emergency_orders import Order
from sigservice.services.system import emergency
from sigservice.web import AdminGuard, Context, Json, Router, read_query, request

EMERGENCY = "/api/admin/emergency"

router = Router(AdminGuard)


@router.get(EMERGENCY, needs=VIEW)
def show_emergency(context: Context, identity: Identity) -> Json:
    """`{"frozen": {by, at, endsAt, reason} or null, "paused": …}`."""
    with context.database.autocommit() as conn:
        return emergency.to_json(emergency.read(conn, context.clock.now()))


@router.post(EMERGENCY, needs=EDIT, takes=Order)
def start_emergency(context: Context, identity: Identity, body: Order) -> Json:
    """Body: `{rollBackReleases?, freezeReleases?, pauseAutomation?, undoMinutes?,
    endsAfterMinutes?, project?, reason, dryRun?}`; `freezeReleases` and `pauseAutomation` need
    ADMIN. `{"changes": [{feature, project, environment, "from": {enabled, rollout}, "to",
    releaseId, runId, changed, reason}], frozen, paused, endsAt}`: an entry for each release that
    runs or is on hold, and for each change of a run of the last `undoMinutes`. With `dryRun`
    nothing changes."""
    result = emergency_orders.perform(context.database.transaction, body, identity, context.clock)
    context.signals_waiting.set()
    with context.database.autocommit() as conn:
        context.release_watch.read_emergency(conn)
    return result


@router.delete(EMERGENCY, needs=ADMIN)
def end_emergency(context: Context, identity: Identity) -> Json:
    """Query: `what=freeze` or `pause`. As GET."""
    what = read_query(request.environ).get("what", "")
    if what not in emergency.MEMBERS:
        raise BadDataError("The query parameter what must be freeze or pause.", path="what")
    with context.database.transaction() as conn:
        emergency.end(conn, what, identity, context.clock.now())
        context.release_watch.read_emergency(conn)
        return emergency.to_json(emergency.read(conn, context.clock.now()))
