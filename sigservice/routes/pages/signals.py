"""View signals: an endpoint's log with search, token filter, paging and live refresh."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.db.run import Row
from sigservice.repository import signal_endpoint_tokens
from sigservice.services import signal_endpoints, signals
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query, whole_number
from sigservice.web.doors import PageDoor
from sigservice.web.links import signal_url
from sigservice.web.paging import paging

SHOWN = 20
PREVIEW = 120
SHOWN_PAYLOAD = 20_000


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.get("/admin/signals/<id:id>/log", needs=ADMIN)
    def show(identity: Identity, id: int) -> HTTPResponse:
        query = read_query(request.environ)
        asked = paging(query, SHOWN)
        token_id = whole_number(query, "token", None, 1, 2**31 - 1)
        text = query.get("query", "").strip()
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.get(conn, id)
            tokens = signal_endpoint_tokens.list_of_endpoint(conn, id)
            page = signals.list_page(
                conn,
                id,
                limit=min(asked.limit, 100),
                before=asked.before,
                token_id=token_id,
                text=text,
            )
        filters = {"token": token_id or "", "query": text}
        kept = {name: value for name, value in filters.items() if value}
        older = urlencode(kept | {"before": page.next_before}) if page.next_before else ""
        return respond.page(
            context,
            "signals/log",
            identity,
            title=f"Signals: {endpoint['name']}",
            endpoint=endpoint,
            tokens=tokens,
            signals=[_shown(row) for row in page.rows],
            filters=filters,
            older=older,
            newest=urlencode(kept),
            at_newest=asked.before is None,
            searched_to_end=page.searched_to_end,
            live=asked.before is None and not text and query.get("live") != "off",
            paused=query.get("live") == "off",
            call_url=signal_url(context, request.environ, endpoint["name"]),
        )

    @area.get("/admin/signals/<id:id>/log/<signal_id:id>", needs=ADMIN)
    def show_one(identity: Identity, id: int, signal_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.get(conn, id)
            row = signals.get(conn, id, signal_id)
        return respond.page(
            context,
            "signals/show",
            identity,
            title=f"Signal {signal_id}",
            endpoint=endpoint,
            signal=row | {"pretty": pretty(row["payload"])},
        )

    return area


def pretty(payload: str) -> str:
    """Indented JSON; the numbers stay as they were stored."""
    return msgspec.json.format(payload, indent=2)


def _shown(row: Row) -> dict[str, Any]:
    """A page of 100 kB payloads would be megabytes: long ones are cut, with a link to the whole."""
    text = pretty(row["payload"])
    return row | {
        "pretty": text[:SHOWN_PAYLOAD],
        "cut": len(text) > SHOWN_PAYLOAD,
        "preview": row["payload"][:PREVIEW],
    }
