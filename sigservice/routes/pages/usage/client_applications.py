"""Applications, pages: a list, and one application with its instances and flags.

The name of an application is a query parameter, because it may be any text, which a path can't
contain.
"""

from urllib.parse import urlencode

import msgspec

from sigservice.db.statements import build_like_pattern
from sigservice.repository.usage import client_applications as client_application_rows
from sigservice.repository.usage import client_metrics
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.usage import client_applications
from sigservice.web import Context, HTTPResponse, PageGuard, Router, read_query, request, respond
from sigservice.web.forms import Field
from sigservice.web.paging import read_paging

PATH = "/admin/applications"
PAGE_SIZE = 50
MAX_INSTANCES = 100


router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_applications(context: Context, identity: Identity) -> HTTPResponse:
    """The list, or with the parameter `name` one application."""
    query = read_query(request.environ)
    if query.get("name"):
        return _render_application(context, identity, query["name"])
    text, offset = query.get("query", "").strip(), read_paging(query).offset
    pattern = build_like_pattern(text)
    with context.database.transaction() as conn:
        rows = client_application_rows.list_page(
            conn, pattern=pattern, limit=PAGE_SIZE + 1, offset=offset
        )
        total = client_application_rows.count(conn, pattern=pattern)
    filters = {"query": text} if text else {}
    has_more = len(rows) > PAGE_SIZE
    return respond.page(
        context,
        "usage/client_applications/list",
        identity,
        title="Applications",
        applications=[
            row | {"name_query": urlencode({"name": row["app_name"]})} for row in rows[:PAGE_SIZE]
        ],
        total=total,
        search=Field("query", "Name", text, type="search"),
        next_query=urlencode(filters | {"offset": offset + PAGE_SIZE}) if has_more else "",
        first_query=urlencode(filters) if offset else None,
    )


def _render_application(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = client_applications.get(conn, name)
        environments = client_application_rows.summarize_instances(conn, name)
        instances = client_application_rows.list_instances(
            conn, name, environment=None, limit=MAX_INSTANCES
        )
        features = client_metrics.list_features(conn, [name])
    return respond.page(
        context,
        "usage/client_applications/show",
        identity,
        title=f"Application {name}",
        application=row | {"strategies": msgspec.json.decode(row["strategies"])},
        instance_count=sum(environment["instances"] for environment in environments),
        instances=instances,
        can_see_addresses=identity.has_permission(ADMIN),
        features=features,
        retention_hours=context.config["metrics"]["hourlyRetentionHours"],
    )
