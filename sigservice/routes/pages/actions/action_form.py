"""The form of an action set: new and edit, with the latest payload of its signal endpoint."""

import re
from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice import senders
from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.access import service_accounts
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.routes.pages.actions import action_form_fields as form_fields
from sigservice.routes.pages.actions import action_form_values as form_values
from sigservice.routes.pages.actions.action_form_values import FormValues
from sigservice.services.actions import action_choices, action_sets
from sigservice.services.actions.action_sets import read_limits
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import payload_paths
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.guards import PageGuard
from sigservice.web.links import make_signal_url
from sigservice.web.router import Router

SETS_OF = "/admin/projects"
SETS = f"{SETS_OF}/<project>/actions"
MAX_PAYLOAD, MAX_PATHS, MAX_VALUE, MAX_FILTER_VALUE = 20_000, 100, 80, 200


NOT_SAVED = "Nothing is saved yet: fill in the fields of the new action, then save."

router = Router(PageGuard)


@router.get(f"{SETS}/new", needs=ADMIN)
def show_new_form(context: Context, identity: Identity, project: str) -> HTTPResponse:
    query = read_query(request.environ)
    with context.database.transaction() as conn:
        endpoints = signal_endpoints.list_all(conn)
        accounts = service_accounts.list_all(conn)
    source = query.get("source", "") or _find_only_id(endpoints)
    values = FormValues(source=source, actor=_find_only_id(accounts))
    name = query.get("recipe", "")
    if name in senders.SENDERS:
        values = form_values.apply_template(values, senders.SENDERS[name])
    return _render_form(context, identity, project, values)


@router.post(f"{SETS}/new", needs=ADMIN, **GROWING_FORM)
def create_action_set(
    context: Context, identity: Identity, project: str, form: dict[str, str]
) -> HTTPResponse:
    values = form_values.read_form(form)
    if not form_values.is_complete(form):
        values = form_values.change_form(values, form.get("do", ""))
        notice = "" if form.get("do") else NOT_SAVED
        return _render_form(context, identity, project, values, notice=notice)
    try:
        with context.database.transaction() as conn:
            fields = form_values.to_fields(values, project)
            row = action_sets.create(conn, project, fields, identity, read_limits(context.config))
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return _render_form(context, identity, project, values, error=error)
    return respond.redirect(
        context, f"/admin/projects/{project}/actions?done=created#set-{row['id']}"
    )


@router.get(f"{SETS}/<set_id:id>", needs=ADMIN)
def show_edit_form(context: Context, identity: Identity, project: str, set_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    return _render_form(context, identity, project, form_values.to_values(row), row=row)


@router.post(f"{SETS}/<set_id:id>", needs=ADMIN, **GROWING_FORM)
def save_action_set(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = form_values.read_form(form)
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    if not form_values.is_complete(form):
        values = form_values.change_form(values, form.get("do", ""))
        notice = "" if form.get("do") else NOT_SAVED
        return _render_form(context, identity, project, values, row=row, notice=notice)
    try:
        with context.database.transaction() as conn:
            fields = form_values.to_fields(values, project)
            action_sets.update(conn, project, set_id, fields, identity, read_limits(context.config))
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return _render_form(context, identity, project, values, row=row, error=error)
    return respond.redirect(context, f"/admin/projects/{project}/actions?done=saved#set-{set_id}")


def _render_form(
    context: Context,
    identity: Identity,
    project: str,
    values: FormValues,
    *,
    row: Row | None = None,
    error: AppError | None = None,
    notice: str = "",
) -> HTTPResponse:
    heading = row["name"] if row else "New action set"
    limits = read_limits(context.config)
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
        kinds = action_choices.describe_kinds(conn, project)
        endpoints = [(str(item["id"]), item["name"]) for item in signal_endpoints.list_all(conn)]
        accounts = [
            (str(item["id"]), f"{item['username']} ({item['role']})")
            for item in service_accounts.list_all(conn)
        ]
        latest = _load_latest_payload(conn, values)
    set_names = {str(item["id"]): item["name"] for item in rows}
    above = [
        ("Actions", "/admin/actions"),
        (f"Actions of {project}", f"{SETS_OF}/{project}/actions"),
    ]
    return respond.page(
        context,
        "actions/action_sets/form",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {heading}" if error else f"{heading} – actions of {project}",
        problems=form_values.to_form_problems(values, error.details) if error else [],
        breadcrumbs=above,
        heading=heading,
        notice=notice,
        setup=_make_setup(context, values, endpoints),
        project=project,
        row=row,
        values=values,
        sender=senders.SENDERS.get(values.recipe),
        tiles=form_fields.list_tiles(values),
        general=form_fields.make_general_fields(values),
        source=form_fields.make_source_field(values, endpoints),
        has_endpoints=bool(endpoints),
        filters=form_fields.make_filter_section(values, limits.filters),
        actor=form_fields.make_actor_field(values, accounts),
        has_accounts=bool(accounts),
        actions=form_fields.make_action_rows(values, kinds, set_names),
        max_actions=limits.actions,
        has_options=form_fields.has_options(values),
        option_checkboxes=form_fields.make_option_checkboxes(values),
        option_numbers=form_fields.make_option_numbers(values),
        resolved=form_fields.make_resolved_fields(values),
        notifications=form_fields.make_notification_rows(values),
        action=context.prefix + request.environ["PATH_INFO"],
        **latest,
    )


def _make_setup(context: Context, values: FormValues, endpoints: list[tuple[str, str]]) -> str:
    """What to do in the sender, with the URL of the selected endpoint."""
    sender, name = senders.SENDERS.get(values.recipe), dict(endpoints).get(values.source)
    if sender is None:
        return ""
    if name is None:
        return sender.setup
    url = make_signal_url(context, request.environ, name)
    return sender.setup.replace("ENDPOINT_URL", url)


def _load_latest_payload(conn: Connection, values: FormValues) -> dict[str, Any]:
    """The latest payload of the endpoint, else the sample of the template, and its paths."""
    id = int(values.source) if re.fullmatch("[0-9]{1,9}", values.source, re.ASCII) else 0
    rows = signals.list_for_endpoint(conn, id, before=None, limit=1)
    sender = senders.SENDERS.get(values.recipe)
    sample = msgspec.json.encode(sender.samples.firing).decode() if sender else ""
    payload = rows[0]["payload"] if rows else sample
    flat = payload_paths.flatten_payload(msgspec.json.decode(payload)) if payload else {}
    wildcard_paths = [re.sub(r"\[\d+\]", "[*]", path) for path in flat]
    return {
        "latest_at": rows[0]["created_at"] if rows else None,
        "payload": msgspec.json.format(payload, indent=2)[:MAX_PAYLOAD] if payload else "",
        "paths": [
            (path, text[:MAX_VALUE], form_values.make_filter_button(path, text))
            for path, value in list(flat.items())[:MAX_PATHS]
            if len(text := payload_paths.to_text(value)) <= MAX_FILTER_VALUE
        ],
        "suggested": list(dict.fromkeys([*wildcard_paths, *flat]))[: 2 * MAX_PATHS],
    }


def _find_only_id(rows: list[Row]) -> str:
    """The ID if there is one row only, else ""."""
    return str(rows[0]["id"]) if len(rows) == 1 else ""
