"""How often a flag was on and off, JSON: the running hour, and hour by hour."""

from __future__ import annotations

from bottle import HTTPResponse, request

from sigservice.clock import format_iso
from sigservice.context import Context
from sigservice.repository.usage import client_metrics as repository
from sigservice.services.identity import VIEW, Identity
from sigservice.services.usage import client_metrics
from sigservice.web import respond
from sigservice.web.body import read_number, read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/client-metrics/features/<name>"
MARK = {"version": 1, "maturity": "stable"}
HOURS, MOST_HOURS = 24, 48


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def show(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_hours(conn, name, 1)
        applications = repository.list_app_names(conn, name)
    usage = [
        {
            "environment": row["environment"],
            "timestamp": format_iso(row["hour"]),
            "yes": row["yes"],
            "no": row["no"],
        }
        for row in rows
    ]
    return respond.json(
        MARK | {"featureName": name, "lastHourUsage": usage, "seenApplications": applications}
    )


@router.get(f"{PATH}/raw", needs=VIEW)
def show_raw(context: Context, identity: Identity, name: str) -> HTTPResponse:
    query = read_query(request.environ)
    hours = read_number(query, "hoursBack", HOURS, 1, MOST_HOURS) or HOURS
    with context.database.autocommit() as conn:
        data = client_metrics.list_raw(conn, name, hours, context.clock.now())
    return respond.json(MARK | {"data": data})
