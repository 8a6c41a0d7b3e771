"""The alerts that held releases or rolled them back, with what Editors read of the signals."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.signals.payload_paths import find_text
from sigservice.services.signals.signal_summaries import make_summarizers, summarize_row

RUNBOOKS = (
    "commonAnnotations.runbook_url",
    "alerts[0].annotations.runbook_url",
    "annotations.runbook_url",
    "runbook_url",
)
_URL = re.compile(r"https?://[^\s\x00-\x1f]{1,2000}", re.IGNORECASE)


def find_alerts(conn: Connection, rows: Sequence[Row], by: Identity) -> dict[int, dict[str, Any]]:
    """By the ID of the release: {signal_id, endpoint_id, alert, text, severity,
    runbook}; nothing without
    EDIT."""
    if not by.has_permission(EDIT):
        return {}
    ids = {row["id"]: row["last_signal_id"] for row in rows if row["last_signal_id"] is not None}
    if not ids:
        return {}
    names_only = not by.has_permission(ADMIN)
    summarizers = make_summarizers(signal_endpoints.list_all(conn), names_only=names_only)
    alerts = {
        row["id"]: _describe(row, summarizers[row["endpoint_id"]])
        for row in signals.list_by_ids(conn, [*ids.values()])
        if row["endpoint_id"] in summarizers
    }
    return {id: alerts[signal_id] for id, signal_id in ids.items() if signal_id in alerts}


def _describe(row: Row, summarizer: Any) -> dict[str, Any]:
    payload = msgspec.json.decode(row["payload"])
    summary = summarize_row(summarizer, row)
    name, text = summary.name_alert()
    urls = [find_text(payload, path) or "" for path in RUNBOOKS]
    return {
        "signal_id": row["id"],
        "endpoint_id": row["endpoint_id"],
        "alert": name,
        "text": text,
        "severity": summary.severity,
        # A sender wrote the payload: no other scheme becomes a link.
        "runbook": next((url for url in urls if _URL.fullmatch(url)), ""),
    }
