"""Integrations, pages: the list, the form with its deliveries, test, retry, delete."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.repository.projects import environments, projects
from sigservice.repository.system import events as event_rows
from sigservice.repository.system.events import EventFilter
from sigservice.routes.admin.integrations.integrations import (
    describe_delivery,
    make_rules,
    retry,
    send_test,
)
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.integrations import (
    integration_delivery,
    integration_messages,
    integrations,
    mustache,
)
from sigservice.services.integrations.integration_events import ANY, RECORDED
from sigservice.services.integrations.integration_messages import Delivery
from sigservice.services.integrations.integration_providers import PROVIDERS, Parameter, Provider
from sigservice.services.integrations.integrations import Integration
from sigservice.services.system import events
from sigservice.services.system.event_messages import MARKDOWN, render_sentence
from sigservice.web import Context, Page, PageGuard, Router, ShownOnce
from sigservice.web.event_views import format_event_type
from sigservice.web.form_pages import Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.web.tables import Cell, Column, make_table

PATH = "/admin/integrations"
ONE = f"{PATH}/<integration_id:id>"
BREADCRUMBS = [("Integrations", PATH)]
MAX_DELIVERIES = 50
NOTICES = {
    "created": "Integration created.",
    "saved": "Integration saved.",
    "deleted": "Integration deleted.",
    "retried": "The delivery is sent again.",
}
COLUMNS = (
    Column("Name", lambda row: Cell(row["name"], row["path"], hint=row["obstacles"])),
    Column("Type", lambda row: Cell(badges=[row["label"]])),
    Column("Sends", lambda row: _make_events_cell(row)),
    Column(
        "Last sent", lambda row: Cell(at=row["last_sent_at"], missing="never", hint=row["problems"])
    ),
    Column("State", lambda row: Cell(state=_find_state(row))),
)
PROVIDER_COLUMNS = (
    Column("Provider", lambda row: Cell(row["label"], f"{PATH}/new/{row['name']}")),
    Column("Description", lambda row: Cell(row["description"], hint=row["deprecated"])),
)

router = Router(PageGuard, notices=NOTICES)


def _find_state(row: Row) -> tuple[str, str]:
    if not row["enabled"]:
        return "○ off", "off"
    return ("✕ failing", "broken") if row["problems"] else ("● on", "gets")


class Group(NamedTuple):
    """Checkboxes under a heading; `name` is the name of the member of the API."""

    name: str
    label: str
    fields: Sequence[Field]
    hint: str = ""

    @property
    def element_id(self) -> str:
        """Where errors of all events lead, for the first group."""
        return self.label.lower().replace(" ", "-")

    @property
    def is_folded(self) -> bool:
        """There are too many events to show all."""
        return self.name == "events" and self.label != "Events"

    @property
    def chosen_count(self) -> int:
        return sum(bool(field.value) for field in self.fields)


@router.get(PATH, needs=VIEW)
def list_integrations(context: Context, identity: Identity) -> Page:
    with context.database.autocommit() as conn:
        rows = integration_rows.list_all(conn)
    can_edit, limit = identity.has_permission(EDIT), context.config["integrations"]["limit"]
    can_create = can_edit and len(rows) < limit
    tables = [
        make_table(
            "integrations",
            COLUMNS,
            [_describe(row, can_edit=can_edit) for row in rows],
            None,
            itemgetter("name"),
            empty="No integrations yet.",
        )
    ]
    if can_create:
        tables.append(
            make_table(
                "providers",
                PROVIDER_COLUMNS,
                [vars(one) for one in PROVIDERS.values()],
                None,
                itemgetter("label"),
                title="New integration",
            )
        )
    return Page(
        "integrations/integrations/list",
        title="Integrations",
        tables=tables,
        can_create=can_create,
        hint="Send changes, alerts, runs and releases to a chat, to email or to a webhook."
        f" {len(rows)} of {limit} integrations.",
        limit_text=explain_limit("integration", limit, "integrations.limit")
        if can_edit and len(rows) >= limit
        else "",
    )


@router.get(f"{PATH}/new/<provider>", needs=EDIT)
@router.get(ONE, needs=EDIT)
@router.get(f"{ONE}/test", needs=EDIT)
def show_integration(
    context: Context,
    identity: Identity,
    integration_id: int = 0,
    provider: str = "",
    entry: Entry = NO_ENTRY,
    **more: Any,
) -> Page:
    row, deliveries = None, []
    with context.database.transaction() as conn:
        if integration_id:
            row = integrations.get(conn, integration_id)
            provider = row["provider"]
            if identity.has_permission(ADMIN):
                deliveries = integration_rows.list_deliveries(
                    conn, integration_id, limit=MAX_DELIVERIES
                )
        project_names = projects.list_ids(conn)
        environment_names = [one["name"] for one in environments.list_all(conn)]
        count = len(integration_rows.list_all(conn))
    kind, limit = _find_provider(provider), context.config["integrations"]["limit"]
    if row is None and not entry.form and count >= limit:
        text = explain_limit("integration", limit, "integrations.limit")
        return make_limit_page("New integration", text, ("Integrations", PATH))
    form = entry.form or (_to_form(row) if row else {"enabled": "on"})
    name = integrations.find_name(row) if row else kind.label
    return Page(
        "integrations/integrations/form",
        title=name if row else f"New integration: {kind.label}",
        breadcrumbs=BREADCRUMBS,
        provider=kind,
        integration=row,
        obstacle=integrations.NO_MAIL_SERVER
        if kind.name == "email" and context.mail_server is None
        else "",
        fields=fill(_make_fields(kind), form),
        is_enabled="enabled" in form,
        groups=_make_groups(form, row, sorted(project_names), environment_names),
        deliveries=[
            describe_delivery(one) | {"at": one["queued_at"], "label": _name_event(one["type"])}
            for one in deliveries
        ],
        **{"preview": None, "test": None} | more,
    )


@router.post(f"{PATH}/new/<provider>", needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_integration)
def create_integration(
    context: Context, identity: Identity, form: Form, provider: str
) -> Page | str:
    body = _read(form, _find_provider(provider))
    if form.get("do") == "preview":
        return _show_preview(context, identity, form, body, provider=provider)
    with context.database.transaction() as conn:
        row = integrations.create(conn, body, identity, make_rules(context))
    return f"{PATH}/{row['id']}?done=created"


@router.post(ONE, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_integration)
def update_integration(
    context: Context, identity: Identity, form: Form, integration_id: int
) -> Page | str:
    with context.database.transaction() as conn:
        body = _read(form, _find_provider(integrations.get(conn, integration_id)["provider"]))
        if form.get("do") != "preview":
            integrations.update(conn, integration_id, body, identity, make_rules(context))
    if form.get("do") == "preview":
        return _show_preview(context, identity, form, body, integration_id=integration_id)
    return f"{PATH}/{integration_id}?done=saved"


@router.post(f"{ONE}/test", needs=EDIT)
@shows_errors_in(show_integration)
def test_integration(
    context: Context, identity: Identity, integration_id: int, form: Form
) -> ShownOnce:
    test = send_test(context, identity, integration_id)
    page = show_integration(context, identity, integration_id, test=test)
    return ShownOnce(page, f"{PATH}/{integration_id}")


@router.post(f"{ONE}/deliveries/<delivery_id:id>/retry", needs=EDIT)
def retry_delivery(
    conn: Connection, identity: Identity, integration_id: int, delivery_id: int, form: Form
) -> str:
    retry(conn, integration_id, delivery_id, identity)
    return f"{PATH}/{integration_id}?done=retried"


@confirms(router, f"{ONE}/delete", needs=EDIT)
def delete_integration(
    _context: Context, conn: Connection, identity: Identity, integration_id: int
) -> Confirmation:
    row = integrations.get(conn, integration_id)
    name = integrations.find_name(row)
    return Confirmation(
        f"Delete the integration {name}?",
        ["What waits to be sent is dropped. This can't be undone."],
        "Delete",
        f"{PATH}/{integration_id}",
        lambda: integrations.delete(conn, integration_id, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=BREADCRUMBS,
    )


def _find_provider(name: str) -> Provider:
    if name not in PROVIDERS:
        raise NotFoundError("There is no such provider.")
    return PROVIDERS[name]


def _describe(row: Row, *, can_edit: bool) -> dict[str, Any]:
    label, missing = PROVIDERS[row["provider"]].label, integrations.list_missing(row)
    enter = f"Enter before it can be enabled: {', '.join(one.label for one in missing)}"
    texts = [
        (row["name"] and row["description"]) or "",
        row["disabled_reason"] or "",
        enter if missing else "",
    ]
    waiting = f"{row['waiting']:,} waiting." if row["waiting"] else ""
    return row | {
        "label": label,
        "problems": " ".join(filter(None, (waiting, row["last_error"]))),
        "name": integrations.find_name(row),
        "path": f"{PATH}/{row['id']}" if can_edit else "",
        "obstacles": " ".join(filter(None, texts)),
    }


def _make_events_cell(row: Row) -> Cell:
    labels = [_name_event(type) for type in row["events"]]
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    scope = [*row["projects"], *row["environments"]]
    return Cell(", ".join(labels[:5]) + more, hint=f"in {', '.join(scope)}" if scope else "")


def _name_event(type: str | None) -> str:
    return "All events" if type == ANY else format_event_type(type or "deleted event")


def _make_fields(provider: Provider) -> list[Field]:
    return [
        Field(
            "name",
            "Name (optional)",
            hint="Such as #shop-oncall.",
        ),
        Field("description", "Description (optional)"),
        *(_make_field(parameter) for parameter in provider.parameters),
    ]


def _make_field(parameter: Parameter) -> Field:
    """Not an input of the type url: browsers refuse masks in them."""
    return Field(
        f"parameters.{parameter.name}",
        parameter.label if parameter.is_required else f"{parameter.label} (optional)",
        type="textarea" if parameter.type == "textfield" else "text",
        hint=parameter.description,
        attributes={"placeholder": parameter.placeholder, "spellcheck": "false"},
    )


def _make_groups(
    form: Form, row: Row | None, project_names: Sequence[str], environment_names: Sequence[str]
) -> list[Group]:
    """The choices of the form, with those that are saved although they don't exist any longer."""
    previous: Mapping[str, Sequence[str]] = row or {}
    types = {type for group in RECORDED.values() for type in group}
    others = [one for one in previous.get("events", ()) if one not in (*types, ANY)]
    names = dict(RECORDED) | ({"Events of other servers": tuple(others)} if others else {})
    groups = [Group("events", "Events", _make_boxes(form, "events", [ANY]))]
    groups += [Group("events", label, _make_boxes(form, "events", n)) for label, n in names.items()]
    hint = "None: all. Events without a project or environment are always sent."
    for name, label, choices in (
        ("projects", "Projects", project_names),
        ("environments", "Environments", environment_names),
    ):
        every = list(dict.fromkeys([*choices, *previous.get(name, ())]))
        groups.append(Group(name, label, _make_boxes(form, name, every), hint))
    return groups


def _make_boxes(form: Form, name: str, values: Sequence[str]) -> list[Field]:
    boxes = [
        Field(
            f"{name}.{value}",
            _name_event(value) if name == "events" else "all" if value == ANY else value,
            type="checkbox",
        )
        for value in values
    ]
    return fill(boxes, form)


def _to_form(row: Row) -> Form:
    parameters = msgspec.json.decode(row["parameters"], type=dict[str, str])
    form = {f"parameters.{name}": text for name, text in parameters.items()}
    for name in ("events", "projects", "environments"):
        form |= {f"{name}.{value}": "on" for value in row[name]}
    enabled = {"enabled": "on"} if row["enabled"] else {}
    texts = {name: row[name] or "" for name in ("name", "description")}
    return form | enabled | texts


def _read(form: Form, provider: Provider) -> Integration:
    def choose(name: str) -> list[str]:
        return [key.removeprefix(f"{name}.") for key in form if key.startswith(f"{name}.")]

    return Integration(
        provider=provider.name,
        enabled="enabled" in form,
        parameters={one: form.get(f"parameters.{one}", "") for one in provider.by_name},
        events=choose("events"),
        description=form.get("description", ""),
        name=form.get("name", ""),
        projects=choose("projects"),
        environments=choose("environments"),
    )


def _show_preview(
    context: Context, identity: Identity, form: Form, body: Integration, **path: Any
) -> Page:
    """The form again, with what the newest event of the chosen types would say."""
    types = None if ANY in body.events else body.events
    event_filter = events.restrict_to_readable(identity, EventFilter(types=types))
    with context.database.transaction(is_slow=True) as conn:
        rows = event_rows.list_newest(conn, event_filter, limit=1) if body.events else []
    now = context.clock.now()
    row = integration_delivery.make_test_row({}, identity, now)
    if rows:
        row |= rows[0] | {"event_id": rows[0]["id"]}
    preview = {"sentence": render_sentence(row, MARKDOWN, context.public_url), "body": ""}
    if template := str(body.parameters.get("bodyTemplate", "")):
        parameters = {"bodyTemplate": template}
        message = Delivery("", row, parameters, context.public_url, "", now)
        content_type = str(body.parameters.get("contentType", "")) or "application/json"
        try:
            preview["body"] = integration_messages.render_template(message, content_type)
        except mustache.TemplateError as error:
            raise BadDataError(str(error), path="parameters.bodyTemplate") from None
    return show_integration(context, identity, entry=Entry(form), preview=preview, **path)
