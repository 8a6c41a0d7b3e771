"""The audit log, JSON: newest first, filtered and searched.

What concerns no project (users, tokens, settings) is for admins only.
"""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.clock import iso
from sigservice.context import Context
from sigservice.db.run import Row
from sigservice.repository import events
from sigservice.repository.events import Filter
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor
from sigservice.web.paging import Paging, any_of, days, paging


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    def answer(wanted: Filter, asked: Paging, **more: Any) -> HTTPResponse:
        with context.database.transaction(bulkhead="search") as conn:
            rows = events.list_newest(
                conn, wanted, limit=asked.limit, before=asked.before, offset=asked.offset
            )
            total = events.count(conn, wanted)
        shown = [_to_json(row) for row in rows]
        return respond.json({**more, "events": shown, "totalEvents": total, "total": total})

    @area.get("/api/admin/events", needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        projects = [query["project"]] if query.get("project") else None
        types = [query["type"]] if query.get("type") else None
        return answer(Filter(types=types, projects=projects), paging(query), version=1)

    @area.get("/api/admin/events/<name>", needs=VIEW)
    def list_of_flag(identity: Identity, name: str) -> HTTPResponse:
        query = read_query(request.environ)
        return answer(Filter(features=[name]), paging(query), version=1, toggleName=name)

    @area.get("/api/admin/search/events", needs=VIEW)
    def search(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        start, end = days(query)
        wanted = Filter(
            types=any_of(query, "type"),
            features=any_of(query, "feature"),
            projects=any_of(query, "project"),
            environments=any_of(query, "environment"),
            authors=any_of(query, "createdBy"),
            start=start,
            end=end,
            text=query.get("query", "").strip() or None,
            projects_only=not identity.may(ADMIN),
        )
        return answer(wanted, paging(query))

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
        "tags": [],
    }


def _raw(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())
