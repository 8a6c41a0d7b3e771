"""Applications and their instances, JSON."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse, request

from sigservice.clock import iso
from sigservice.context import Context
from sigservice.repository import client_applications as repository
from sigservice.services import client_applications
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor
from sigservice.web.paging import LARGEST_LIMIT, paging

PATH = "/api/admin/metrics/applications"
INSTANCES = "/api/admin/metrics/instances"


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        asked = paging(query, LARGEST_LIMIT)
        with context.database.transaction() as conn:
            rows, total = client_applications.list_page(
                conn, text=query.get("query", ""), limit=asked.limit, offset=asked.offset
            )
        return respond.json({"applications": rows, "total": total})

    # A name may hold slashes.
    @area.get(f"{PATH}/<name:path>/overview", needs=VIEW)
    def overview(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(client_applications.overview(conn, name))

    @area.get(f"{PATH}/<name:path>", needs=VIEW)
    def read(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(client_applications.describe(conn, name))

    @area.delete(f"{PATH}/<name:path>", needs=EDIT)
    def delete(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            client_applications.delete(conn, name, identity)
        return respond.empty()

    @area.get(f"{INSTANCES}/<name:path>/environment/<environment>", needs=VIEW)
    def list_instances(identity: Identity, name: str, environment: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_instances(
                conn, name, environment=environment, limit=LARGEST_LIMIT
            )
        shows_addresses = identity.may(ADMIN)
        shown = [
            {
                "instanceId": row["instance_id"],
                "sdkVersion": row["sdk_version"],
                "clientIp": row["client_ip"] if shows_addresses else None,
                "lastSeen": iso(row["last_seen"]),
            }
            for row in rows
        ]
        return respond.json({"instances": shown})

    return area
