"""The alerts that fire, those that have resolved in the last seven days, and what they switched."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import msgspec

from sigservice.repository.actions import action_runs
from sigservice.repository.rules import alert_rules
from sigservice.repository.signals import signal_endpoints
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.routes.pages.rules.alert_rules import describe_rule
from sigservice.services.actions import held_flags, rule_effects
from sigservice.services.actions.automation_sentences import join_names
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.rules.alert_rules import build_alert_key
from sigservice.web import Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.helpers import join_path
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import spell_duration

PATH = "/admin/alerts"
MAX_ALERTS, DAYS = 200, 7
EMPTY = (
    "No alerts. They come from a system that calls a signal endpoint, or from a number that the"
    " service measures."
)
FROM = Column("From", lambda row: Cell(row["source"]))
FIRING = (
    Column("Alert", lambda row: Cell(f"✕ {row['alert']}", row["path"], title=row["text"])),
    Column("Severity", lambda row: Cell(row["severity"])),
    Column("Firing", lambda row: Cell(at=row["since"], time_form="for")),
    FROM,
    Column("What it did", lambda row: Cell(row["effect"])),
    Column("See", lambda row: Cell(*row["link"])),
)
RESOLVED = (
    Column("Alert", lambda row: Cell(f"✓ {row['alert']}", row["path"], title=row["text"])),
    Column("Severity", lambda row: Cell(row["severity"])),
    Column("Fired for", lambda row: Cell(row["duration"])),
    Column("Resolved", lambda row: Cell(at=row["resolved_at"])),
    FROM,
    Column("What it did", lambda row: Cell(row["effect"])),
)

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_alerts(context: Context, identity: Identity) -> Page:
    project, now = read_query(request.environ).get("project") or None, context.clock.now()
    with context.database.transaction() as conn:
        flags = held_flags.list_held_flags(conn, identity, limit=MAX_ALERTS)
        rules = [
            row | describe_rule(row)
            for row in alert_rules.list_all(conn)
            if row["enabled"] and row["state"] == "firing"
        ]
        started = rule_effects.list_started_sets(conn, rules)
        since = now - timedelta(days=DAYS)
        runs = action_runs.list_resolved(conn, since, project=project, limit=MAX_ALERTS)
        alerts = find_alerts(conn, runs, identity)
        names = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
    is_admin = identity.has_permission(ADMIN)
    groups = _group_by_run(
        (row for row in flags if row["is_firing"] and project in (None, row["project"])),
        links_signals=is_admin,
    )
    firing = []
    for rule in rules:
        group = groups.pop((rule["endpoint_id"], build_alert_key(rule)), None)
        firing.append(_describe_rule(rule, group, bool(started[rule["id"]]), is_admin, now))
    firing += groups.values()
    firing.sort(key=lambda row: row["since"], reverse=True)
    resolved = [
        _describe_resolved(run, alerts.get(run["id"], {}), names.get(run["endpoint_id"]))
        for run in runs
    ]
    if not (firing or resolved):
        new = ("New signal endpoint", "/admin/signals/new") if is_admin else None
        table = make_table("firing", FIRING, [], None, str, empty=EMPTY)
        return make_list_page([table], title="Alerts", new=new)
    tables = [
        make_table(id, columns, rows, None, lambda row: str(row["alert"]), title=title, empty=empty)
        for id, columns, rows, title, empty in (
            ("firing", FIRING, firing, f"Firing {len(firing)}", "Nothing is firing."),
            (
                "resolved",
                RESOLVED,
                resolved,
                f"Last {DAYS} days: resolved {len(resolved)}",
                "None.",
            ),
        )
    ]
    return make_list_page(tables, title="Alerts")


def _group_by_run(
    rows: Iterable[Row], *, links_signals: bool
) -> dict[tuple[int, str], dict[str, Any]]:
    """One for each alert, whatever number of flags it switched, by endpoint and key."""
    groups: dict[tuple[int, str], dict[str, Any]] = {}
    for row in rows:
        summary = row["summary"]
        signal = join_path("/admin/signals", row["endpoint_id"], "log", row["signal_id"])
        group = groups.setdefault(
            (row["endpoint_id"], row["key"]),
            {
                "alert": row["alert"] or _name_alert(row["endpoint"]),
                "text": row["text"],
                "severity": (summary.severity if summary else None) or "",
                "path": _make_run_path(row),
                "since": row["created_at"],
                "source": row["endpoint"] or "",
                "link": ("signal", signal) if links_signals and row["has_signal"] else (),
                "flags": [],
                "word": "on" if row["enabled"] else "off",
            },
        )
        group["flags"].append(row["feature"])
        group["effect"] = f"turned {group['word']} {join_names(group['flags'])}"
    return groups


def _describe_rule(
    rule: Mapping[str, Any],
    group: Mapping[str, Any] | None,
    has_automation: bool,
    is_admin: bool,
    now: Any,
) -> dict[str, Any]:
    """An alert rule that fires; `group` is what it switched."""
    source, last_at = f"rule: {rule['now_text']}", rule["last_signal_at"]
    if rule["silent_endpoint"] is not None:
        source = f"nothing for {spell_duration(now - last_at)}" if last_at else "no signal yet"
    protect = ("Protect a flag", f"/admin/automation/new?endpoint={rule['endpoint_id']}")
    own = {
        "effect": "" if has_automation else "no automation",
        "link": protect if is_admin and not has_automation else (),
        "severity": "",
    }
    return {
        **(group or own),
        "alert": rule["name"],
        "text": rule["measures"],
        "path": f"/admin/alert-rules/{rule['id']}" if is_admin else "/admin/alert-rules",
        "since": rule["since"],
        "source": source,
    }


def _describe_resolved(run: Row, alert: Mapping[str, Any], endpoint: str | None) -> dict[str, Any]:
    actions = msgspec.json.decode(run["action_set"])["actions"]
    names = join_names(change["feature"] for item in actions for change in item["changes"])
    is_off = all("_OFF" in item["action"] for item in actions)
    return {
        "alert": alert.get("alert") or _name_alert(endpoint),
        "text": alert.get("text") or "",
        "severity": alert.get("severity") or "",
        "path": _make_run_path(run),
        "resolved_at": run["resolved_at"],
        "duration": spell_duration(run["resolved_at"] - run["created_at"]),
        "source": endpoint or "",
        "effect": f"{names} {'off and back' if is_off else 'changed and back'}" if names else "",
    }


def _name_alert(endpoint: str | None) -> str:
    return f"an alert of {endpoint or 'a deleted endpoint'}"


def _make_run_path(row: Row) -> str:
    return join_path(
        "/admin/projects", row["project"], "actions", row["action_set_id"], "runs", row["id"]
    )
