"""The audit log, JSON: newest first, filtered and searched.

What a caller may not read is neither listed nor counted nor found: services/events.py decides.
"""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.repository import events as repository
from sigservice.repository.events import Filter
from sigservice.services import events
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor
from sigservice.web.paging import Paging, any_of, days, paging


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    def answer(identity: Identity, wanted: Filter, asked: Paging, **more: Any) -> HTTPResponse:
        readable = events.readable_by(identity, wanted)
        with context.database.transaction(bulkhead="search") as conn:
            rows = repository.list_newest(
                conn, readable, limit=asked.limit, before=asked.before, offset=asked.offset
            )
            total = repository.count(conn, readable)
        shown = [events.to_json(row, identity) for row in rows]
        return respond.json({**more, "events": shown, "totalEvents": total, "total": total})

    @area.get("/api/admin/events", needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        projects = [query["project"]] if query.get("project") else None
        types = [query["type"]] if query.get("type") else None
        return answer(identity, Filter(types=types, projects=projects), paging(query), version=1)

    @area.get("/api/admin/events/<name>", needs=VIEW)
    def list_of_flag(identity: Identity, name: str) -> HTTPResponse:
        query = read_query(request.environ)
        return answer(identity, Filter(features=[name]), paging(query), version=1, toggleName=name)

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
        )
        return answer(identity, wanted, paging(query))

    return area
