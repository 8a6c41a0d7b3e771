"""The form of an action set: new and edit, with the latest payload of its signal endpoint."""

import re
from typing import Any

import msgspec

from sigservice import senders
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.routes.pages.actions import action_form_fields as form_fields
from sigservice.routes.pages.actions import action_form_values as form_values
from sigservice.routes.pages.actions import schedule_fields
from sigservice.routes.pages.actions.action_form_fields import Choices
from sigservice.routes.pages.actions.action_sets import make_breadcrumbs
from sigservice.services.access import service_accounts as account_service
from sigservice.services.actions import action_choices, action_sets, action_summaries, set_previews
from sigservice.services.actions.action_sets import read_limits
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import payload_paths
from sigservice.web import Connection, Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, read_id, report_at
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.links import make_signal_url
from sigservice.web.resource_limits import explain_limit, make_limit_page

SETS_OF = "/admin/projects"
SETS = f"{SETS_OF}/<project>/actions"
MAX_PAYLOAD, MAX_PATHS, MAX_VALUE, MAX_FILTER_VALUE = 20_000, 100, 80, 200


NOT_SAVED = "Nothing is saved yet: fill in the fields of the new action, then save."

router = Router(PageGuard)


@router.get(f"{SETS}/new", needs=ADMIN)
@router.get(f"{SETS}/<set_id:id>", needs=ADMIN)
def show_action_set(
    context: Context,
    identity: Identity,
    project: str,
    set_id: int | None = None,
    entry: Entry = NO_ENTRY,
) -> Page:
    limits = read_limits(context.config)
    with context.database.transaction() as conn:
        row = None if set_id is None else action_sets.get(conn, project, set_id)
        is_full = row is None and set_rows.count(conn, project) >= limits.sets
        if is_full and not entry.form:
            text = explain_limit("action set", limits.sets, "actions.setsPerProjectLimit")
            back = (f"Actions of {project}", f"{SETS_OF}/{project}/actions")
            return make_limit_page("New action set", text, back)
        kinds = action_choices.describe_kinds(conn, project)
        endpoints = [(str(item["id"]), item["name"]) for item in signal_endpoints.list_all(conn)]
        accounts = [
            (str(item["id"]), f"{item['username']} ({item['role']})")
            for item in service_accounts.list_all(conn)
        ]
        if entry.form:
            texts = form_values.apply_button(entry.form)
        else:
            texts = form_values.make_form(row) if row else _make_new_form(endpoints, accounts)
        latest = _load_latest_payload(conn, texts)
        fields = form_values.read_fields_if_valid(texts, project)
        preview = fields and set_previews.preview(conn, fields, limits)
    heading = row["name"] if row else "New action set"
    is_waiting = bool(entry.form) and not (entry.error or entry.form.get("do"))
    return Page(
        "actions/action_sets/form",
        problems=form_values.make_problems(texts, entry.error.details) if entry.error else [],
        title=heading if entry.error else f"{heading} – actions of {project}",
        breadcrumbs=make_breadcrumbs(project),
        heading=heading,
        notice=NOT_SAVED if is_waiting else "",
        setup=_make_setup(context, texts, endpoints),
        project=project,
        row=row,
        texts=texts,
        sender=senders.SENDERS.get(texts.get("recipe", "")),
        tiles=form_fields.list_tiles(texts),
        general=fill(form_fields.GENERAL_FIELDS, texts),
        trigger=schedule_fields.make_trigger_field(texts),
        schedule=schedule_fields.make_schedule_fields(texts),
        source=form_fields.make_source_field(texts, endpoints),
        has_endpoints=bool(endpoints),
        filters=form_fields.make_filter_section(texts, limits.filters),
        actor=form_fields.make_actor_field(texts, accounts),
        account_fields=fill([form_fields.ACCOUNT_FIELD], texts),
        has_accounts=bool(accounts),
        actions=form_fields.make_action_rows(texts, kinds),
        max_actions=limits.actions,
        has_options=form_fields.has_options(texts),
        preview=preview,
        would=action_summaries.describe_actions(fields.actions) if fields else "",
        **form_fields.make_option_fields(texts),
        **latest,
    )


@router.post(f"{SETS}/new", needs=ADMIN, **GROWING_FORM)
@router.post(f"{SETS}/<set_id:id>", needs=ADMIN, **GROWING_FORM)
@shows_errors_in(show_action_set)
def save_action_set(
    context: Context, identity: Identity, project: str, form: Form, set_id: int | None = None
) -> Page | str:
    if form.get("do") == "create-account":
        account_id = _create_account(context, identity, form)
        entry = Entry(form | {"actorId": str(account_id), form_fields.ACCOUNT_FIELD.name: ""})
        return show_action_set(context, identity, project, set_id, entry)
    if not form_values.is_complete(form):
        return show_action_set(context, identity, project, set_id, Entry(form))
    fields, limits = form_values.read_fields(form, project), read_limits(context.config)
    now = context.clock.now()
    with context.database.transaction() as conn:
        if set_id is None:
            action_sets.create(conn, project, fields, identity, limits, now)
        else:
            action_sets.update(conn, project, set_id, fields, identity, limits, now)
    done = "created" if set_id is None else "saved"
    return f"/admin/projects/{project}/actions?done={done}"


def _create_account(context: Context, identity: Identity, form: Form) -> int:
    """The ID of the service account that the form names. Raises BadDataError."""
    name = form_fields.ACCOUNT_FIELD.name
    changes = {"username": form.get(name, "").strip(), "root_role": "Editor"}
    with report_at(name), context.database.transaction() as conn:
        return int(account_service.create(conn, changes, identity)["id"])


def _make_new_form(endpoints: Choices, accounts: Choices) -> Form:
    """The texts of a new set; the query names an endpoint and a template."""
    query = read_query(request.environ)
    form = {
        "enabled": "on",
        **schedule_fields.make_schedule_form(None),
        "match.sourceId": query.get("source", "") or _find_only_id(endpoints),
        "actorId": _find_only_id(accounts),
        **{f"actions.0.{name}": text for name, text in form_values.BLANK_ACTION.items()},
    }
    return form_values.apply_template(form, query.get("recipe", ""))


def _make_setup(context: Context, form: Form, endpoints: Choices) -> str:
    """What to do in the sender, with the URL of the selected endpoint."""
    sender = senders.SENDERS.get(form.get("recipe", ""))
    name = dict(endpoints).get(form.get("match.sourceId", ""))
    if sender is None:
        return ""
    if name is None:
        return sender.setup
    return sender.fill_setup(make_signal_url(context, request.environ, name))


def _load_latest_payload(conn: Connection, form: Form) -> dict[str, Any]:
    """The latest payload of the endpoint, else the sample of the template, and its paths."""
    id = read_id(form.get("match.sourceId", ""))
    rows = signals.list_for_endpoint(conn, id, before=None, limit=1)
    sender = senders.SENDERS.get(form.get("recipe", ""))
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


def _find_only_id(choices: Choices) -> str:
    """The ID if there is one choice only, else ""."""
    return choices[0][0] if len(choices) == 1 else ""
