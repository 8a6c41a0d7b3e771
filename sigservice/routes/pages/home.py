"""The first page: what came in lately and where to go on."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import features, signal_endpoints, signals
from sigservice.services.identity import VIEW, Identity
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
            newest = signals.list_all(conn, from_time=None, to_time=None, before=None, limit=SHOWN)
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
