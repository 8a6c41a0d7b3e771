"""The home page: recent signals for admins, who may read them, and the first steps."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.flags import features
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.signals.signal_summaries import make_summarizers, summarize_row
from sigservice.web import respond
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

RECENT_SIGNALS = 10
NOTICES = {"password": "Password set. You are signed in."}


router = Router(PageGuard)


@router.get("/", needs=VIEW)
def show_home(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoints = signal_endpoints.list_all(conn)
        flags = features.count(conn)
        recent = _list_recent_signals(conn, endpoints) if identity.has_permission(ADMIN) else []
    return respond.page(
        context,
        "system/home/show",
        identity,
        title="Home",
        features=flags,
        endpoints=endpoints,
        signals=recent,
        notice=respond.find_notice(NOTICES),
    )


def _list_recent_signals(conn: Connection, endpoints: list[Row]) -> list[Row]:
    rows = signals.list_all(conn, from_time=None, to_time=None, before=None, limit=RECENT_SIGNALS)
    summarizers = make_summarizers(endpoints)
    return [
        row | {"summary": summarize_row(summarizers[row["endpoint_id"]], row)}
        for row in rows
        if row["endpoint_id"] in summarizers  # it may have been created in between
    ]
