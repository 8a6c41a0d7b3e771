"""The audit log, JSON: newest first, filtered and searched.

services/system/events.py decides what a caller may read; the rest is not listed, counted or found.
"""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.repository.system import events as repository
from sigservice.repository.system.events import EventFilter
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.system import events
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.paging import Paging, read_days, read_paging, read_values
from sigservice.web.router import Router

router = Router(AdminGuard)


def answer(
    context: Context, identity: Identity, wanted: EventFilter, asked: Paging, **more: Any
) -> HTTPResponse:
    readable = events.restrict_to_readable(identity, wanted)
    with context.database.transaction(bulkhead="search") as conn:
        rows = repository.list_newest(
            conn, readable, limit=asked.limit, before=asked.before, offset=asked.offset
        )
        total = repository.count(conn, readable)
    shown = [events.to_json(row, identity) for row in rows]
    return respond.json({**more, "events": shown, "totalEvents": total, "total": total})


@router.get("/api/admin/events", needs=ADMIN)
def list_all(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    projects = [query["project"]] if query.get("project") else None
    types = [query["type"]] if query.get("type") else None
    return answer(
        context,
        identity,
        EventFilter(types=types, projects=projects),
        read_paging(query),
        version=1,
    )


@router.get("/api/admin/events/<name>", needs=VIEW)
def list_of_flag(context: Context, identity: Identity, name: str) -> HTTPResponse:
    query = read_query(request.environ)
    return answer(
        context,
        identity,
        EventFilter(features=[name]),
        read_paging(query),
        version=1,
        toggleName=name,
    )


@router.get("/api/admin/search/events", needs=VIEW)
def search(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    start, end = read_days(query)
    wanted = EventFilter(
        types=read_values(query, "type"),
        features=read_values(query, "feature"),
        projects=read_values(query, "project"),
        environments=read_values(query, "environment"),
        authors=read_values(query, "createdBy"),
        start=start,
        end=end,
        text=query.get("query", "").strip() or None,
    )
    return answer(context, identity, wanted, read_paging(query))
