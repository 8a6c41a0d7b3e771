"""Refused calls of signal endpoints, pages: of one endpoint, and of names that no endpoint has."""

from sigservice.repository.signals import refused_calls
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond

router = Router(PageGuard)


@router.get("/admin/signals/<id:id>/refused", needs=ADMIN)
def list_refused_calls_of_endpoint(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        rows = refused_calls.list_of_endpoint(conn, id)
    return respond.page(
        context,
        "signals/refused_calls/list",
        identity,
        title=f"Refused calls: {endpoint['name']}",
        endpoint=endpoint,
        calls=rows,
    )


@router.get("/admin/signals/refused", needs=ADMIN)
def list_refused_calls_of_unknown_names(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = refused_calls.list_of_endpoint(conn, None)
    return respond.page(
        context,
        "signals/refused_calls/list",
        identity,
        title="Refused calls of unknown endpoints",
        endpoint=None,
        calls=rows,
    )
