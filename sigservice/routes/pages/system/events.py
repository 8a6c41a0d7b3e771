"""The page of the audit log."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from sigservice.repository.projects import environments, projects
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.system import event_export, events
from sigservice.services.system.event_sentences import compare_lines
from sigservice.web import Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.event_views import format_event_type, list_event_views
from sigservice.web.forms import Field, make_choices
from sigservice.web.list_filters import make_chips, read_event_filter
from sigservice.web.paging import read_paging

PAGE_SIZE = 30
FILTERS = ("query", "type", "project", "environment", "user", "feature", "from", "to")


router = Router(PageGuard)


@router.get("/admin/events", needs=VIEW)
def list_events(context: Context, identity: Identity) -> Page:
    query = read_query(request.environ)
    before = read_paging(query).before
    filters = {name: query.get(name, "").strip() for name in FILTERS}
    applied = {name: value for name, value in filters.items() if value}
    search = _to_search(applied)
    with context.database.transaction(is_slow=True) as conn:
        filter = events.restrict_to_readable(identity, read_event_filter(search))
        page = events.list_page(conn, filter, before=before, limit=PAGE_SIZE)
        views = list_event_views(conn, page.rows)
        types = events.list_readable_types(conn, identity)
        project_rows = projects.list_names(conn)
        environment_names = environments.list_enabled_names(conn)
    fields = _make_fields(filters, types, project_rows, environment_names)
    return Page(
        "system/events/list",
        title="Audit log",
        events=[view | {"lines": compare_lines(view)} for view in views],
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
        Field("from", "From (UTC)", filters["from"], "date"),
        Field("to", "To (UTC)", filters["to"], "date"),
    ]
