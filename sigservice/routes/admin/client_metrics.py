"""How often a flag was on and off, JSON: the running hour, and hour by hour."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse, request

from sigservice.clock import iso
from sigservice.context import Context
from sigservice.repository import client_metrics as repository
from sigservice.services import client_metrics
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query, whole_number
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/client-metrics/features/<name>"
MARK = {"version": 1, "maturity": "stable"}
HOURS, MOST_HOURS = 24, 48


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=VIEW)
    def show(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            rows = repository.list_hours(conn, name, 1)
            applications = repository.list_app_names(conn, name)
        usage = [
            {
                "environment": row["environment"],
                "timestamp": iso(row["hour"]),
                "yes": row["yes"],
                "no": row["no"],
            }
            for row in rows
        ]
        return respond.json(
            MARK | {"featureName": name, "lastHourUsage": usage, "seenApplications": applications}
        )

    @area.get(f"{PATH}/raw", needs=VIEW)
    def show_raw(identity: Identity, name: str) -> HTTPResponse:
        query = read_query(request.environ)
        hours = whole_number(query, "hoursBack", HOURS, 1, MOST_HOURS) or HOURS
        with context.database.autocommit() as conn:
            data = client_metrics.list_raw(conn, name, hours, context.clock.now())
        return respond.json(MARK | {"data": data})

    return area
