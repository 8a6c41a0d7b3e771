"""Admin API: the audit log, newest first, with filters and search.

services/system/events.py limits lists, counts and searches to what the caller may read.
"""

from dataclasses import asdict
from typing import Any

from sigservice.errors import BadDataError
from sigservice.repository.system import events as event_rows
from sigservice.repository.system.events import EventFilter
from sigservice.services.identity import VIEW, Identity
from sigservice.services.system import event_export, events
from sigservice.services.system.event_export import FORMATS
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, read_query, request, respond
from sigservice.web.list_filters import read_event_filter
from sigservice.web.paging import Paging, read_paging
from sigservice.web.streamed_files import send_file

router = Router(AdminGuard)


def _render_list(
    context: Context, identity: Identity, event_filter: EventFilter, paging: Paging, **more: Any
) -> HTTPResponse:
    readable = events.restrict_to_readable(identity, event_filter)
    with context.database.transaction(is_slow=True) as conn:
        page = events.list_page(conn, readable, **asdict(paging))
        total = event_rows.count(conn, page.event_filter)
    return respond.json(
        {
            **more,
            "events": [events.to_json(row, identity) for row in page.rows],
            "totalEvents": total,
            "total": total,
            "nextBefore": page.next_before,
            "searchedToEnd": page.searched_to_end,
        }
    )


@router.get("/api/admin/events", needs=VIEW)
def list_events(context: Context, identity: Identity) -> HTTPResponse:
    """Query: `type`, `project`, `limit`, `offset`, `before`. `{"events": [event], "total",
    "totalEvents", "nextBefore", "searchedToEnd"}`, newest first."""
    query = read_query(request.environ)
    projects = [query["project"]] if query.get("project") else None
    types = [query["type"]] if query.get("type") else None
    event_filter = EventFilter(types=types, projects=projects)
    return _render_list(context, identity, event_filter, read_paging(query), version=1)


@router.get("/api/admin/events/<name>", needs=VIEW)
def list_events_of_flag(context: Context, identity: Identity, name: str) -> HTTPResponse:
    """Query: `limit`, `offset`, `before`. The events of one flag."""
    paging, more = read_paging(read_query(request.environ)), {"version": 1, "toggleName": name}
    return _render_list(context, identity, EventFilter(features=[name]), paging, **more)


@router.get("/api/admin/search/events", needs=VIEW)
def search_events(context: Context, identity: Identity) -> HTTPResponse:
    """Query: `type`, `feature`, `project`, `environment`, `createdBy` (each `IS:x` or
    `IS_ANY_OF:x,y`), `query`, `from`, `to`, `limit`, `offset`, `before`. As `/api/admin/events`."""
    query = read_query(request.environ)
    return _render_list(context, identity, read_event_filter(query), read_paging(query))


@router.get("/api/admin/search/events/export", needs=VIEW)
def export_events(context: Context, identity: Identity) -> HTTPResponse:
    """Query: the filters of the search and `format` (`ndjson`, `csv`). A file with all events that
    match, newest first."""
    query = read_query(request.environ)
    format, filter = query.get("format") or "ndjson", read_event_filter(query)
    if format not in FORMATS:
        raise BadDataError(f"format must be one of {', '.join(FORMATS)}.", path="format")
    filter = events.restrict_to_readable(identity, filter)
    head, encode = event_export.make_encoder(format, identity)
    return send_file(
        context,
        identity,
        f"audit-log-{context.clock.now():%Y-%m-%d}.{format}",
        FORMATS[format],
        head=head,
        read=lambda conn, before: event_export.read_part(conn, filter, before),
        encode=encode,
    )
