"""Automations, pages: the list, on, off, delete. The form is in action_form.py."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from bottle import HTTPResponse

from sigservice.errors import NoPermissionError
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_runs
from sigservice.repository.actions import action_sets as action_set_rows
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import action_sets, schedules
from sigservice.services.actions.automation_sentences import say_action, say_automation
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.web import (
    Connection,
    Context,
    Page,
    PageGuard,
    Router,
    Row,
    read_query,
    request,
    respond,
)
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.web.resource_limits import explain_reached_limit
from sigservice.web.tables import Cell, Column, make_table

LIST = "/admin/automation"
SETS = "/admin/projects/<project>/actions"
SET = f"{SETS}/<set_id:id>"
NOTICES = {
    "created": "Protected.",
    "saved": "Automation saved.",
    "deleted": "Automation deleted. Its runs are kept.",
    "cancelled": "Planned change cancelled.",
    "on": "Automation turned on.",
    "off": "Automation turned off.",
    "enabled-again": "It can act again.",
    "doing": "The change runs now.",
}
COLUMNS = (
    Column("Automation", lambda row: Cell(row["sentence"], row["path"], badges=row["flaws"])),
    Column("Last", lambda row: Cell(row["last_text"], at=row["last_at"], missing="never")),
    Column("State", lambda _: Cell(template="actions/action_sets/switch_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(LIST, needs=VIEW)
def list_automations(context: Context, identity: Identity) -> Page:
    project = read_query(request.environ).get("project") or None
    with context.database.transaction() as conn:
        rows = action_set_rows.list_all(conn)
        rows = [row for row in rows if project in (None, row["project"])]
        sets = _describe_sets(conn, rows, identity)
        count = action_set_rows.count(conn, project) if project else 0
    is_admin = identity.has_permission(ADMIN)
    limit = context.config["actions"]["setsPerProjectLimit"]
    text = explain_reached_limit("automation", count, limit, "actions.setsPerProjectLimit")
    return Page(
        "actions/action_sets/list",
        title="Automation",
        table=make_table("automation", COLUMNS, sets, _make_links, lambda row: row["name"]),
        new_path=f"{LIST}/new" + (f"?project={quote(project)}" if project else "")
        if is_admin and not text
        else "",
        limit_text=text,
    )


@router.get(SETS, needs=VIEW)
def move_list_of_project(context: Context, identity: Identity, project: str) -> HTTPResponse:
    """A part of the list of all."""
    return respond.redirect(context, f"{LIST}?{urlencode({'project': project})}", 301)


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
    row, path = action_sets.get(conn, project, set_id), LIST
    _check_permission(row, identity)
    if _is_planned(row):
        is_admin = identity.has_permission(ADMIN)
        path = path if is_admin else "/"
        return Confirmation(
            f"Cancel {row['name']}?",
            ["It is not carried out."],
            "Cancel the change",
            path,
            lambda: action_sets.delete(conn, project, set_id, identity),
            f"{path}?done=cancelled",
            cancel="Keep it",
            breadcrumbs=make_breadcrumbs(project) if is_admin else [],
        )
    return Confirmation(
        f"Delete the automation {row['name']}?",
        [
            "Its runs are kept, and so are the flags that it changed.",
            "To stop it for a while, turn it off instead.",
        ],
        "Delete",
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
    """For a page below the list, or below an automation."""
    crumbs = [("Automation", LIST)]
    path = f"/admin/projects/{project}/actions"
    return [*crumbs, (row["name"], f"{path}/{row['id']}")] if row else crumbs


def _redirect_to_list(_project: str, done: str) -> str:
    return f"{LIST}?done={done}"


def _make_links(row: Row) -> list[tuple[str, str]]:
    path = f"/admin/projects/{row['project']}/actions/{row['id']}"
    links = [("What it did", f"{path}/runs")]
    if row["can_change"]:
        links += [("Try it", f"{path}/test"), ("Change", path), ("Delete", f"{path}/delete")]
    return links


def _describe_sets(conn: Connection, rows: list[Row], by: Identity) -> list[dict[str, Any]]:
    """The automations as the list shows them."""
    endpoints = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
    accounts = {row["id"]: row["role"] for row in service_accounts.list_all(conn)}
    last_runs = action_runs.list_last(conn, [row["id"] for row in rows])
    runs = {run["action_set_id"]: run for run in last_runs}
    return [
        row
        | {
            "sentence": _say(row, endpoints, by),
            "path": _find_path(row, by),
            "flaws": _list_flaws(row, endpoints, accounts),
            "can_change": by.has_permission(ADMIN),
            "last_at": runs[row["id"]]["created_at"] if row["id"] in runs else None,
            "last_text": _describe_last(runs.get(row["id"])),
        }
        for row in rows
        if not schedules.is_done(row)
    ]


def _say(row: Row, endpoints: Mapping[int, str], by: Identity) -> str:
    if schedules.read_schedule(row) is None:
        hides_alerts = not by.has_permission(EDIT)
        text = say_automation(row, endpoints.get(row["endpoint_id"]), hides_alerts=hides_alerts)
        return f"{text} · {row['name']}" if hides_alerts else text
    texts = [say_action(item) for item in msgspec.json.decode(row["actions"])]
    return f"At a time: {', then '.join(texts)} · see Planned"


def _find_path(row: Row, by: Identity) -> str:
    if schedules.read_schedule(row) is not None:
        return "/admin/releases?state=scheduled"
    path = join_path("/admin/projects", row["project"], "actions", row["id"])
    return path if by.has_permission(ADMIN) else f"{path}/runs"


def _list_flaws(row: Row, endpoints: Mapping[int, str], accounts: Mapping[int, str]) -> list[str]:
    """Why a run would fail, or does nothing."""
    is_alone = schedules.read_schedule(row) is None and row["endpoint_id"] not in endpoints
    role = accounts.get(row["actor_id"])
    return [
        *(["No signal endpoint"] if is_alone else []),
        *(["No service account"] if role is None else []),
        *(["Its account is a Viewer: it can't change flags"] if role == "Viewer" else []),
    ]


def _describe_last(run: Row | None) -> str:
    if run is None:
        return ""
    return {"failed": "✕ failed", "suppressed": "nothing", "started": "runs"}.get(
        run["state"], "ran"
    )
