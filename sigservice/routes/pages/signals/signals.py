"""View signals: an endpoint's log with search, token filter, paging and live refresh."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.actions import action_sets
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.services.actions import signal_outcomes
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints, signals
from sigservice.web import respond
from sigservice.web.body import read_number, read_query
from sigservice.web.guards import PageGuard
from sigservice.web.links import make_signal_url
from sigservice.web.paging import read_paging
from sigservice.web.router import Router

SHOWN = 20
PREVIEW = 120
SHOWN_PAYLOAD = 20_000
SAMPLE = '{\n  "type": "test"\n}'
NOTICES = {
    "sent": "The signal was sent.",
    "replayed": "The payload was sent again, as a new signal.",
}


router = Router(PageGuard)


@router.get("/admin/signals/<id:id>/log", needs=ADMIN)
def show(context: Context, identity: Identity, id: int) -> HTTPResponse:
    query = read_query(request.environ)
    asked = read_paging(query, SHOWN)
    token_id = read_number(query, "token", None, 1, 2**31 - 1)
    text = query.get("query", "").strip()
    with context.database.transaction(bulkhead="search" if text else "") as conn:
        endpoint = signal_endpoints.get(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        page = signals.list_page(
            conn,
            id,
            limit=min(asked.limit, 100),
            before=asked.before,
            token_id=token_id,
            text=text,
        )
        evaluations = signal_outcomes.list_evaluations(conn, id, [row["id"] for row in page.rows])
    filters = {"token": token_id or "", "query": text}
    kept = {name: value for name, value in filters.items() if value}
    older = urlencode(kept | {"before": page.next_before}) if page.next_before else ""
    return respond.page(
        context,
        "signals/signals/log",
        identity,
        title=f"Signals: {endpoint['name']}",
        endpoint=endpoint,
        tokens=tokens,
        signals=[_shown(row) | {"evaluation": evaluations[row["id"]]} for row in page.rows],
        filters=filters,
        older=older,
        newest=urlencode(kept),
        at_newest=asked.before is None,
        searched_to_end=page.searched_to_end,
        live=asked.before is None and not text and query.get("live") != "off",
        paused=query.get("live") == "off",
        call_url=make_signal_url(context, request.environ, endpoint["name"]),
    )


@router.get("/admin/signals/<id:id>/log/<signal_id:id>", needs=ADMIN)
def show_one(context: Context, identity: Identity, id: int, signal_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        row = signals.get(conn, id, signal_id)
        evaluations = signal_outcomes.list_evaluations(conn, id, [signal_id])
        triggered_sets = action_sets.list_of_endpoint(conn, id)
    done = read_query(request.environ).get("done", "")
    return respond.page(
        context,
        "signals/signals/show",
        identity,
        title=f"Signal {signal_id}",
        endpoint=endpoint,
        signal=row | {"pretty": pretty(row["payload"])},
        evaluation=evaluations[signal_id],
        triggered_sets=triggered_sets,
        notice=NOTICES.get(done, ""),
    )


def send_page(
    context: Context, identity: Identity, id: int, text: str, error: AppError | None = None
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        triggered_sets = action_sets.list_of_endpoint(conn, id)
    title = f"Send a test signal to {endpoint['name']}"
    return respond.page(
        context,
        "signals/signals/send",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {title}" if error else title,
        problems=[{"message": error.message, "path": "payload"}] if error else [],
        endpoint=endpoint,
        triggered_sets=triggered_sets,
        text=text,
    )


@router.get("/admin/signals/<id:id>/send", needs=ADMIN)
def write(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return send_page(context, identity, id, SAMPLE)


@router.post(
    "/admin/signals/<id:id>/send",
    needs=ADMIN,
    form_limit=lambda config: 4 * config["signals"]["payloadLimit"] + 1000,
)
def send(context: Context, identity: Identity, id: int, form: dict[str, str]) -> HTTPResponse:
    text = form.get("payload", "").replace("\r\n", "\n").strip()
    try:
        with context.database.transaction() as conn:
            row = signals.send(
                conn, id, text.encode(), identity, limit=context.config["signals"]["payloadLimit"]
            )
    except AppError as error:
        if error.status not in (400, 409, 413):
            raise
        return send_page(context, identity, id, text, error)
    context.signals_waiting.set()
    return respond.redirect(context, f"/admin/signals/{id}/log/{row['id']}?done=sent")


@router.post("/admin/signals/<id:id>/log/<signal_id:id>/replay", needs=ADMIN)
def replay(
    context: Context, identity: Identity, id: int, signal_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = signals.replay(conn, id, signal_id, identity)
    context.signals_waiting.set()
    return respond.redirect(context, f"/admin/signals/{id}/log/{row['id']}?done=replayed")


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
