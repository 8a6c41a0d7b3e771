"""The audit log, JSON: newest first, by type."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.clock import iso
from sigservice.context import Context
from sigservice.db.run import Row
from sigservice.repository import events
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor
from sigservice.web.paging import paging


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get("/api/admin/events", needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        asked, type = paging(query), query.get("type") or None
        with context.database.transaction() as conn:
            rows = events.list_newest(
                conn, type=type, before=asked.before, limit=asked.limit, offset=asked.offset
            )
            total = events.count(conn, type=type)
        return respond.json({"events": [_to_json(row) for row in rows], "totalEvents": total})

    return area


def _to_json(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "createdAt": iso(row["created_at"]),
        "type": row["type"],
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "ip": row["ip"],
        "project": row["project"],
        "environment": row["environment"],
        "featureName": row["feature_name"],
        "data": _raw(row["data"]),
        "preData": _raw(row["pre_data"]),
    }


def _raw(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())
