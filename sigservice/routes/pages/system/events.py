"""The page of the event log."""

from urllib.parse import urlencode

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.repository.system import events as repository
from sigservice.repository.system.events import EventFilter
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.system import events
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.paging import read_paging
from sigservice.web.router import Router

PAGE_SIZE = 50
# Event types whose own words would mislead.
LABELS = {
    "actions-created": "action-set-created",
    "actions-deleted": "action-set-deleted",
    "actions-updated": "action-set-updated",
    "feature-environment-disabled": "flag-disabled",
    "feature-environment-enabled": "flag-enabled",
    "feature-environment-variants-updated": "variants-updated",
    "feature-metadata-updated": "flag-updated",
    "feature-strategy-add": "strategy-added",
    "feature-strategy-remove": "strategy-removed",
    "feature-strategy-update": "strategy-updated",
    "pat-created": "personal-token-created",
    "pat-deleted": "personal-token-deleted",
}


router = Router(PageGuard)


@router.get("/admin/events", needs=ADMIN)
def list_events(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    before, type = read_paging(query).before, query.get("type", "")
    feature, text = query.get("feature", "").strip(), query.get("query", "").strip()
    event_filter = EventFilter(
        types=[type] if type else None, features=[feature] if feature else None, text=text or None
    )
    with context.database.transaction(bulkhead="search") as conn:
        page = events.list_page(conn, event_filter, before=before, limit=PAGE_SIZE)
        types = repository.list_types(conn)
    rows = [
        row
        | {
            "label": format_event_type(row["type"]),
            "data": _format_json(row["data"]),
            "pre_data": _format_json(row["pre_data"]),
            "subject": _find_subject(row),
        }
        for row in page.rows
    ]
    values = {"type": type, "feature": feature, "query": text}
    filters = {name: value for name, value in values.items() if value}
    return respond.page(
        context,
        "system/events/list",
        identity,
        title="Events",
        events=rows,
        types=[("", "All"), *((name, format_event_type(name)) for name in types)],
        type=type,
        feature=feature,
        query=text,
        is_filtered=bool(filters),
        older=urlencode(filters | {"before": page.next_before}) if page.next_before else "",
        newest=urlencode(filters),
        at_newest=before is None,
        searched_to_end=page.searched_to_end,
    )


def format_event_type(type: str) -> str:
    """An event type in words, for example "Flag created"."""
    return LABELS.get(type, type).replace("feature", "flag").replace("-", " ").capitalize()


def _find_subject(row: Row) -> str:
    """The name of the changed object, "" if the event has none."""
    if row["feature_name"]:
        return str(row["feature_name"])
    data = msgspec.json.decode(row["data"] or row["pre_data"] or "{}")
    return str(data.get("name") or data.get("username") or data.get("email") or "")


def _format_json(text: str | None) -> str:
    return msgspec.json.format(text, indent=2) if text else ""
