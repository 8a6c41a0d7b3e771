"""The first page: what came in lately (for admins, who may read signals) and where to go on."""

from __future__ import annotations

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.flags import features
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SHOWN = 10


router = Router(PageGuard)


@router.get("/", needs=VIEW)
def home(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoints = signal_endpoints.list_all(conn)
        flags = features.count(conn)
        newest = _newest_signals(conn) if identity.has_permission(ADMIN) else []
    return respond.page(
        context,
        "system/home/show",
        identity,
        title="Home",
        features=flags,
        endpoints=endpoints,
        signals=newest,
    )


def _newest_signals(conn: Connection) -> list[Row]:
    return signals.list_all(conn, from_time=None, to_time=None, before=None, limit=SHOWN)
