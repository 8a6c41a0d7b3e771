"""The page of the audit log."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import msgspec

from sigservice.db.statements import Row
from sigservice.repository.projects import environments, projects
from sigservice.services.identity import ADMIN, ADMIN_TOKEN_ID, VIEW, Identity
from sigservice.services.system import event_export, events
from sigservice.services.system.event_sentences import compare_lines, describe_event
from sigservice.web import Context, HTTPResponse, PageGuard, Router, read_query, request, respond
from sigservice.web.event_filters import read_event_filter
from sigservice.web.filter_chips import make_chips
from sigservice.web.forms import Field, make_choices
from sigservice.web.paging import read_paging

PAGE_SIZE = 50
FILTERS = ("query", "type", "project", "environment", "user", "feature", "from", "to")
# Event types whose own words would mislead.
LABELS = {
    "actions-created": "action-set-created",
    "actions-deleted": "action-set-deleted",
    "actions-updated": "action-set-updated",
    "feature-environment-disabled": "flag-disabled",
    "feature-environment-enabled": "flag-enabled",
    "feature-environment-variants-updated": "variants-updated",
    "feature-metadata-updated": "flag-updated",
    "feature-strategy-add": "strategy-added",
    "feature-strategy-remove": "strategy-removed",
    "feature-strategy-update": "strategy-updated",
    "pat-created": "personal-token-created",
    "pat-deleted": "personal-token-deleted",
}


router = Router(PageGuard)


@router.get("/admin/events", needs=VIEW)
def list_events(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    before = read_paging(query).before
    filters = {name: query.get(name, "").strip() for name in FILTERS}
    applied = {name: value for name, value in filters.items() if value}
    search = _to_search(applied)
    with context.database.transaction(bulkhead="search") as conn:
        filter = events.restrict_to_readable(identity, read_event_filter(search))
        page = events.list_page(conn, filter, before=before, limit=PAGE_SIZE)
        types = events.list_readable_types(conn, identity)
        project_rows = projects.list_names(conn)
        environment_names = environments.list_enabled_names(conn)
    fields = _make_fields(filters, types, project_rows, environment_names)
    return respond.page(
        context,
        "system/events/list",
        identity,
        title="Audit log",
        events=[make_event_view(row) | {"lines": compare_lines(row)} for row in page.rows],
        fields=fields,
        chips=make_chips(fields, applied),
        is_filtered=bool(applied),
        older=urlencode(applied | {"before": page.next_before}) if page.next_before else "",
        newest=urlencode(applied),
        at_newest=before is None,
        has_addresses=identity.has_permission(ADMIN),
        searched_to_end=page.searched_to_end,
        exports=[
            (name.upper(), urlencode(search | {"format": name})) for name in event_export.FORMATS
        ],
    )


def make_event_view(row: Row) -> Row:
    """The event with its sentence, whether an API token made the change, and the run, action set
    and signal that did."""
    data = msgspec.json.decode(row["data"] or "{}")
    run = data.get("actionRun") if isinstance(data, dict) else None
    return row | {
        "label": format_event_type(row["type"]),
        "sentence": describe_event(row),
        "run": run,
        "is_by_token": row["created_by_user_id"] == ADMIN_TOKEN_ID,
    }


def _to_search(filters: Mapping[str, str]) -> dict[str, str]:
    """The filters as parameters of the search API."""
    return {
        "createdBy" if name == "user" else name: value if name == "query" else f"IS:{value}"
        for name, value in filters.items()
    }


def _make_fields(
    filters: dict[str, str],
    types: Sequence[str],
    project_rows: Sequence[Row],
    environment_names: Sequence[str],
) -> list[Field]:
    choices = {
        "type": [(name, format_event_type(name)) for name in types],
        "project": [(row["id"], row["name"]) for row in project_rows],
        "environment": make_choices(environment_names),
    }
    labels = {"type": "Type", "project": "Project", "environment": "Environment"}
    return [
        Field("query", "Search", filters["query"], "search"),
        *(
            Field(name, label, filters[name], "select", choices=[("", "Any"), *choices[name]])
            for name, label in labels.items()
        ),
        Field("user", "User", filters["user"], attributes={"size": 10}),
        Field("feature", "Flag", filters["feature"], attributes={"size": 12}),
        Field("from", "From", filters["from"], "date"),
        Field("to", "To", filters["to"], "date"),
    ]


def format_event_type(type: str) -> str:
    """An event type in words, for example "Flag created"."""
    return LABELS.get(type, type).replace("feature", "flag").replace("-", " ").capitalize()
