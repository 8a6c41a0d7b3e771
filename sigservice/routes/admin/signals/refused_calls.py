"""Refused calls of signal endpoints, JSON: of one endpoint, and of names that no endpoint has."""

from sigservice.db.pool import Connection
from sigservice.repository.signals import refused_calls as refused_call_rows
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import refused_calls, signal_endpoints
from sigservice.web import AdminGuard, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/signal-endpoints/<id:id>/refused-calls", needs=ADMIN)
def list_refused_calls_of_endpoint(conn: Connection, identity: Identity, id: int) -> Json:
    signal_endpoints.get(conn, id)
    rows = refused_call_rows.list_of_endpoint(conn, id)
    return {"refusedCalls": [refused_calls.to_json(row) for row in rows]}


@router.get("/api/admin/refused-calls", needs=ADMIN, autocommit=True)
def list_refused_calls_of_unknown_names(conn: Connection, identity: Identity) -> Json:
    rows = refused_call_rows.list_of_endpoint(conn, None)
    return {"refusedCalls": [refused_calls.to_json(row) for row in rows]}
