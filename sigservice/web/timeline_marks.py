"""The marks of a flag's timeline: changes by people, runs with their alerts, reverts, releases.

They are the events of the flag that the user may read, each with the page of its cause."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs
from sigservice.repository.projects import environments
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.system import events as event_rows
from sigservice.repository.system.events import EventFilter
from sigservice.services.actions.schedules import read_cause
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.signals.signal_summaries import make_summarizers, summarize_row
from sigservice.services.system import events
from sigservice.services.system.events import RELEASE_EVENTS
from sigservice.web.event_views import make_event_view
from sigservice.web.helpers import join_path
from sigservice.web.usage_charts import Mark, Usage, find_bounds, read_usage

MAX_MARKS = 100
TYPES = (
    "feature-environment-enabled", "feature-environment-disabled", "feature-strategy-add",
    "feature-strategy-update", "feature-strategy-remove", "release-started", "release-advanced",
    "release-held", "release-resumed", "release-rolled-back", "release-undone", "release-finished",
    "release-stopped",
)  # fmt: skip
STATES = {"feature-environment-enabled": "on", "feature-environment-disabled": "off"}


def list_marks(
    conn: Connection, by: Identity, feature: str, usage: Usage, now: datetime
) -> list[Mark]:
    """The newest MAX_MARKS of the usage's period, newest first."""
    start, _ = find_bounds(usage.period, now)
    filter = EventFilter(features=[feature], types=[*TYPES], start=start)
    filter = events.restrict_to_readable(by, filter)
    views = [make_event_view(row) for row in event_rows.list_newest(conn, filter, limit=MAX_MARKS)]
    ids = sorted({view["run"]["id"] for view in views if view["run"]})
    can_edit = by.has_permission(EDIT)
    runs = action_runs.list_by_ids(conn, ids, payloads=can_edit) if ids else []
    names = _name_alerts(conn, runs, by) if can_edit and runs else {}
    by_id = {row["id"]: row for row in runs}
    return [
        _make_mark(view, by_id.get(view["run"]["id"]) if view["run"] else None, names)
        for view in views
        if view["environment"]
    ]


def read_timelines(
    conn: Connection, by: Identity, feature: str, period: str, now: datetime
) -> list[dict[str, Any]]:
    """The charts of the flag's environments that were used or changed in the period."""
    usage = read_usage(conn, feature, {"usage": period})
    marks = list_marks(conn, by, feature, usage, now)
    names = {row["environment"] for row in usage.slots} | {mark.environment for mark in marks}
    charts = [
        usage.make_chart(name, now, [mark for mark in marks if mark.environment == name])
        for name in environments.list_enabled_names(conn)
        if name in names
    ]
    return [chart for chart in charts if chart]


def _name_alerts(conn: Connection, runs: list[Row], by: Identity) -> dict[int, str]:
    """The first value of the summary of each run's signal."""
    names_only = not by.has_permission(ADMIN)
    summarizers = make_summarizers(signal_endpoints.list_all(conn), names_only=names_only)
    names = {}
    for row in runs:
        if row["payload"] and row["endpoint_id"] in summarizers:
            fields = summarize_row(summarizers[row["endpoint_id"]], row).fields
            names[row["id"]] = fields[0].text if fields else ""
    return names


def _make_mark(view: Row, run: Row | None, names: Mapping[int, str]) -> Mark:
    at, environment = view["created_at"], view["environment"]
    if run is None:
        kind = "release" if view["type"].startswith(RELEASE_EVENTS) else "person"
        if view["run"]:  # the run was deleted
            kind = "alert"
        text = f"{'' if view['has_subject'] else view['actor'] + ' '}{view['sentence']}"
        return Mark(at, environment, kind, text, make_event_path(view))
    path = join_path("/admin/projects", run["project"], "actions", run["action_set_id"], "runs")
    cause, alert = read_cause(run), names.get(run["id"]) or "An alert"
    state = STATES.get(view["type"]) or view["sentence"]
    texts = {
        "signal": f"{alert} fires → {state}{_describe_duration(run)}",
        "resolved": f"{alert} resolved → {state}",
        "timer": f"Auto-revert → {state}",
        "undo": f"{view['actor']} undid a run of {run['name']} → {state}",
        "schedule": f"Schedule of {run['name']} → {state}",
    }
    kind = {"signal": "alert", "schedule": "person"}.get(cause, "revert")
    return Mark(at, environment, kind, texts[cause], join_path(path, run["id"]))


def _describe_duration(run: Mapping[str, Any]) -> str:
    if run["finished_at"] is None:
        return ""
    milliseconds = (run["finished_at"] - run["created_at"]).total_seconds() * 1000
    return f" in {max(milliseconds, 1):.0f} ms"


def make_event_path(event: Mapping[str, Any]) -> str:
    """The path of the event in the audit log of its flag."""
    query = urlencode({"feature": event["feature_name"], "before": event["id"] + 1})
    return f"/admin/events?{query}#event-{event['id']}"
