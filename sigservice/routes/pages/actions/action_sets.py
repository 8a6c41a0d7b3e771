"""Action sets, pages: lists, switches, arming, deleting. The form is in action_form.py."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_runs
from sigservice.repository.actions import action_sets as repository
from sigservice.repository.projects import projects
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import action_sets, action_summaries
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SETS = "/admin/projects/<project>/actions"
SET = f"{SETS}/<set_id:id>"
NOTICES = {
    "created": "The action set was created. Try it before it is needed: “Test”.",
    "saved": "The action set was saved.",
    "deleted": "The action set was deleted; its runs stay.",
    "on": "The action set is on.",
    "off": "The action set is off.",
    "armed": "The action set is armed again.",
}


router = Router(PageGuard)


def notice() -> str:
    return NOTICES.get(read_query(request.environ).get("done", ""), "")


@router.get("/admin/actions", needs=ADMIN)
def show_all(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = projects.list_all(conn)
        sets = _cards(conn, repository.list_all(conn))
    listed = [row | {"sets": [one for one in sets if one["project"] == row["id"]]} for row in rows]
    return respond.page(
        context,
        "actions/action_sets/all",
        identity,
        title="Actions",
        projects=listed,
        limit=context.config["actions"]["setsPerProjectLimit"],
    )


@router.get(SETS, needs=ADMIN)
def show_list(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
        sets = _cards(conn, rows)
    return respond.page(
        context,
        "actions/action_sets/list",
        identity,
        title=f"Actions of {project}",
        project=project,
        sets=sets,
        limit=context.config["actions"]["setsPerProjectLimit"],
        notice=notice(),
    )


def switch(
    context: Context, identity: Identity, project: str, set_id: int, enabled: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_sets.switch(conn, project, set_id, enabled, identity)
    return _back(context, project, "on" if enabled else "off")


@router.post(f"{SET}/on", needs=ADMIN)
def on(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    return switch(context, identity, project, set_id, True)


@router.post(f"{SET}/off", needs=ADMIN)
def off(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    return switch(context, identity, project, set_id, False)


@router.post(f"{SET}/arm", needs=ADMIN)
def arm(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_sets.reenable(conn, project, set_id, identity)
    return _back(context, project, "armed")


@router.get(f"{SET}/delete", needs=ADMIN)
def confirm_delete(
    context: Context, identity: Identity, project: str, set_id: int, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    return respond.page(
        context,
        "actions/action_sets/delete",
        identity,
        project=project,
        row=row,
        **({"title": f"Delete the action set {row['name']}?"} | more),
    )


@router.post(f"{SET}/delete", needs=ADMIN)
def delete(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            action_sets.delete(conn, project, set_id, identity)
    except AppError as error:
        if error.status != 409:
            raise
        problem: dict[str, Any] = {"status": error.status, "problems": error.details}
        title = "Problem: Delete an action set"
        return confirm_delete(context, identity, project, set_id, title=title, **problem)
    return _back(context, project, "deleted")


def _back(context: Context, project: str, done: str) -> HTTPResponse:
    return respond.redirect(context, f"/admin/projects/{project}/actions?done={done}")


def _cards(conn: Connection, rows: list[Row]) -> list[dict[str, Any]]:
    """What the lists say of each set."""
    endpoints = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
    accounts = {row["id"]: row for row in service_accounts.list_all(conn)}
    last_runs = action_runs.list_last(conn, [row["id"] for row in rows])
    runs = {run["action_set_id"]: run for run in last_runs}
    names = {str(row["id"]): row["name"] for row in rows}
    return [
        row
        | {
            "source": endpoints.get(row["source_id"]),
            "account": accounts.get(row["actor_id"]),
            "asks": action_summaries.describe_filters(row["filters"]),
            "does": [
                action_summaries.describe_action(item, names)
                for item in msgspec.json.decode(row["actions"])
            ],
            "behaves": action_summaries.describe_options(
                msgspec.json.decode(row["settings"], type=ActionSetOptions)
            ),
            "last": runs.get(row["id"]),
        }
        for row in rows
    ]
