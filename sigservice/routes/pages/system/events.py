"""The audit log, page."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.repository.system import events
from sigservice.repository.system.events import Filter
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.paging import paging
from sigservice.web.router import Router

SHOWN = 50


router = Router(PageGuard)


@router.get("/admin/events", needs=ADMIN)
def show(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    before, type = paging(query).before, query.get("type", "")
    feature = query.get("feature", "").strip()
    with context.database.transaction(bulkhead="search") as conn:
        wanted = Filter(types=[type] if type else None, features=[feature] if feature else None)
        rows = events.list_newest(conn, wanted, before=before, limit=SHOWN + 1)
        types = events.list_types(conn)
    shown = [
        row
        | {
            "data": _pretty(row["data"]),
            "pre_data": _pretty(row["pre_data"]),
            "subject": _subject(row),
        }
        for row in rows[:SHOWN]
    ]
    kept = {name: text for name, text in (("type", type), ("feature", feature)) if text}
    older = urlencode(kept | {"before": shown[-1]["id"]}) if len(rows) > SHOWN else ""
    return respond.page(
        context,
        "system/events/list",
        identity,
        title="Events",
        events=shown,
        types=types,
        type=type,
        feature=feature,
        older=older,
        newest=urlencode(kept),
        at_newest=before is None,
    )


def _subject(row: Row) -> str:
    """The name of what changed, as far as the event tells."""
    if row["feature_name"]:
        return str(row["feature_name"])
    data = msgspec.json.decode(row["data"] or row["pre_data"] or "{}")
    return str(data.get("name") or data.get("username") or data.get("email") or "")


def _pretty(text: str | None) -> str:
    return msgspec.json.format(text, indent=2) if text else ""
