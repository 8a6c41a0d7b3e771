"""Applications, pages: a list, and one application with its instances and flags.

The name of an application is a query parameter, because it may be any text, which a path can't
contain.
"""

from operator import itemgetter
from urllib.parse import urlencode

import msgspec

from sigservice.db import build_like_pattern
from sigservice.repository.usage import client_applications as client_application_rows
from sigservice.repository.usage import client_metrics
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.usage import client_applications
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.forms import Field
from sigservice.web.links import flag_path
from sigservice.web.paging import read_paging
from sigservice.web.tables import Cell, Column, make_table
from sigservice.wording import describe_hours, plural

PATH = "/admin/applications"
PAGE_SIZE = 50
MAX_INSTANCES = 100
COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(row["app_name"], f"{PATH}?{urlencode({'name': row['app_name']})}"),
    ),
    Column("Instances", lambda row: Cell(plural(row["instances"], "instance"))),
    Column("Environments", lambda row: Cell(badges=row["environments"])),
    Column("SDKs", lambda row: Cell(", ".join(row["sdk_versions"]))),
    Column("Last seen", lambda row: Cell(at=row["seen_at"])),
)
FLAG_COLUMNS = (
    Column("Flag", lambda row: Cell(row["feature"], flag_path(row["feature"]))),
    Column("Project", lambda row: Cell(row["project"])),
    Column("Environment", lambda row: Cell(badges=[row["environment"]])),
    Column("Exposed", lambda row: Cell(f"{row['yes']:,}")),
    Column("Not exposed", lambda row: Cell(f"{row['no']:,}")),
)
INSTANCE_COLUMNS = (
    Column("Instance", lambda row: Cell(row["instance_id"])),
    Column("Environment", lambda row: Cell(badges=[row["environment"]])),
    Column("SDK", lambda row: Cell(row["sdk_version"] or "", missing="unknown")),
    Column("Last seen", lambda row: Cell(at=row["last_seen"])),
    Column("Address", lambda row: Cell(row["client_ip"] or "")),
)

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_applications(context: Context, identity: Identity) -> Page:
    """The list, or with the parameter `name` one application."""
    query = read_query(request.environ)
    if query.get("name"):
        return _make_application_page(context, identity, query["name"])
    text, offset = query.get("query", "").strip(), read_paging(query).offset
    pattern = build_like_pattern(text)
    with context.database.transaction() as conn:
        rows = client_application_rows.list_page(
            conn, pattern=pattern, limit=PAGE_SIZE + 1, offset=offset
        )
        total = client_application_rows.count(conn, pattern=pattern)
    filters = {"query": text} if text else {}
    has_more = len(rows) > PAGE_SIZE
    return Page(
        "usage/client_applications/list",
        title="Applications",
        table=make_table(
            "applications",
            COLUMNS,
            rows[:PAGE_SIZE],
            None,
            itemgetter("app_name"),
            empty="No applications match." if text else "No applications yet.",
        ),
        total=total,
        search=Field("query", "Name", text, type="search"),
        next_query=urlencode(filters | {"offset": offset + PAGE_SIZE}) if has_more else "",
        first_query=urlencode(filters) if offset else None,
    )


def _make_application_page(context: Context, identity: Identity, name: str) -> Page:
    with context.database.transaction() as conn:
        row = client_applications.get(conn, name)
        environments = client_application_rows.summarize_instances(conn, name)
        instances = client_application_rows.list_instances(
            conn, name, environment=None, limit=MAX_INSTANCES
        )
        features = client_metrics.list_features(conn, [name])
    instance_count = sum(environment["instances"] for environment in environments)
    retention_hours = context.config["metrics"]["hourlyRetentionHours"]
    return Page(
        "usage/client_applications/show",
        title=f"Application {name}",
        application=row | {"strategies": msgspec.json.decode(row["strategies"])},
        breadcrumbs=[("Applications", PATH)],
        flags=make_table(
            "flags",
            FLAG_COLUMNS,
            features,
            None,
            itemgetter("feature"),
            title="Flags used",
            hint=f"In the last {describe_hours(retention_hours)}.",
            empty="No recent metrics.",
        ),
        instances=make_table(
            "instances",
            INSTANCE_COLUMNS if identity.has_permission(ADMIN) else INSTANCE_COLUMNS[:-1],
            instances,
            None,
            itemgetter("instance_id"),
            title="Instances",
            hint=f"The last {len(instances)} of {instance_count} instances."
            if instance_count > len(instances)
            else "",
            empty="No instances in the last 2 days.",
        ),
    )
