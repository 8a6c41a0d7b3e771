"""The flags that alerts hold on or off. All users see since when and by which run; users with EDIT
also see what the signal says."""

from collections.abc import Mapping
from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError
from sigservice.repository.actions import action_runs, alerts
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.system import link_targets
from sigservice.services.identity import ADMIN, EDIT, Identity, name_actor
from sigservice.services.signals.signal_summaries import (
    SignalSummary,
    Summarizer,
    make_summarizers,
    summarize_row,
)
from sigservice.services.system import events


def list_held_flags(
    conn: Connection, by: Identity, *, limit: int, features: list[str] | None = None
) -> list[Row]:
    """One row for each flag and environment, newest first: `is_firing`, `switches_again` (it fires,
    isn't ignored and its set is enabled), `reported_at` (when the last signal about it came),
    `endpoint` (its name), `has_signal` (it is stored), `kept_by` (who keeps it off) and, with EDIT,
    the `summary` of the signal, of which `alert` and `text` are the first values."""
    can_edit = by.has_permission(EDIT)
    rows = alerts.list_held_flags(conn, limit=limit, features=features, payloads=can_edit)
    if not rows:
        return []
    endpoints = signal_endpoints.list_all(conn)
    names = {endpoint["id"]: endpoint["name"] for endpoint in endpoints}
    names_only = not by.has_permission(ADMIN)
    summarizers = make_summarizers(endpoints, names_only=names_only) if can_edit else {}
    signals = link_targets.list_existing(conn, [_name_signal(row) for row in rows])
    summaries = {
        (row["action_set_id"], row["key"]): _summarize(row, summarizers)
        for row in rows
        if row["payload"]
    }
    flags = []
    for row in rows:
        summary = summaries.get((row["action_set_id"], row["key"]))
        alert, text = summary.name_alert() if summary else ("", "")
        more = {
            "endpoint": names.get(row["endpoint_id"]),
            "has_signal": _name_signal(row) in signals,
            "summary": summary,
            "alert": alert,
            "text": text,
            "kept_by": row["kept_by"] and name_actor(row["kept_by"], row["kept_by_id"]),
        }
        flags.append(row | more)
    return flags


def keep_off(
    conn: Connection,
    run: Row,
    by: Identity,
    *,
    feature: str | None = None,
    environment: str | None = None,
) -> None:
    """The flags that the alert of the run holds off, or one of them, stay off when alerts resolve,
    until a person turns them on. Raises ConflictError if it holds none."""
    action_runs.lock(conn)
    place = {"feature": feature, "environment": environment}
    rows = alerts.keep_off(conn, run, by=by.username, by_id=by.user_id, **place)
    if not rows:
        raise ConflictError("The alert of this run holds no such flag off any longer.")
    items = [
        {
            "data": {"name": row["feature"]},
            "project": run["project"],
            "environment": row["environment"],
            "feature_name": row["feature"],
        }
        for row in rows
    ]
    events.record_many(conn, "feature-kept-off", by, items)


def to_json(row: Row) -> dict[str, Any]:
    """An alert of the admin API; `summary` is null without EDIT."""
    return {
        "project": row["project"],
        "feature": row["feature"],
        "environment": row["environment"],
        "enabled": row["enabled"],
        "since": format_iso(row["created_at"]),
        "isFiring": row["is_firing"],
        "keptBy": row["kept_by"],
        "lastReportedAt": format_iso(row["reported_at"]),
        "runId": row["id"],
        "actionSet": {"id": row["action_set_id"], "name": row["name"]},
        "signalId": row["signal_id"],
        "signalEndpoint": {"id": row["endpoint_id"], "name": row["endpoint"]},
        "summary": row["summary"].fields if row["summary"] else None,
    }


def _name_signal(row: Row) -> link_targets.Target:
    return "signal", f"{row['endpoint_id']}/{row['signal_id']}"


def _summarize(row: Row, summarizers: Mapping[int, Summarizer]) -> SignalSummary | None:
    summarizer = summarizers.get(row["endpoint_id"])
    return summarize_row(summarizer, row) if summarizer else None
