"""The form of an action set: new and edit, with the last payload of its source beside it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.access import service_accounts
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.routes.pages.actions import action_fields
from sigservice.routes.pages.actions.action_fields import Values
from sigservice.services.actions import action_choices, action_sets, payload_paths
from sigservice.services.actions.action_filters import to_text
from sigservice.services.actions.action_sets import read_limits
from sigservice.services.actions.action_summaries import OPERATORS
from sigservice.services.actions.action_templates import TEMPLATES
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SETS = "/admin/projects/<project>/actions"
SHOWN_PAYLOAD, SHOWN_PATHS, SHOWN_VALUE = 20_000, 100, 80


router = Router(PageGuard)


def form_page(
    context: Context,
    identity: Identity,
    project: str,
    values: Values,
    *,
    row: Row | None = None,
    error: AppError | None = None,
) -> HTTPResponse:
    heading = row["name"] if row else "New action set"
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
        offered = _offered(conn, project, rows)
        last = _last(conn, values)
    return respond.page(
        context,
        "actions/action_sets/form",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {heading}" if error else f"Action set {heading} of {project}",
        problems=action_fields.beside(values, error.details) if error else [],
        heading=heading,
        project=project,
        row=row,
        values=values,
        letters=action_fields.letters(values),
        recipe=TEMPLATES.get(values.recipe),
        recipes=[(name, found.title) for name, found in TEMPLATES.items()],
        operators=[(name, f"{words[0]} ({name})") for name, words in OPERATORS.items()],
        limits=read_limits(context.config),
        action=context.prefix + request.environ["PATH_INFO"],
        **offered,
        **last,
    )


@router.get(f"{SETS}/new", needs=ADMIN)
def new(context: Context, identity: Identity, project: str) -> HTTPResponse:
    query = read_query(request.environ)
    with context.database.transaction() as conn:
        endpoints = signal_endpoints.list_all(conn)
        accounts = service_accounts.list_all(conn)
    values = Values(source=query.get("source", "") or _only(endpoints), actor=_only(accounts))
    name = query.get("recipe", "")
    if name in TEMPLATES:
        values = action_fields.with_recipe(values, name, TEMPLATES[name])
    return form_page(context, identity, project, values)


@router.post(f"{SETS}/new", needs=ADMIN, **GROWING_FORM)
def create(
    context: Context, identity: Identity, project: str, form: dict[str, str]
) -> HTTPResponse:
    values = action_fields.read(form)
    if not action_fields.is_complete(form):
        return form_page(
            context, identity, project, action_fields.grown(values, form.get("do", ""))
        )
    try:
        with context.database.transaction() as conn:
            fields = action_fields.to_fields(values, project)
            row = action_sets.create(conn, project, fields, identity, read_limits(context.config))
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return form_page(context, identity, project, values, error=error)
    return respond.redirect(
        context, f"/admin/projects/{project}/actions?done=created#set-{row['id']}"
    )


@router.get(f"{SETS}/<set_id:id>", needs=ADMIN)
def edit(context: Context, identity: Identity, project: str, set_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    return form_page(context, identity, project, action_fields.show(row), row=row)


@router.post(f"{SETS}/<set_id:id>", needs=ADMIN, **GROWING_FORM)
def save(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = action_fields.read(form)
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    if not action_fields.is_complete(form):
        values = action_fields.grown(values, form.get("do", ""))
        return form_page(context, identity, project, values, row=row)
    try:
        with context.database.transaction() as conn:
            fields = action_fields.to_fields(values, project)
            action_sets.update(conn, project, set_id, fields, identity, read_limits(context.config))
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return form_page(context, identity, project, values, row=row, error=error)
    return respond.redirect(context, f"/admin/projects/{project}/actions?done=saved#set-{set_id}")


def _offered(conn: Connection, project: str, rows: list[Row]) -> dict[str, Any]:
    """What the form lets choose from."""
    return {
        "endpoints": [(str(row["id"]), row["name"]) for row in signal_endpoints.list_all(conn)],
        "accounts": [
            (str(row["id"]), f"{row['username']} ({row['role']})")
            for row in service_accounts.list_all(conn)
        ],
        "kinds": action_choices.describe_kinds(conn, project),
        "set_names": {str(row["id"]): row["name"] for row in rows},
    }


def _last(conn: Connection, values: Values) -> dict[str, Any]:
    """The newest payload of the chosen endpoint, else the recipe's, and the paths in it."""
    id = int(values.source) if re.fullmatch("[0-9]{1,9}", values.source, re.ASCII) else 0
    rows = signals.list_for_endpoint(conn, id, before=None, limit=1)
    recipe = TEMPLATES.get(values.recipe)
    sample = msgspec.json.encode(recipe.sample).decode() if recipe else ""
    payload = rows[0]["payload"] if rows else sample
    flat = payload_paths.flatten_payload(msgspec.json.decode(payload)) if payload else {}
    any_of = [re.sub(r"\[\d+\]", "[*]", path) for path in flat]
    return {
        "last_at": rows[0]["created_at"] if rows else None,
        "payload": msgspec.json.format(payload, indent=2)[:SHOWN_PAYLOAD] if payload else "",
        "paths": [
            (path, to_text(value)[:SHOWN_VALUE]) for path, value in list(flat.items())[:SHOWN_PATHS]
        ],
        "suggested": list(dict.fromkeys([*any_of, *flat]))[: 2 * SHOWN_PATHS],
    }


def _only(rows: list[Row]) -> str:
    """Where there is one, it is the one."""
    return str(rows[0]["id"]) if len(rows) == 1 else ""
