"""The states of endpoints and of their newest signals, without payloads, tokens and addresses: all
users may read them."""

from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.signals.signal_summaries import make_summarizers, summarize_row


def list_signal_states(conn: Connection, *, limit: int, before: int | None = None) -> list[Row]:
    """{id, created_at, endpoint_id, endpoint_name, status, severity}, newest first."""
    rows = signals.list_all(conn, from_time=None, to_time=None, before=before, limit=limit)
    summarizers = make_summarizers(signal_endpoints.list_all(conn))
    states = []
    for row in rows:
        summarizer = summarizers.get(row["endpoint_id"])
        if summarizer:  # its endpoint may have been created in between
            summary = summarize_row(summarizer, row)
            members = ("id", "created_at", "endpoint_id", "endpoint_name")
            words = {"status": summary.status, "severity": summary.severity}
            states.append({name: row[name] for name in members} | words)
    return states


def to_json(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "createdAt": format_iso(row["created_at"]),
        "signalEndpoint": {"id": row["endpoint_id"], "name": row["endpoint_name"]},
        "status": row["status"],
        "severity": row["severity"],
    }
