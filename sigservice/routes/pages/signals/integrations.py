"""The overview of integrations; signals are the only one."""

from sigservice.repository.signals import signal_endpoints
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond

router = Router(PageGuard)


@router.get("/admin/integrations", needs=ADMIN)
def list_integrations(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        endpoints = signal_endpoints.list_all(conn)
    return respond.page(
        context,
        "signals/integrations/list",
        identity,
        title="Integrations",
        endpoint_count=len(endpoints),
        endpoint_limit=context.config["signals"]["endpointsLimit"],
    )
