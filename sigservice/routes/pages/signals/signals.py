"""View signals: an endpoint's log with search, token filter, paging and live refresh; one signal;
test signals and replays."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError
from sigservice.repository.actions import action_sets
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.repository.signals import signals as signal_rows
from sigservice.routes.pages.signals import signal_log_filter
from sigservice.routes.pages.signals.endpoint_setup import find_sender
from sigservice.routes.pages.signals.endpoint_tabs import (
    ONE,
    find_endpoint,
    make_breadcrumbs,
    make_tab_page,
)
from sigservice.services.actions import signal_outcomes
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import (
    signal_endpoints,
    signal_export,
    signal_search,
    signal_storage,
)
from sigservice.services.signals.payload_tree import build_tree
from sigservice.services.signals.signal_search import SignalFilter, SignalPage
from sigservice.services.signals.signal_summaries import (
    Summarizer,
    decode_payload,
    make_summarizer,
    summarize_row,
)
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill
from sigservice.web.list_filters import make_chips, read_signal_filter
from sigservice.web.paging import read_paging

PAGE_SIZE, MAX_PAGE_SIZE = 20, 100
MAX_PAYLOAD = 20_000  # characters of a payload in the log; a page of 100 kB payloads is megabytes
PAYLOAD_FIELD = Field(
    "payload", "Payload", type="textarea", hint="Any JSON value.", attributes={"rows": 12}
)
NOTICES = {"sent": "Test signal sent.", "replayed": "Signal replayed."}

router = Router(PageGuard, notices=NOTICES)


@router.get(f"{ONE}/log", needs=ADMIN)
def list_signals(context: Context, identity: Identity, id: int) -> Page:
    query = read_query(request.environ)
    page_request = read_paging(query, PAGE_SIZE)
    values = signal_log_filter.read_values(query)
    parameters = signal_log_filter.make_parameters(values)
    try:
        filter, error = read_signal_filter(parameters), None
    except BadDataError as problem:
        filter, error = SignalFilter(), problem
    with context.database.transaction(is_slow=filter.is_search) as conn:
        endpoint = find_endpoint(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        fields = signal_log_filter.make_fields(values, tokens)
        page = SignalPage([], None)
        if error is None:
            page = signal_search.list_page(
                conn,
                endpoint,
                filter,
                limit=min(page_request.limit, MAX_PAGE_SIZE),
                before=page_request.before,
            )
        evaluations = signal_outcomes.list_evaluations(conn, id, page.rows)
    summarizer = make_summarizer(endpoint)
    newest = urlencode(values)
    at_newest, is_paused = page_request.before is None, query.get("live") == "off"
    is_live = at_newest and not filter.is_search and not error and not is_paused
    return make_tab_page(
        "signals/signals/log",
        endpoint,
        "log",
        status=error.status if error else 200,
        problems=signal_log_filter.name_fields(error.details) if error else [],
        title=f"{'Problem: ' if error else ''}Signals: {endpoint['name']}",
        is_filtered=bool(values),
        signals=_merge_repeats(
            _abbreviate(row, summarizer) | {"evaluation": evaluations[row["id"]]}
            for row in page.rows
        ),
        older=urlencode(values | {"before": page.next_before}) if page.next_before else "",
        newest=newest,
        at_newest=at_newest,
        searched_to_end=page.searched_to_end,
        live=is_live,
        is_paused=is_paused,
        pause_query=urlencode(values | {"live": "off"}),
        export_queries={
            name: urlencode(parameters | {"format": name}) for name in signal_export.FORMATS
        },
        chips=make_chips([*fields["filters"], *fields["more_filters"]], values, {"value": "path"}),
        **fields,
    )


@router.get(f"{ONE}/log/<signal_id:id>", needs=ADMIN)
def show_signal(context: Context, identity: Identity, id: int, signal_id: int) -> Page:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        row = signal_storage.get(conn, id, signal_id)
        evaluations = signal_outcomes.list_evaluations(conn, id, [row])
        triggered_sets = action_sets.list_of_endpoint(conn, id)
        original = row["replay_of"] and signal_rows.find(conn, id, row["replay_of"])
    log = f"/admin/signals/{id}/log"
    return Page(
        "signals/signals/show",
        title=f"Signal {signal_id}",
        breadcrumbs=make_breadcrumbs(endpoint),
        log_path=f"{context.prefix}{log}",
        tree=build_tree(decode_payload(row)),
        make_query=lambda node: urlencode({"path": node.path, "value": node.text}),
        endpoint=endpoint,
        signal=row
        | {
            "formatted": format_payload(row["payload"]),
            "summary": summarize_row(make_summarizer(endpoint), row),
            "has_original": bool(original),
        },
        evaluation=evaluations[signal_id],
        triggered_sets=triggered_sets,
    )


@router.get(f"{ONE}/send", needs=ADMIN)
def show_test_signal(
    conn: Connection, identity: Identity, id: int, entry: Entry = NO_ENTRY
) -> Page:
    endpoint = signal_endpoints.get(conn, id)
    triggered_sets = action_sets.list_of_endpoint(conn, id)
    sample = format_payload(msgspec.json.encode(find_sender(endpoint).samples.firing).decode())
    return Page(
        "signals/signals/send",
        problems=[{"message": entry.error.message, "path": "payload"}] if entry.error else [],
        title=f"Send a test signal to {endpoint['name']}",
        breadcrumbs=make_breadcrumbs(endpoint, "setup"),
        endpoint=endpoint,
        triggered_sets=triggered_sets,
        fields=fill([PAYLOAD_FIELD], entry.form or {"payload": sample}),
    )


@router.post(
    f"{ONE}/send",
    needs=ADMIN,
    form_limit=lambda config: 4 * config["signals"]["payloadLimit"] + 1000,
)
@shows_errors_in(show_test_signal)
def send_test_signal(context: Context, identity: Identity, id: int, form: Form) -> str:
    data = form.get("payload", "").replace("\r\n", "\n").strip().encode()
    limit = context.config["signals"]["payloadLimit"]
    with context.database.transaction() as conn:
        row = signal_storage.send(conn, id, data, identity, limit=limit)
    context.signals_waiting.set()
    return f"/admin/signals/{id}/log/{row['id']}?done=sent"


@router.post(f"{ONE}/log/<signal_id:id>/replay", needs=ADMIN)
def replay_signal(context: Context, identity: Identity, id: int, signal_id: int, form: Form) -> str:
    with context.database.transaction() as conn:
        row = signal_storage.replay(conn, id, signal_id, identity)
    context.signals_waiting.set()
    return f"/admin/signals/{id}/log/{row['id']}?done=replayed"


def format_payload(payload: str) -> str:
    """Indented JSON; numbers stay as they are stored."""
    return msgspec.json.format(payload, indent=2)


def _merge_repeats(signals: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Equal alerts that follow each other, from one sender and with one result, are one row, which
    has the newest and the `ids` of all."""
    rows: list[dict[str, Any]] = []
    for signal in signals:
        evaluation, sender = signal["evaluation"], (signal["token_name"], signal["sent_by"])
        own = (signal["payload"], sender, evaluation.result)
        if (
            rows
            and signal["summary"].status
            and not evaluation.is_waiting
            and rows[-1]["equal"] == own
        ):
            rows[-1]["ids"].append(signal["id"])
        else:
            rows.append(signal | {"equal": own, "ids": [signal["id"]]})
    return rows


def _abbreviate(row: Row, summarizer: Summarizer) -> dict[str, Any]:
    """The signal with its summary and the beginning of its formatted payload."""
    text = format_payload(row["payload"])
    return row | {
        "formatted": text[:MAX_PAYLOAD],
        "is_truncated": len(text) > MAX_PAYLOAD,
        "summary": summarize_row(summarizer, row),
    }
