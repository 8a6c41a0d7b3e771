"""The first page: what came in lately (for admins, who may read signals) and where to go on."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.run import Row
from sigservice.repository import features, signal_endpoints, signals
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import PageDoor

SHOWN = 10


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.get("/", needs=VIEW)
    def home(identity: Identity) -> HTTPResponse:
        with context.database.transaction() as conn:
            endpoints = signal_endpoints.list_all(conn)
            flags = features.count(conn)
            newest = _newest_signals(conn) if identity.may(ADMIN) else []
        return respond.page(
            context,
            "home/show",
            identity,
            title="Home",
            features=flags,
            endpoints=endpoints,
            signals=newest,
        )

    return area


def _newest_signals(conn: Connection) -> list[Row]:
    return signals.list_all(conn, from_time=None, to_time=None, before=None, limit=SHOWN)
