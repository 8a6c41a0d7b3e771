"""Received signals, JSON: of one endpoint, one by ID, and of all endpoints."""

from dataclasses import asdict
from typing import Any

import msgspec

from sigservice.repository.signals import signal_endpoints as endpoint_rows
from sigservice.repository.signals import signals as signal_rows
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints, signal_search, signal_storage
from sigservice.services.signals.signal_summaries import (
    Summarizer,
    make_summarizer,
    make_summarizers,
    to_json,
)
from sigservice.web import (
    AdminGuard,
    Connection,
    Context,
    HTTPResponse,
    Json,
    Router,
    Row,
    read_query,
    request,
    respond,
)
from sigservice.web.list_filters import read_signal_filter
from sigservice.web.paging import read_days, read_paging

PATH = "/api/admin/signal-endpoints/<id:id>/signals"
MAX_COUNT = 10_000
ENVELOPE_BYTES = 100  # the JSON around the payload of a test signal


class TestSignalBody(msgspec.Struct):
    payload: Any


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_endpoint_signals(context: Context, identity: Identity, id: int) -> Json:
    """Query: `limit`, `offset`, `before`, `tokenId`, `query`, `path`, `value`, `status`,
    `severity`, `from`, `to`. `{"signalEndpointSignals": [signal], "nextBefore", "searchedToEnd"}`.
    """
    query = read_query(request.environ)
    page_request, filter = read_paging(query), read_signal_filter(query)
    with context.database.transaction(is_slow=filter.is_search) as conn:
        endpoint = signal_endpoints.get(conn, id)
        page = signal_search.list_page(conn, endpoint, filter, **asdict(page_request))
    summarizer = make_summarizer(endpoint)
    return {
        "signalEndpointSignals": [to_json(row, summarizer) for row in page.rows],
        "nextBefore": page.next_before,
        "searchedToEnd": page.searched_to_end,
    }


@router.get(f"{PATH}/<signal_id:id>", needs=ADMIN)
def get_signal(conn: Connection, identity: Identity, id: int, signal_id: int) -> Json:
    """Signal."""
    endpoint = signal_endpoints.get(conn, id)
    row = signal_storage.get(conn, id, signal_id)
    return to_json(row, make_summarizer(endpoint))


@router.post(
    "/api/admin/signal-endpoints/<id:id>/test-signal",
    needs=ADMIN,
    takes=TestSignalBody,
    body_limit=lambda config: config["signals"]["payloadLimit"] + ENVELOPE_BYTES,
)
def send_test_signal(
    context: Context, identity: Identity, id: int, body: TestSignalBody
) -> HTTPResponse:
    """Body: `{payload}`. 201 signal, evaluated like others; 409 while the endpoint is disabled."""
    text = msgspec.json.encode(body.payload)
    with context.database.transaction() as conn:
        row = signal_storage.send(
            conn, id, text, identity, limit=context.config["signals"]["payloadLimit"]
        )
        endpoint = signal_endpoints.get(conn, id)
    context.signals_waiting.set()
    return respond.json(to_json(row, make_summarizer(endpoint)), 201)


@router.post(f"{PATH}/<signal_id:id>/replay", needs=ADMIN)
def replay_signal(context: Context, identity: Identity, id: int, signal_id: int) -> HTTPResponse:
    """201 a new signal with the same payload; 409 while the endpoint is disabled."""
    with context.database.transaction() as conn:
        row = signal_storage.replay(conn, id, signal_id, identity)
        endpoint = signal_endpoints.get(conn, id)
    context.signals_waiting.set()
    return respond.json(to_json(row, make_summarizer(endpoint)), 201)


@router.get("/api/admin/signals", needs=ADMIN)
def list_signals(context: Context, identity: Identity) -> Json:
    """Query: `from`, `to`, `limit`, `offset`, `before`. `{"signals": [signal], "total"}`."""
    query = read_query(request.environ)
    page_request = read_paging(query)
    start, end = read_days(query)
    with context.database.transaction(is_slow=True) as conn:
        rows = signal_rows.list_all(conn, from_time=start, to_time=end, **asdict(page_request))
        total = signal_rows.count(conn, from_time=start, to_time=end, limit=MAX_COUNT)
        summarizers = make_summarizers(endpoint_rows.list_all(conn))
    items = [
        _to_query_json(row, summarizers[row["endpoint_id"]])
        for row in rows
        if row["endpoint_id"] in summarizers  # its endpoint may have been deleted in between
    ]
    return {"signals": items, "total": total}


def _to_query_json(row: Row, summarizer: Summarizer) -> dict[str, Any]:
    return to_json(row, summarizer) | {
        "sourceName": row["endpoint_name"],
        "sourceDescription": row["endpoint_description"],
    }
