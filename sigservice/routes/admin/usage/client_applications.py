"""Applications and their instances, JSON."""

from sigservice.clock import format_iso
from sigservice.repository.usage import client_applications as client_application_rows
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.usage import client_applications
from sigservice.web import AdminGuard, Connection, Json, Router, read_query, request
from sigservice.web.paging import MAX_LIMIT, read_paging

PATH = "/api/admin/metrics/applications"
INSTANCES = "/api/admin/metrics/instances"


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_applications(conn: Connection, identity: Identity) -> Json:
    """Query: `query`, `limit`, `offset`. `{"applications": [application], "total"}`."""
    query = read_query(request.environ)
    page_request = read_paging(query, MAX_LIMIT)
    rows, total = client_applications.list_page(
        conn, text=query.get("query", ""), limit=page_request.limit, offset=page_request.offset
    )
    return {"applications": rows, "total": total}


# A name may contain slashes.
@router.get(f"{PATH}/<name:path>/overview", needs=VIEW)
def get_application_overview(conn: Connection, identity: Identity, name: str) -> Json:
    """`{projects, featureCount, environments, issues}`."""
    return client_applications.describe_overview(conn, name)


@router.get(f"{PATH}/<name:path>", needs=VIEW)
def get_application(conn: Connection, identity: Identity, name: str) -> Json:
    """`{appName, description, strategies, usage: [{project, environments}]}`."""
    return client_applications.describe(conn, name)


@router.delete(f"{PATH}/<name:path>", needs=EDIT)
def delete_application(conn: Connection, identity: Identity, name: str) -> None:
    """Deletes its instances and impact metrics too. A running application appears again."""
    client_applications.delete(conn, name, identity)


@router.get(f"{INSTANCES}/<name:path>/environment/<environment>", needs=VIEW, autocommit=True)
def list_application_instances(
    conn: Connection, identity: Identity, name: str, environment: str
) -> Json:
    """`{"instances": [{instanceId, sdkVersion, clientIp, lastSeen}]}`, the 1000 most recent;
    `clientIp` is null without ADMIN."""
    rows = client_application_rows.list_instances(
        conn, name, environment=environment, limit=MAX_LIMIT
    )
    can_see_addresses = identity.has_permission(ADMIN)
    instances = [
        {
            "instanceId": row["instance_id"],
            "sdkVersion": row["sdk_version"],
            "clientIp": row["client_ip"] if can_see_addresses else None,
            "lastSeen": format_iso(row["last_seen"]),
        }
        for row in rows
    ]
    return {"instances": instances}
