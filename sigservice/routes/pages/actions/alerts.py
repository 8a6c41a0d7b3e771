"""The alerts that fire: those that automation acted on, and rules."""

from typing import Any

from sigservice.repository.rules import alert_rules
from sigservice.services.actions import held_flags
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, Row
from sigservice.web.helpers import join_path
from sigservice.web.tables import Cell, Column, make_list_page, make_table

PATH = "/admin/alerts"
MAX_ALERTS = 200
EMPTY = (
    "No alerts. They come from a system that calls a signal endpoint, or from a number that the"
    " service measures."
)
COLUMNS = (
    Column("Alert", lambda row: Cell(row["alert"], row["path"], title=row["text"])),
    Column("Firing", lambda row: Cell(at=row["since"], time_form="for")),
    Column("From", lambda row: Cell(row["source"], hint=row["reason"])),
    Column("Automation", lambda row: Cell(row["effect"])),
)

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_alerts(context: Context, identity: Identity) -> Page:
    with context.database.transaction() as conn:
        flags = held_flags.list_held_flags(conn, identity, limit=MAX_ALERTS)
        rules = alert_rules.list_all(conn)
    firing = [*_group_by_run([row for row in flags if row["is_firing"]])]
    firing += [
        _describe_rule(row, identity)
        for row in rules
        if row["enabled"] and row["state"] == "firing"
    ]
    firing.sort(key=lambda row: row["since"], reverse=True)
    table = make_table(
        "firing",
        COLUMNS,
        firing,
        None,
        lambda row: str(row["alert"]),
        title=f"Firing {len(firing)}",
    )
    can_create = identity.has_permission(ADMIN)
    return make_list_page(
        [table if firing else table._replace(title="", empty=EMPTY)],
        title="Alerts",
        new=("New signal endpoint", "/admin/signals/new") if can_create and not firing else None,
    )


def _group_by_run(rows: list[Row]) -> list[dict[str, Any]]:
    """One for each alert, whatever number of flags it switched."""
    groups: dict[int, dict[str, Any]] = {}
    for row in rows:
        place = ("/admin/projects", row["project"], "actions", row["action_set_id"], "runs")
        group = groups.setdefault(
            row["id"],
            {
                "alert": row["alert"] or f"an alert of {row['endpoint'] or 'a deleted endpoint'}",
                "text": row["text"] or "",
                "path": join_path(*place, row["id"]),
                "since": row["created_at"],
                "source": row["endpoint"] or "",
                "reason": "",
                "flags": [],
                "word": "on" if row["enabled"] else "off",
            },
        )
        group["flags"].append(row["feature"])
    return [
        group | {"effect": f"turned {', '.join(group['flags'])} {group['word']}"}
        for group in groups.values()
    ]


def _describe_rule(row: Row, by: Identity) -> dict[str, Any]:
    path = f"/admin/alert-rules/{row['id']}" if by.has_permission(ADMIN) else "/admin/alert-rules"
    return {
        "alert": row["name"],
        "text": "",
        "path": path,
        "since": row["since"],
        "source": "rule",
        "reason": row["reason"] or "",
        "effect": "",
    }
