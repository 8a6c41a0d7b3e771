"""Action sets, pages: lists, enable, re-enable, delete. The form is in action_form.py."""

from typing import Any

import msgspec

from sigservice.errors import NoPermissionError
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_runs
from sigservice.repository.actions import action_sets as action_set_rows
from sigservice.repository.projects import projects
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import action_sets, action_summaries, schedules
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form
from sigservice.web.links import flag_path
from sigservice.web.resource_limits import explain_reached_limit
from sigservice.web.tables import Cell, Column, Table, make_table

SETS = "/admin/projects/<project>/actions"
SET = f"{SETS}/<set_id:id>"
NOTICES = {
    "created": "Action set created. Test it before you need it.",
    "saved": "Action set saved.",
    "deleted": "Action set deleted. Its runs are kept.",
    "cancelled": "Scheduled change cancelled.",
    "on": "Action set enabled.",
    "off": "Action set disabled.",
    "enabled-again": "Action set re-enabled.",
    "doing": "The change runs now.",
}
TEMPLATES = "actions/action_sets"
COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(
            row["name"],
            f"/admin/projects/{row['project']}/actions/{row['id']}",
            hint=row["description"] or "",
        ),
    ),
    Column("When", lambda _: Cell(template=f"{TEMPLATES}/trigger_cell.tpl")),
    Column("Then", lambda _: Cell(template=f"{TEMPLATES}/actions_cell.tpl")),
    Column("Last run", lambda _: Cell(template=f"{TEMPLATES}/run_cell.tpl")),
    Column("State", lambda _: Cell(template=f"{TEMPLATES}/switch_cell.tpl")),
)
READ_COLUMNS = (
    Column("Automation", lambda row: Cell(row["name"], hint=", then ".join(row["action_texts"]))),
    Column("Last", lambda row: Cell(at=row["last_run"] and row["last_run"]["created_at"])),
    Column("State", lambda row: Cell("on" if row["enabled"] else "off")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get("/admin/automation", needs=VIEW)
def list_all_action_sets(context: Context, identity: Identity) -> Page:
    can_change = identity.has_permission(ADMIN)
    with context.database.transaction() as conn:
        project = read_query(request.environ).get("project")
        rows = [row for row in projects.list_names(conn) if project in (None, "", row["id"])]
        sets = _describe_sets(conn, action_set_rows.list_all(conn))
    groups = []
    for row in rows:
        own = [item for item in sets if item["project"] == row["id"]]
        count = sum(not item["is_done"] for item in own)
        groups.append(
            row | {"table": _make_table(row["id"], own, can_change=can_change), "count": count}
        )
    return Page(
        "actions/action_sets/list_all_projects",
        title="Automation",
        can_change=can_change,
        projects=groups,
        has_sets=bool(sets),
        limit=context.config["actions"]["setsPerProjectLimit"],
    )


@router.get(SETS, needs=ADMIN)
def list_action_sets(context: Context, identity: Identity, project: str) -> Page:
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
        table = _make_table(project, _describe_sets(conn, rows), can_change=True)
        count = action_set_rows.count(conn, project)
    limit = context.config["actions"]["setsPerProjectLimit"]
    return Page(
        "actions/action_sets/list",
        title=f"Actions of {project}",
        breadcrumbs=[("Automation", "/admin/automation")],
        project=project,
        table=table,
        count=count,
        limit=limit,
        limit_text=explain_reached_limit("action set", count, limit, "actions.setsPerProjectLimit"),
    )


@router.post(f"{SET}/<is_enabled:switch>", needs=ADMIN)
def switch_action_set(
    context: Context, identity: Identity, project: str, set_id: int, is_enabled: bool, form: Form
) -> str:
    with context.database.transaction() as conn:
        now = context.clock.now()
        action_sets.switch(conn, project, set_id, is_enabled, identity, now)
    return _redirect_to_list(project, "on" if is_enabled else "off")


@router.post(f"{SETS}/<scheduled_id:id>/now", needs=EDIT)
def run_action_set_now(
    context: Context, identity: Identity, project: str, scheduled_id: int, form: Form
) -> str:
    """What is scheduled for one time; the flag `flag` is where the response leads."""
    with context.database.transaction() as conn:
        _check_permission(action_sets.get(conn, project, scheduled_id), identity)
        action_sets.run_now(conn, project, scheduled_id, identity, context.clock.now())
    context.signals_waiting.set()
    if "flag" in form:
        return f"{flag_path(form['flag'])}?done=doing"
    return _redirect_to_list(project, "doing")


@router.post(f"{SET}/arm", needs=ADMIN)
def reenable_action_set(
    conn: Connection, identity: Identity, project: str, set_id: int, form: Form
) -> str:
    action_sets.reenable(conn, project, set_id, identity)
    return _redirect_to_list(project, "enabled-again")


@confirms(router, f"{SET}/delete", needs=EDIT)
def delete_action_set(
    conn: Connection, identity: Identity, project: str, set_id: int
) -> Confirmation:
    row, path = action_sets.get(conn, project, set_id), f"/admin/projects/{project}/actions"
    _check_permission(row, identity)
    if _is_planned(row):
        is_admin = identity.has_permission(ADMIN)
        path = path if is_admin else "/"
        return Confirmation(
            f"Cancel {row['name']}?",
            ["This change is scheduled once. Its action set is deleted, and nothing changes."],
            "Cancel the change",
            path,
            lambda: action_sets.delete(conn, project, set_id, identity),
            f"{path}?done=cancelled",
            cancel="Keep it",
            breadcrumbs=make_breadcrumbs(project) if is_admin else [],
        )
    return Confirmation(
        f"Delete the action set {row['name']}?",
        [
            "Permanently deletes the action set. Its runs and the flags that it changed are kept.",
            "To stop it for a while, disable it instead.",
        ],
        "Delete action set",
        path,
        lambda: action_sets.delete(conn, project, set_id, identity),
        f"{path}?done=deleted",
        breadcrumbs=make_breadcrumbs(project),
    )


def _is_planned(row: Row) -> bool:
    """Whether the set is one change of a flag that is planned for a time."""
    schedule = schedules.read_schedule(row)
    return schedule is not None and schedule.at is not None and not schedules.is_done(row)


def _check_permission(row: Row, by: Identity) -> None:
    """Raises NoPermissionError. Editors plan changes: they may cancel them too."""
    if not (_is_planned(row) or by.has_permission(ADMIN)):
        raise NoPermissionError("You don't have permission to do this. Ask an admin.")


def make_breadcrumbs(project: str, row: Row | None = None) -> list[tuple[str, str]]:
    """For a page below the action sets of a project, or below one of them."""
    path = f"/admin/projects/{project}/actions"
    crumbs = [("Automation", "/admin/automation"), (f"Actions of {project}", path)]
    return [*crumbs, (row["name"], f"{path}/{row['id']}")] if row else crumbs


def _redirect_to_list(project: str, done: str) -> str:
    return f"/admin/projects/{project}/actions?done={done}"


def _make_table(project: str, rows: list[dict[str, Any]], *, can_change: bool) -> Table:
    return make_table(
        f"sets-{project}",
        COLUMNS if can_change else READ_COLUMNS,
        rows,
        _make_links if can_change else None,
        lambda row: f"{row['name']} in {project}",
    )


def _make_links(row: Row) -> list[tuple[str, str]]:
    path = f"/admin/projects/{row['project']}/actions/{row['id']}"
    return [
        ("History", f"{path}/runs"),
        ("Test", f"{path}/test"),
        ("Edit", path),
        ("Delete", f"{path}/delete"),
    ]


def _describe_sets(conn: Connection, rows: list[Row]) -> list[dict[str, Any]]:
    """The sets as the rows of a list show them."""
    endpoints = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
    accounts = {row["id"]: row for row in service_accounts.list_all(conn)}
    last_runs = action_runs.list_last(conn, [row["id"] for row in rows])
    runs = {run["action_set_id"]: run for run in last_runs}
    return [
        row
        | {
            "source": endpoints.get(row["endpoint_id"]),
            "schedule_text": action_summaries.describe_schedule(row),
            "is_done": schedules.is_done(row),
            "account": accounts.get(row["actor_id"]),
            "filter_texts": action_summaries.describe_filters(row["filters"]),
            "action_texts": [
                action_summaries.describe_action(item)
                for item in msgspec.json.decode(row["actions"])
            ],
            "option_texts": action_summaries.describe_options(
                msgspec.json.decode(row["settings"], type=ActionSetOptions)
            ),
            "last_run": runs.get(row["id"]),
        }
        for row in rows
    ]
