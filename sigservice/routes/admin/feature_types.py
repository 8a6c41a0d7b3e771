"""Feature types, JSON: the list."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import feature_types
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get("/api/admin/feature-types", needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = feature_types.list_all(conn)
        shown = [
            {
                "id": row["id"],
                "name": row["name"],
                "description": row["description"],
                "lifetimeDays": row["lifetime_days"],
            }
            for row in rows
        ]
        return respond.json({"version": 1, "types": shown})

    return area
