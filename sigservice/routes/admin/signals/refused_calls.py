"""Refused calls of signal endpoints, JSON: of one endpoint, and of names that no endpoint has."""

from sigservice.repository.signals import refused_calls as refused_call_rows
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import refused_calls, signal_endpoints
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

router = Router(AdminGuard)


@router.get("/api/admin/signal-endpoints/<id:id>/refused-calls", needs=ADMIN)
def list_refused_calls_of_endpoint(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.get(conn, id)
        rows = refused_call_rows.list_of_endpoint(conn, id)
    return respond.json({"refusedCalls": [refused_calls.to_json(row) for row in rows]})


@router.get("/api/admin/refused-calls", needs=ADMIN)
def list_refused_calls_of_unknown_names(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = refused_call_rows.list_of_endpoint(conn, None)
    return respond.json({"refusedCalls": [refused_calls.to_json(row) for row in rows]})
