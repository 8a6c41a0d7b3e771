"""Where an admin looks for what connects this service with others."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import signal_endpoints
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import PageDoor


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.get("/admin/integrations", needs=ADMIN)
    def show_list(identity: Identity) -> HTTPResponse:
        with context.database.transaction() as conn:
            endpoints = signal_endpoints.list_all(conn)
        return respond.page(
            context,
            "integrations/list",
            identity,
            title="Integrations",
            signal_endpoints=len(endpoints),
            signal_endpoints_limit=context.config["signals"]["endpointsLimit"],
        )

    return area
