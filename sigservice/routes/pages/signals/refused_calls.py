"""Refused calls of signal endpoints, pages: of one endpoint, and of names that no endpoint has."""

from sigservice.repository.signals import refused_calls
from sigservice.routes.pages.signals.endpoint_tabs import ONE, PATH, find_endpoint, render_tab
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond

router = Router(PageGuard)


@router.get(f"{ONE}/refused", needs=ADMIN)
def list_refused_calls_of_endpoint(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = find_endpoint(conn, id)
        rows = refused_calls.list_of_endpoint(conn, id)
    return render_tab(
        context,
        "signals/refused_calls/list",
        identity,
        endpoint,
        "refused",
        calls=rows,
    )


@router.get(f"{PATH}/refused", needs=ADMIN)
def list_refused_calls_of_unknown_names(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = refused_calls.list_of_endpoint(conn, None)
    return respond.page(
        context,
        "signals/refused_calls/list",
        identity,
        title="Refused calls of unknown endpoints",
        breadcrumbs=[("Signal endpoints", PATH)],
        endpoint=None,
        calls=rows,
    )
