"""The page of the audit log."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
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
FILTERS = ("query", "kind", "type", "project", "environment", "user", "feature", "from", "to")
KINDS = {  # label and the first words of the event types
    "switches": ("Switches", ("feature-environment-enabled", "feature-environment-disabled")),
    "releases": ("Releases", ("release-",)),
    "automation": ("Automation", ("action-run-", "actions-")),
    "sign-ins": ("Sign-ins", ("user-sign",)),
}
PERIODS = {"Today": 1, "7 days": 7, "30 days": 30}
MAX_ENVIRONMENTS = 5  # with a link


router = Router(PageGuard)


@router.get("/admin/events", needs=VIEW)
def list_events(context: Context, identity: Identity) -> Page:
    query = read_query(request.environ)
    before = read_paging(query).before
    filters = {name: query.get(name, "").strip() for name in FILTERS}
    applied = {name: value for name, value in filters.items() if value}
    with context.database.transaction(is_slow=True) as conn:
        types = events.list_readable_types(conn, identity)
        search = _to_search(applied, types)
        filter = events.restrict_to_readable(identity, read_event_filter(search))
        page = events.list_page(conn, filter, before=before, limit=PAGE_SIZE)
        views = list_event_views(conn, page.rows)
        project_rows = projects.list_names(conn)
        environment_names = environments.list_enabled_names(conn)
    fields = _make_fields(filters, types, project_rows, environment_names)
    return Page(
        "system/events/list",
        title="Audit log",
        events=[_describe(view, applied) for view in views],
        fields=[field for field in fields if field.name != "kind"],
        links=_make_links(applied, environment_names, types, context.clock.now()),
        has_more=bool({*applied} - {"kind", "environment", "from"}),
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


def _to_search(filters: Mapping[str, str], types: Sequence[str]) -> dict[str, str]:
    """The filters as parameters of the search API. A kind stands for those of `types`, the types in
    the log, that belong to it."""
    search = {
        "createdBy" if name == "user" else name: value if name == "query" else f"IS:{value}"
        for name, value in filters.items()
        if name != "kind"
    }
    if kind := filters.get("kind"):
        search.setdefault("type", f"IS_ANY_OF:{','.join(_list_types(kind, types)) or kind}")
    return search


def _list_types(kind: str, types: Sequence[str]) -> list[str]:
    return [type for type in types if type.startswith(KINDS[kind][1] if kind in KINDS else ())]


def _make_links(
    filters: Mapping[str, str],
    environment_names: Sequence[str],
    types: Sequence[str],
    now: datetime,
) -> list[tuple[str, str, bool]]:
    """(label, query, whether it is applied); one that is applied leads to the list without it."""
    days = {label: (now - timedelta(count - 1)).date() for label, count in PERIODS.items()}
    choices = [
        *((label, "from", day.isoformat()) for label, day in days.items()),
        *((name, "environment", name) for name in environment_names[:MAX_ENVIRONMENTS]),
        *((KINDS[kind][0], "kind", kind) for kind in KINDS if _list_types(kind, types)),
    ]
    links = []
    for label, name, value in choices:
        is_applied = filters.get(name) == value
        query = {key: text for key, text in filters.items() if key != name}
        links.append((label, urlencode(query if is_applied else query | {name: value}), is_applied))
    return links


def _describe(view: Row, filters: Mapping[str, str]) -> Row:
    """With the lines that differ. The person is a link that filters the list."""
    author = urlencode({**filters, "user": view["created_by"]})
    return view | {"lines": compare_lines(view), "author_query": author}


def _make_fields(
    filters: dict[str, str],
    types: Sequence[str],
    project_rows: Sequence[Row],
    environment_names: Sequence[str],
) -> list[Field]:
    choices = {
        "kind": [(kind, label) for kind, (label, _) in KINDS.items()],
        "type": [(name, format_event_type(name)) for name in types],
        "project": [(row["id"], row["name"]) for row in project_rows],
        "environment": make_choices(environment_names),
    }
    labels = {"kind": "Kind", "type": "Type", "project": "Project", "environment": "Environment"}
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
