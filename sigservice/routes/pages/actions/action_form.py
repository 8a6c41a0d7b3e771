"""The form "Protect this flag": a new automation and changes of one, with what has arrived."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec

from sigservice import senders
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.flags import features
from sigservice.repository.projects import projects
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.routes.pages.actions import action_form_fields as form_fields
from sigservice.routes.pages.actions import action_form_values as form_values
from sigservice.routes.pages.actions import schedule_fields
from sigservice.routes.pages.actions.action_form_fields import Choices
from sigservice.routes.pages.actions.action_sets import LIST, make_breadcrumbs
from sigservice.services.access import service_accounts as account_service
from sigservice.services.actions import action_choices, action_sets, set_previews
from sigservice.services.actions.action_sets import ActionSetFields, read_limits
from sigservice.services.actions.automation_sentences import name_field, say_action, say_filter
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import payload_paths
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, read_id, report_at
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path
from sigservice.web.resource_limits import explain_limit, make_limit_page

SETS_OF = "/admin/projects"
SETS = f"{SETS_OF}/<project>/actions"
MAX_VALUE, MAX_COUNTED, MAX_SHOWN = 80, 1000, 4
COUNTED_TIME = timedelta(hours=48)
ACCOUNT = "automation"
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
            text = explain_limit("automation", limits.sets, "actions.setsPerProjectLimit")
            back = ("Automation", f"{LIST}?project={project}")
            return make_limit_page("Protect a flag", text, back)
        kinds = action_choices.describe_kinds(conn, project)
        rows = signal_endpoints.list_all(conn)
        endpoints = [(str(item["id"]), item["name"]) for item in rows]
        accounts = [
            (str(item["id"]), f"{item['username']} ({item['role']})")
            for item in service_accounts.list_all(conn)
        ]
        if entry.form:
            texts = form_values.apply_button(entry.form)
        else:
            texts = _make_form(conn, row, endpoints)
        if row is None or texts.get("recipe"):
            texts = form_values.apply_template(texts, _find_template(conn, texts))
        arrived = _read_arrived(conn, texts, context)
        texts = form_values.name_paths(texts, arrived["paths"])
        fields = form_values.read_fields_if_valid(
            form_values.resolve_words(texts, arrived["paths"]), project
        )
        preview = fields and set_previews.preview(conn, fields, limits, context.clock.now())
    flag = texts.get("actions.0.executionParams.featureName")
    heading = f"Change {row['name']}" if row else f"Protect {flag or 'a flag'}"
    is_waiting = bool(entry.form) and not (entry.error or entry.form.get("do"))
    return Page(
        "actions/action_sets/form",
        problems=form_values.make_problems(texts, entry.error.details) if entry.error else [],
        title=heading,
        heading=heading,
        action=context.prefix + join_path(SETS_OF, project, "actions", set_id or "new"),
        breadcrumbs=make_breadcrumbs(project),
        notice=NOT_SAVED if is_waiting else "",
        project=project,
        row=row,
        texts=texts,
        general=fill(form_fields.GENERAL_FIELDS, texts),
        trigger=schedule_fields.make_trigger_field(texts),
        schedule=schedule_fields.make_schedule_fields(texts),
        source=form_fields.make_source_field(texts, endpoints),
        filters=form_fields.make_filter_section(texts, limits.filters),
        actor=form_fields.make_actor_field(texts, accounts),
        actions=form_fields.make_action_rows(texts, kinds),
        max_actions=limits.actions,
        has_options=form_fields.has_options(texts),
        preview=preview,
        **form_fields.make_option_fields(texts),
        **arrived,
    )


@router.get(f"{LIST}/new", needs=ADMIN)
def protect_flag(context: Context, identity: Identity) -> Page:
    """The form of the project of the flag, or of the first project."""
    query = read_query(request.environ)
    with context.database.transaction() as conn:
        feature = features.find(conn, query.get("flag", ""))
        names = [row["id"] for row in projects.list_names(conn)]
    project = feature["project"] if feature else query.get("project") or names[0]
    return show_action_set(context, identity, project)


@router.post(f"{SETS}/new", needs=ADMIN, **GROWING_FORM)
@router.post(f"{SETS}/<set_id:id>", needs=ADMIN, **GROWING_FORM)
@shows_errors_in(show_action_set)
def save_action_set(
    context: Context, identity: Identity, project: str, form: Form, set_id: int | None = None
) -> Page | str:
    if not form_values.is_complete(form):
        return show_action_set(context, identity, project, set_id, Entry(form))
    limits, now = read_limits(context.config), context.clock.now()
    with context.database.transaction() as conn:
        if set_id is None or form.get("recipe"):
            form = form_values.apply_template(form, _find_template(conn, form))
        paths = _read_arrived(conn, form, context)["paths"]
        fields = form_values.read_fields(form_values.resolve_words(form, paths), project)
        fields = replace(
            fields,
            actor_id=fields.actor_id or _ensure_account(conn, identity),
            name=fields.name or _make_name(fields, form),
        )
        if set_id is None:
            action_sets.create(conn, project, fields, identity, limits, now)
        else:
            action_sets.update(conn, project, set_id, fields, identity, limits, now)
    return f"{LIST}?done={'created' if set_id is None else 'saved'}"


def _ensure_account(conn: Connection, by: Identity) -> int:
    """The ID of the service account of automations, which the first one makes."""
    for row in service_accounts.list_all(conn):
        if row["username"] == ACCOUNT:
            return int(row["id"])
    with report_at("actorId"):
        changes = {"username": ACCOUNT, "root_role": "Editor"}
        return int(account_service.create(conn, changes, by)["id"])


def _make_name(fields: ActionSetFields, form: Form) -> str:
    """Such as `new-checkout off while service is checkout`."""
    params = [action.executionParams for action in fields.actions]
    texts = [
        say_action({"action": a.action, "executionParams": a.executionParams})
        for a in fields.actions
    ]
    if (
        len(texts) == 1
        and params[0].get("featureName")
        and fields.actions[0].action in form_fields.STATES
    ):
        texts = [f"{params[0]['featureName']} {form_fields.STATES[fields.actions[0].action]}"]
    sender = senders.SENDERS.get(form.get("recipe", ""))
    own = fields.filters[len(sender.filters) :] if sender else fields.filters
    condition = " and ".join(say_filter(filter) for filter in own)
    return f"{', '.join(texts)}{' while ' + condition if condition else ''}"[:100]


def _make_form(conn: Connection, row: Row | None, endpoints: Choices) -> Form:
    """The texts of a stored set, or of a new one; the query names a flag and an endpoint."""
    if row is not None:
        endpoint = signal_endpoints.find(conn, row["endpoint_id"])
        return form_values.make_form(row, endpoint["template"] if endpoint else None)
    query = read_query(request.environ)
    action = form_values.BLANK_ACTION | {
        "executionParams.featureName": query.get("flag", ""),
        "executionParams.environment": query.get("environment", "production"),
    }
    return {
        "enabled": "on",
        form_values.BACK: "on",
        **schedule_fields.make_schedule_form(None),
        "match.sourceId": query.get("endpoint", "") or (endpoints[0][0] if endpoints else ""),
        "filters.0.operator": "IN",
        **{f"actions.0.{name}": text for name, text in action.items()},
    }


def _find_template(conn: Connection, form: Form) -> str:
    endpoint = signal_endpoints.find(conn, read_id(form.get("match.sourceId", "")))
    return (endpoint["template"] or "") if endpoint else ""


def _read_arrived(conn: Connection, form: Form, context: Context) -> dict[str, Any]:
    """What the newest signals of the endpoint have, as buttons, and the paths of the latest one,
    else of the sample of its sender."""
    id, since = read_id(form.get("match.sourceId", "")), context.clock.now() - COUNTED_TIME
    rows = signals.list_for_endpoint(conn, id, before=None, limit=MAX_COUNTED)
    sender = senders.SENDERS.get(form.get("recipe", ""))
    newest = msgspec.json.decode(rows[0]["payload"]) if rows else None
    flat = payload_paths.flatten_payload(newest or (sender.samples.firing if sender else {}))
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["created_at"] >= since:
            items = payload_paths.flatten_payload(msgspec.json.decode(row["payload"])).items()
            texts = {
                (name_field(path), payload_paths.to_text(value))
                for path, value in items
                if name_field(path) != path
            }
            counts.update(
                texts
                or {
                    (path, payload_paths.to_text(value)) for path, value in items if "[" not in path
                }
            )
    best: dict[str, tuple[str, int]] = {}
    for (name, text), count in counts.most_common():
        if name != "status" and 0 < len(text) <= MAX_VALUE:
            best.setdefault(name, (text, count))
    return {
        "has_arrived": bool(rows),
        "paths": [*flat],
        "suggested": list(dict.fromkeys(name_field(path) for path in flat))[:100],
        "arrived": [
            (name, text, count, form_values.make_filter_button(name, text))
            for name, (text, count) in [*best.items()][:MAX_SHOWN]
        ],
    }
