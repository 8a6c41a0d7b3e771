"""Action sets, pages: lists, enable, re-enable, delete. The form is in action_form.py."""

from typing import Any

import msgspec
from bottle import HTTPResponse

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
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SETS = "/admin/projects/<project>/actions"
SET = f"{SETS}/<set_id:id>"
NOTICES = {
    "created": "Action set created. Test it before you need it.",
    "saved": "Action set saved.",
    "deleted": "Action set deleted. Its runs are kept.",
    "on": "Action set enabled.",
    "off": "Action set disabled.",
    "armed": "Action set re-enabled.",
}


router = Router(PageGuard)


@router.get("/admin/actions", needs=ADMIN)
def list_all_action_sets(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = projects.list_names(conn)
        cards = _make_cards(conn, repository.list_all(conn))
    groups = [
        row | {"cards": [card for card in cards if card["project"] == row["id"]]} for row in rows
    ]
    return respond.page(
        context,
        "actions/action_sets/list_all_projects",
        identity,
        title="Actions",
        projects=groups,
        has_sets=bool(cards),
        limit=context.config["actions"]["setsPerProjectLimit"],
    )


@router.get(SETS, needs=ADMIN)
def list_action_sets(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
        cards = _make_cards(conn, rows)
    return respond.page(
        context,
        "actions/action_sets/list",
        identity,
        title=f"Actions of {project}",
        project=project,
        cards=cards,
        limit=context.config["actions"]["setsPerProjectLimit"],
        notice=respond.find_notice(NOTICES),
    )


def _set_enabled(
    context: Context, identity: Identity, project: str, set_id: int, enabled: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_sets.switch(conn, project, set_id, enabled, identity)
    return _redirect_to_list(context, project, "on" if enabled else "off")


@router.post(f"{SET}/on", needs=ADMIN)
def enable_action_set(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, project, set_id, True)


@router.post(f"{SET}/off", needs=ADMIN)
def disable_action_set(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, project, set_id, False)


@router.post(f"{SET}/arm", needs=ADMIN)
def reenable_action_set(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_sets.reenable(conn, project, set_id, identity)
    return _redirect_to_list(context, project, "armed")


@router.get(f"{SET}/delete", needs=ADMIN)
def show_delete_form(
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
def delete_action_set(
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
        return show_delete_form(context, identity, project, set_id, title=title, **problem)
    return _redirect_to_list(context, project, "deleted")


def _redirect_to_list(context: Context, project: str, done: str) -> HTTPResponse:
    return respond.redirect(context, f"/admin/projects/{project}/actions?done={done}")


def _make_cards(conn: Connection, rows: list[Row]) -> list[dict[str, Any]]:
    """The sets as the cards of a list show them."""
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
            "filter_texts": action_summaries.describe_filters(row["filters"]),
            "action_texts": [
                action_summaries.describe_action(item, names)
                for item in msgspec.json.decode(row["actions"])
            ],
            "option_texts": action_summaries.describe_options(
                msgspec.json.decode(row["settings"], type=ActionSetOptions)
            ),
            "last_run": runs.get(row["id"]),
        }
        for row in rows
    ]
