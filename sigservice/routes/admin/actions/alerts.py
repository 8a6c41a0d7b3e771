"""What people on call read without ADMIN: the flags that alerts hold and the states of signals."""

from sigservice.clock import format_iso, format_optional
from sigservice.repository.system import home
from sigservice.services.actions import held_flags, ignored_alerts
from sigservice.services.identity import VIEW, Identity
from sigservice.services.signals import signal_state_list
from sigservice.web import AdminGuard, Connection, Context, Json, Router, read_query, request
from sigservice.web.paging import read_paging

MAX_ALERTS = 1000

router = Router(AdminGuard)


@router.get("/api/admin/alerts", needs=VIEW)
def list_alerts(conn: Connection, identity: Identity) -> Json:
    """Query: `feature`. `{"alerts": [{project, feature, environment, enabled, since, isFiring,
    keptBy, lastReportedAt, runId, actionSet: {id, name}, signalId, signalEndpoint: {id, name},
    summary}], "ignoredAlerts": [{project, actionSet, runId, createdBy, createdAt, key}]}`: the
    flags that alerts hold in the state `enabled`, newest first, at most 1000; `keptBy` is who keeps
    the flag off; `summary` and `key` are null without EDIT."""
    feature = read_query(request.environ).get("feature")
    features = [feature] if feature else None
    rows = held_flags.list_held_flags(conn, identity, limit=MAX_ALERTS, features=features)
    ignored = ignored_alerts.list_json(conn, identity)
    alerts = [held_flags.to_json(row) for row in rows]
    return {"alerts": alerts, "ignoredAlerts": ignored}


@router.get("/api/admin/signal-states", needs=VIEW)
def list_signal_states(context: Context, identity: Identity) -> Json:
    """Query: `limit`, `before`. `{"signals": [{id, createdAt, signalEndpoint: {id, name}, status,
    severity}], "silentEndpoints": [{id, name, since, lastSignalAt}]}`, newest first, without
    payloads."""
    page = read_paging(read_query(request.environ))
    with context.database.transaction(is_slow=True) as conn:
        rows = signal_state_list.list_signal_states(conn, limit=page.limit, before=page.before)
        silent = home.list_silent_endpoints(conn)
    return {
        "signals": [signal_state_list.to_json(row) for row in rows],
        "silentEndpoints": [
            {
                "id": row["id"],
                "name": row["name"],
                "since": format_iso(row["since"]),
                "lastSignalAt": format_optional(row["last_signal_at"]),
            }
            for row in silent
        ],
    }
